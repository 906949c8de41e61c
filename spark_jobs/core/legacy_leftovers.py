"""Directories that Lakekeeper 0.0.6 leaves beside the data. They are known by their names."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import unquote

from spark_jobs.core.model import Spec, name_of

#: `__old_<n>` has the originals, which its backup tables read; `__compact_tmp_<n>` what it writes before its swap.
_LEFTOVER = re.compile(r"(?P<of>.+)__(?P<kind>old|compact_tmp)_\d{10}\Z")


def is_leftover(name: str) -> bool:
    return bool(_LEFTOVER.match(name))


def is_leftover_of(path: str, locations: Collection[str]) -> bool:
    """Tell whether a directory was left by a compaction of one of these units."""
    match = _LEFTOVER.match(path)
    return match is not None and match["of"] in locations


def is_backup(location: str, spec: Spec) -> bool:
    """Tell whether the location of a table's unit is a directory of originals, so that the table is a backup table.

    A partition whose own value ends like such a name is an ordinary partition.
    """
    name = name_of(location)
    key, value = spec[-1] if spec else ("", None)
    ordinary = bool(spec) and unquote(name).casefold() == f"{key}={value}".casefold()
    match = _LEFTOVER.match(name)
    return match is not None and match["kind"] == "old" and not ordinary


def described(path: str) -> str:
    """Return a sentence about a leftover: what it may hold, and what ends it."""
    match = _LEFTOVER.match(path)
    if match and match["kind"] == "compact_tmp":
        return (
            f"{path} was written by a compaction of Lakekeeper 0.0.6 that is at work or died before its swap: none of"
            f" its commands deletes it. {_BY_HAND}"
        )
    return (
        f"{path} holds originals of Lakekeeper 0.0.6, and may be the only copy. While one of its backup tables reads"
        f" them, its own rollback puts them back and its own cleanup deletes them; else {_BY_HAND[0].lower()}"
        f"{_BY_HAND[1:]}"
    )


_BY_HAND = "The way by hand is in docs/troubleshooting.md, 'What Lakekeeper 0.0.6 has left'"

"""What a journal may be about: the directories that its home serves, and nothing else.

Whoever may write a table's root can put a journal there, and the account that maintains all tables would act on it. So
a record is input like any other: what it names must lie where we would have put it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core.errors import Unsafe
from spark_jobs.core.journal import FINISHED, INTENTS, LEFT, Record, RunState, Swap
from spark_jobs.core.layout import Home, is_below, is_home, working_folder
from spark_jobs.core.model import FileListing

_URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/]*)?(?P<path>/.*)\Z", re.DOTALL)
_WORKING = {"new": "compact_tmp", "old": "old", "aside": "undone", "conflict": "conflict"}


def uri_path(uri: str) -> str:
    """The path of a URI, without scheme and authority: a NameNode may get another name."""
    match = _URI.match(uri)
    return match["path"].rstrip("/") if match else uri


@dataclass(frozen=True)
class ClosingRecord:
    """The last record of a run that was closed in `home`: whether an intent stays open, and in which homes the run has
    folders, this one included."""

    home: str
    unsettled: bool
    homes: tuple[str, ...]
    home_id: str | None

    @classmethod
    def of(cls, last: Record, home: str) -> ClosingRecord | None:
        """Return None for a record that does not close the run; raise Unsafe for one that lacks a field."""
        if last.kind not in (FINISHED, LEFT):
            return None
        unsettled, homes = last.body.get("unsettled"), last.body.get("homes")
        if not isinstance(unsettled, bool) or not isinstance(homes, list):
            raise Unsafe(
                f"a journal record {last.kind} in {home} does not say what is unsettled; nothing is changed"
            )
        _check_homes(homes, home)
        return cls(home, unsettled, _renamed(homes, home), last.body.get("home_id"))

    @property
    def elsewhere(self) -> bool:
        """Has the run parts in other homes?"""
        return any(uri_path(other) != uri_path(self.home) for other in self.homes)


def _check_homes(homes: Iterable[object], home: str) -> None:
    for other in homes:
        if not _is_home(other):
            raise Unsafe(f"a journal in {home} names {other!r}, which is no home of ours; nothing is changed")


def within(state: RunState, home: str) -> RunState:
    """The same state, with every path below the home as it is named now: the folder that holds it may have been moved
    since, or its NameNode have another name.

    Raises Unsafe unless all that the journal names is what its home serves.
    """
    _check_homes(state.homes, home)
    units = {key: replace(unit, swap=_within(unit.swap, Home(home))) for key, unit in state.units.items()}
    return replace(state, units=units, homes=_renamed(state.homes, home))


def check_units(state: RunState, root: str, keys: Sequence[str], locations: Collection[str]) -> None:
    """Raises Unsafe for a unit below a partitioned table's root that somebody was about to move, and that is no
    partition of it: neither does the metastore have one there, nor is its path that of one (`k1=v1/k2=v2`) that was
    dropped since. A unit without an intent goes back only where the metastore has it; its originals are identified."""
    for unit in state.of_kind(*INTENTS):
        live = unit.swap.live
        folders = live[len(root) + 1 :].split("/")
        named = [folder.partition("=")[0].casefold() for folder in folders if "=" in folder]
        shaped = len(named) == len(folders) and named == [key.casefold() for key in keys]
        if is_below(live, root) and live not in locations and not shaped:
            raise Unsafe(
                f"a journal is about to move {live}, which is no partition of this table; nothing is changed. If it was"
                " one, and was dropped in the middle of a run, add it again with that location (ALTER TABLE ... ADD"
                " PARTITION ... LOCATION) until the next job has recovered it"
            )


def _renamed(homes: Sequence[str], home: str) -> tuple[str, ...]:
    """Homes as they are named now: if this one's server has another name than it had, so have the others on it."""
    before = {server_of(other) for other in homes if uri_path(other) == uri_path(home)}
    return tuple(
        server_of(home) + uri_path(other) if server_of(other) in before else other for other in homes
    )


def server_of(uri: str) -> str:
    """Scheme and authority of a URI; empty where it is a bare path."""
    match = _URI.match(uri)
    return uri[: match.start("path")] if match else ""


def _within(swap: Swap, home: Home) -> Swap:
    tails = {_tail(kind, getattr(swap, name)) for name, kind in _WORKING.items()}
    tail = tails.pop() if len(tails) == 1 else None
    served = tail is not None and (home.directory is None or "/" not in tail)
    if not served or not uri_path(swap.live).endswith(f"/{tail}"):
        raise Unsafe(
            f"a journal in {home.path} is about {swap.live!r} by way of {swap.old!r} and {swap.new!r}, which is not"
            " what this home serves; nothing is changed"
        )
    for name in _names(swap.originals, swap.compacted):
        if "/" in name or name in ("", ".", ".."):
            raise Unsafe(
                f"a journal in {home.path} lists {name!r}, which is no file's name; nothing is changed"
            )
    own = tail if home.directory is None else home.directory
    return replace(swap, live=f"{home.base}/{own}")  # guard: live_by_home


def _tail(kind: str, path: object) -> str | None:
    """The part of a path below its working folder; None where it is not the path of such a folder's directory."""
    folder, _, tail = str(path).partition("/")
    parts = tail.split("/")
    odd = any(part in ("", ".", "..") or is_home(part) for part in parts)
    return None if odd or working_folder(folder) != kind else tail


def _is_home(path: object) -> bool:
    parts = uri_path(str(path)).split("/")
    return is_home(parts[-1]) and not {".", ".."} & set(parts) and str(path) != uri_path(str(path))


def _names(*listings: FileListing) -> Iterable[str]:
    return (file.name for listing in listings for file in listing.files)

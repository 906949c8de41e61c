"""The options that say how much one job does, and in which order."""

from __future__ import annotations

from lakekeeper_provider.options.option import COMPACT, PLAN, Flag, Option, Section
from lakekeeper_provider.options.option_parsers import size
from lakekeeper_provider.options.parsers import choice, integer

_VERBS = (COMPACT, PLAN)


def _limit(key: str, help: str, *, verbs: tuple[str, ...] = _VERBS, note: str = "") -> Option:
    """Return an option that counts units or files over the whole job; 0 is no limit."""
    return Option(
        key,
        integer(0),
        0,
        help,
        _flag(key, "N", verbs),
        Section.LIMITS,
        note,
        per_table=False,
        as_property=False,
    )


def _size_limit(key: str, help: str, example: str, note: str = "", *, per_table: bool = False) -> Option:
    """Return an option that counts bytes."""
    flag = _flag(key, example, _VERBS)
    return Option(
        key,
        size("0b", "1048576tb"),
        None,
        help,
        flag,
        Section.LIMITS,
        note,
        example,
        per_table=per_table,
        as_property=False,
    )


def _flag(key: str, metavar: str, verbs: tuple[str, ...]) -> Flag:
    return Flag("--" + key.replace("_", "-"), verbs, metavar)


LIMITS: tuple[Option, ...] = (
    Option(
        "order",
        choice("score", "none", "bytes-asc", "bytes-desc", "files-asc", "files-desc"),
        "score",
        "the order of the units: most files removed for each byte that is read (score), as they are listed (none), or"
        " by what is read; deferred units come first",
        Flag("--order", _VERBS),
        Section.LIMITS,
    ),
    _size_limit(
        "max_bytes",
        "read at most so much; the rest is deferred",
        "100gb",
        "What is deferred goes first in the next run. The limits count what is read, over all tables of a job.",
    ),
    _limit("max_files", "read at most so many files; the rest is deferred"),
    _limit("max_units", "compact at most so many units; the rest is deferred"),
    _size_limit(
        "max_held_bytes",
        "keep at most so many bytes of originals of one table; the rest is deferred until a cleanup",
        "1tb",
        per_table=True,
    ),
    _limit(
        "canary",
        "compact so many units first, compare every value of them, and go on only if all of them succeed",
        verbs=(COMPACT,),
        note="For the first night. These units are verified with `hash`, whatever `verify` is.",
    ),
    _limit("max_failures", "begin no more units after so many have failed", verbs=(COMPACT,)),
)

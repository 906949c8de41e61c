"""The options that say how much one job does, and in which order."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.options.choosing import ChoosingOptions
from spark_jobs.core.options.option import COMPACT, PLAN, TableProperty, choice, option
from spark_jobs.core.options.parsers import number, parse_size

#: The orders of units, by the figures of what is read.
ORDERS = ("score", "none", "bytes-asc", "bytes-desc", "files-asc", "files-desc")
_VERBS = (COMPACT, PLAN)
#: The options that count over all tables of a job, so that one table cannot have its own.
JOB_WIDE = ("max_bytes", "max_files", "max_units", "canary", "max_failures")


@dataclass(frozen=True)
class LimitOptions(ChoosingOptions):
    """How much, and in which order. Sizes are in bytes; 0 is no limit. Those of `JOB_WIDE` count over the whole job."""

    order: str = choice(
        "score",
        ORDERS,
        "the order of the units: most files removed for each byte that is read (score), as they are listed (none), or"
        " by what is read; deferred units come first",
        flag="--order",
        verbs=_VERBS,
    )
    max_bytes: int = option(
        0,
        parse_size,
        "read at most so much; the rest is deferred",
        flag="--max-bytes",
        metavar="100gb",
        verbs=_VERBS,
        table_property=TableProperty.FORBIDDEN,
    )
    max_files: int = option(
        0,
        number(int, 0),
        "read at most so many files; the rest is deferred",
        flag="--max-files",
        metavar="N",
        verbs=_VERBS,
        table_property=TableProperty.FORBIDDEN,
    )
    max_units: int = option(
        0,
        number(int, 0),
        "compact at most so many units; the rest is deferred",
        flag="--max-units",
        metavar="N",
        verbs=_VERBS,
        table_property=TableProperty.FORBIDDEN,
    )
    max_held_bytes: int = option(
        0,
        parse_size,
        "keep at most so many bytes of originals of one table; the rest is deferred until a cleanup",
        flag="--max-held-bytes",
        metavar="1tb",
        verbs=_VERBS,
        table_property=TableProperty.FORBIDDEN,
    )
    canary: int = option(
        0,
        number(int, 0),
        "compact so many units first, compare every value of them, and go on only if all of them succeed",
        flag="--canary",
        metavar="N",
        verbs=(COMPACT,),
        table_property=TableProperty.FORBIDDEN,
    )
    max_failures: int = option(
        0,
        number(int, 0),
        "begin no more units after so many have failed",
        flag="--max-failures",
        metavar="N",
        verbs=(COMPACT,),
        table_property=TableProperty.FORBIDDEN,
    )

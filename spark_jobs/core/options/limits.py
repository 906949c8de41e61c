"""The options that say how much one job does, and in which order."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.options.choosing import MOST_FILES, ChoosingOptions
from spark_jobs.core.options.option import (
    COMPACT,
    NO_PROPERTY,
    OF_THE_JOB,
    PLAN,
    Level,
    Section,
    choice,
    option,
)
from spark_jobs.core.options.parsers import number, size

#: The orders of units, by the figures of what is read.
ORDERS = ("score", "none", "bytes-asc", "bytes-desc", "files-asc", "files-desc")
_VERBS = (COMPACT, PLAN)
#: An exbibyte: more is no 64-bit number.
_MOST_BYTES = "1048576tb"


@dataclass(frozen=True)
class LimitOptions(ChoosingOptions):
    """How much, and in which order. Sizes are in bytes; 0 is no limit.

    Those that no section of a table may set count over the whole job.
    """

    order: str = choice(
        "score",
        ORDERS,
        "the order of the units: most files removed for each byte that is read (score), as they are listed (none), or"
        " by what is read; deferred units come first",
        flag="--order",
        verbs=_VERBS,
        section=Section.LIMITS,
    )
    max_bytes: int = option(
        0,
        size("0b", _MOST_BYTES),
        "read at most so much; the rest is deferred",
        flag="--max-bytes",
        metavar="100gb",
        verbs=_VERBS,
        layers=OF_THE_JOB,
        level=Level.DAILY,
        section=Section.LIMITS,
        note="What is deferred goes first in the next run. The limits count what is read, over all tables of a job.",
        example="100gb",
    )
    max_files: int = option(
        0,
        number(int, 0, MOST_FILES),
        "read at most this many files; the rest is deferred",
        flag="--max-files",
        metavar="N",
        verbs=_VERBS,
        layers=OF_THE_JOB,
        section=Section.LIMITS,
    )
    max_units: int = option(
        0,
        number(int, 0, MOST_FILES),
        "compact at most this many units; the rest is deferred",
        flag="--max-units",
        metavar="N",
        verbs=_VERBS,
        layers=OF_THE_JOB,
        section=Section.LIMITS,
    )
    max_held_bytes: int = option(
        0,
        size("0b", _MOST_BYTES),
        "keep at most this many bytes of originals of one table; the rest is deferred until a cleanup",
        flag="--max-held-bytes",
        metavar="1tb",
        verbs=_VERBS,
        layers=NO_PROPERTY,
        section=Section.LIMITS,
        example="1tb",
    )
    canary: int = option(
        0,
        number(int, 0, MOST_FILES),
        "compact this many units first, compare every value of them, and go on only if all of them succeed",
        flag="--canary",
        metavar="N",
        verbs=(COMPACT,),
        layers=OF_THE_JOB,
        section=Section.LIMITS,
        note="For the first night. These units are verified with `hash`, whatever `verify` is.",
    )
    max_failures: int = option(
        0,
        number(int, 0, MOST_FILES),
        "begin no more units after this many have failed",
        flag="--max-failures",
        metavar="N",
        verbs=(COMPACT,),
        layers=OF_THE_JOB,
        section=Section.LIMITS,
    )

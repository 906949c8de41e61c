"""The options that say how much one job does, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

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
#: An exbibyte: more is no 64-bit number.
_MOST_BYTES = "1048576tb"

_option = partial(option, section=Section.LIMITS, verbs=(COMPACT, PLAN))
_choice = partial(choice, section=Section.LIMITS, verbs=(COMPACT, PLAN))


@dataclass(frozen=True)
class LimitOptions(ChoosingOptions):
    """How much, and in which order. Sizes are in bytes; 0 is no limit.

    Those that no section of a table may set count over the whole job.
    """

    order: str = _choice(
        "score",
        ORDERS,
        "the order of the units: most files removed for each byte that is read (score), as they are listed (none), or"
        " by what is read; deferred units come first",
        flag="--order",
    )
    max_bytes: int = _option(
        0,
        size("0b", _MOST_BYTES),
        "read at most this much; the rest is deferred",
        flag="--max-bytes",
        metavar="100gb",
        layers=OF_THE_JOB,
        level=Level.DAILY,
        note="What is deferred goes first in the next run. The limits count what is read, over all tables of a job.",
        example="100gb",
    )
    max_files: int = _option(
        0,
        number(int, 0, MOST_FILES),
        "read at most this many files; the rest is deferred",
        flag="--max-files",
        metavar="N",
        layers=OF_THE_JOB,
    )
    max_units: int = _option(
        0,
        number(int, 0, MOST_FILES),
        "compact at most this many units; the rest is deferred",
        flag="--max-units",
        metavar="N",
        layers=OF_THE_JOB,
    )
    max_held_bytes: int = _option(
        0,
        size("0b", _MOST_BYTES),
        "keep at most this many bytes of originals of one table; the rest is deferred until a cleanup",
        flag="--max-held-bytes",
        metavar="1tb",
        layers=NO_PROPERTY,
        example="1tb",
    )
    canary: int = _option(
        0,
        number(int, 0, MOST_FILES),
        "compact this many units first, compare every value of them, and go on only if all of them succeed",
        flag="--canary",
        metavar="N",
        verbs=(COMPACT,),
        layers=OF_THE_JOB,
        note="For the first night. These units are verified with `hash`, whatever `verify` is.",
    )
    max_failures: int = _option(
        0,
        number(int, 0, MOST_FILES),
        "begin no more units after this many have failed",
        flag="--max-failures",
        metavar="N",
        verbs=(COMPACT,),
        layers=OF_THE_JOB,
    )

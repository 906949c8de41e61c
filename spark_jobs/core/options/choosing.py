"""The options that say what to compact: thresholds and selections. Analyses and compactions have the same ones."""

# ruff: noqa: RUF009 - `option` returns a field, whose default is a value
from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from spark_jobs.core.options.option import (
    ANALYZE,
    CARRIED_BY_PLAN,
    COMPACT,
    OF_THE_CALL,
    PLAN,
    Level,
    Section,
    choice,
    option,
    switch,
)
from spark_jobs.core.options.parsers import CONDITION, Parser, duration, number, size
from spark_jobs.core.options.selection import MOST_SPECS, PartitionSpec, parse_partitions
from spark_jobs.core.rules.due import Conditions
from spark_jobs.core.rules.strategy import AUTO, STRATEGIES

#: The verbs that plan: they have the same thresholds and selections.
PLANNING = (ANALYZE, PLAN, COMPACT)
#: The options that select units. Only one of them can be given.
SELECTIONS = ("where", "partitions", "idle_for")
#: A century: longer times leave the calendar. No directory has more files than the other.
LONGEST, MOST_FILES = "36500d", 1_000_000_000
_PARTITIONS = 'a list of partitions as JSON, like [{"date": "2026-02-23"}]'

_option = partial(option, verbs=PLANNING, section=Section.SELECTION)
_choice = partial(choice, verbs=PLANNING, section=Section.SELECTION)
_switch = partial(switch, verbs=PLANNING, section=Section.SELECTION)


@dataclass(frozen=True)
class ChoosingOptions:
    """What to compact. Sizes are in bytes, except for names that end with `_mb`."""

    block_size_mb: int = _option(
        128,
        number(int, 1, 16_384),
        "HDFS block size (dfs.blocksize) in MB",
        flag="--block-size",
        metavar="MB",
        layers=CARRIED_BY_PLAN,
    )
    compaction_ratio_threshold: float = _option(
        10.0,
        number(float, 0.001, 1_000_000_000),
        "compact where min(average, median) file size is below block size / ratio",
        flag="--ratio-threshold",
        metavar="RATIO",
        layers=CARRIED_BY_PLAN,
        level=Level.DAILY,
        note="10.0 with blocks of 128 MB: below 12.8 MB. A lower ratio compacts more.",
    )
    min_input_files: int = _option(
        2,
        number(int, 2, MOST_FILES),
        "leave directories with fewer files alone",
        flag="--min-input-files",
        metavar="N",
        layers=CARRIED_BY_PLAN,
    )
    target_file_size: int = _option(
        0,
        size("0b", "1tb"),
        "size of the files to write (default: the block size)",
        flag="--target-file-size",
        metavar="512mb",
        layers=CARRIED_BY_PLAN,
        level=Level.DAILY,
        example="512mb",
    )
    strategy: str = _choice(
        AUTO,
        STRATEGIES,
        "which files of a directory are rewritten: the small ones, while large ones are copied byte by byte (auto: from"
        " three quarters of the target size on; minor: from the target size on, where that costs less), or all (full)",
        flag="--strategy",
        layers=CARRIED_BY_PLAN,
    )
    min_small_files: int = _option(
        30,
        number(int, 1, MOST_FILES),
        "with strategy=auto, compact for the sake of its small files alone a directory with at least this many",
        flag="--min-small-files",
        metavar="N",
        layers=CARRIED_BY_PLAN,
        level=Level.RARE,
    )
    min_files_per_gb: float = _option(
        10.0,
        number(float, 0, 1_000_000_000),
        "with strategy=auto, and only if at least this many small files go away for each GB that is read",
        flag="--min-files-per-gb",
        metavar="N",
        layers=CARRIED_BY_PLAN,
        level=Level.RARE,
    )
    full_scan: bool = _switch("list every directory, also those that have not changed", flag="--full-scan")
    partitions: list[PartitionSpec] | None = _option(
        None,
        Parser(parse_partitions, _PARTITIONS, f"1 to {MOST_SPECS} partitions", ("partitions",)),
        'only these partitions, as JSON; a spec may be partial: [{"date": "2026-02-23"}]',
        flag="--partitions",
        metavar="JSON",
        group="partitions",
        layers=OF_THE_CALL,
        section=None,
        level=Level.DAILY,
    )
    where: str | None = _option(
        None,
        CONDITION,
        "only partitions that meet a condition on the partition keys: date >= '2026-02-01'",
        flag="--where",
        metavar="SQL",
        group="partitions",
        layers=OF_THE_CALL,
        section=None,
        level=Level.DAILY,
    )
    idle_for: timedelta | None = _option(
        None,
        duration("0s", LONGEST),
        "only partitions whose newest file is at least this old; 0s: of any age",
        flag="--idle-for",
        metavar="7d",
        level=Level.DAILY,
        note="Not together with partitions or where: where the file sets it, `0s` as an argument turns it off.",
        example="7d",
    )
    trigger: str = _choice(
        "all",
        ("all", "any"),
        "whether a partition is compacted if all of the trigger conditions that are given hold, or any of them",
        flag="--trigger",
        note="The conditions are those below. Without one, all partitions with small files are compacted.",
    )
    trigger_unit_files: int | None = _option(
        None,
        number(int, 1, MOST_FILES),
        "compact only partitions with at least this many files",
        flag="--trigger-unit-files",
        metavar="N",
        level=Level.RARE,
        example=100,
    )
    trigger_small_files: int | None = _option(
        None,
        number(int, 1, MOST_FILES),
        "compact only if the partitions to compact have at least this many small files in total",
        flag="--trigger-small-files",
        metavar="N",
        note="A file is small below block size / ratio.",
        example=10000,
    )
    trigger_growth: int | None = _option(
        None,
        number(int, 1, MOST_FILES),
        "compact only if at least this many files were added to the table since its last compaction",
        flag="--trigger-growth",
        metavar="N",
        note="Counted are the files of partitions with small files that no compaction has written.",
        example=1000,
    )
    trigger_interval: timedelta | None = _option(
        None,
        duration("0s", LONGEST),
        "compact only if the last compaction of the table was at least this long ago",
        flag="--trigger-interval",
        metavar="1d",
        example="1d",
    )
    trigger_average_size: int | None = _option(
        None,
        size("1b", "1tb"),
        "compact only partitions whose files are smaller than this on average",
        flag="--trigger-average-size",
        metavar="16mb",
        level=Level.RARE,
        example="16mb",
    )

    def conditions(self) -> Conditions:
        """Return which of the units with small files are due."""
        return Conditions(
            self.idle_for,
            self.trigger == "any",
            self.trigger_unit_files,
            self.trigger_small_files,
            self.trigger_growth,
            self.trigger_interval,
            self.trigger_average_size,
        )

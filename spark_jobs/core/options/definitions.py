"""The options of the jobs. Each one is a field of `Options` with its complete description.

The command line (`core/options/arguments.py`), the checks of values and the rules for table properties are derived from
this table, and so are the tables of options in docs/wire.md, and the table of the provider
(`lakekeeper_provider/options/options.json`, which `make docs` writes from this one).
"""

# ruff: noqa: RUF009 - `option` returns a field, whose default is a value
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from spark_jobs.core.options.concurrency import ConcurrencyOptions
from spark_jobs.core.options.option import (
    ANALYZE,
    CHECK,
    CLEANUP,
    COMPACT,
    OF_THE_CALL,
    OF_THE_JOB,
    PLAN,
    ROLLBACK,
    Layer,
    Level,
    Option,
    Section,
    choice,
    option,
    switch,
)
from spark_jobs.core.options.parsers import GLOBS, INSTANT, MB, number
from spark_jobs.core.rules.health import Thresholds
from spark_jobs.core.values.file_times import future_from, millis_of
from spark_jobs.core.values.other_writers import WriterRules

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@dataclass(frozen=True)
class Options(ConcurrencyOptions):
    """The resolved options of one table. Sizes are in bytes, except for names that end with `_mb`."""

    dry_run: bool = switch(
        "report what would be done; write nothing",
        flag="--dry-run",
        verbs=(COMPACT, ROLLBACK, CLEANUP),
        layers=(Layer.ARGUMENT, Layer.FILE, Layer.PROPERTY),
        lengthens=True,
        unreadable=True,
        level=Level.DAILY,
        section=Section.JOB,
    )
    deadline: datetime | None = option(
        None,
        INSTANT,
        "start no swap after this time",
        flag="--deadline",
        metavar="ISO8601",
        verbs=(COMPACT,),
        layers=OF_THE_CALL,
        level=Level.RARE,
    )
    parallelism: int = option(
        4,
        number(int, 1, 256),
        "partitions (or tables without partitions) that are processed at the same time",
        flag="--parallelism",
        metavar="N",
        verbs=(COMPACT, ROLLBACK, CLEANUP, CHECK),
        layers=OF_THE_JOB,
        level=Level.DAILY,
        section=Section.JOB,
    )
    max_calls_per_second: int | None = option(
        None,
        number(int, 1, 1_000_000),
        "calls to the NameNode that the driver makes per second at most (default: no limit)",
        flag="--max-calls-per-second",
        metavar="N",
        verbs=(ANALYZE, PLAN, COMPACT, ROLLBACK, CLEANUP, CHECK),
        layers=OF_THE_JOB,
        section=Section.JOB,
        note="Of one job. Spark's own calls do not count: those of its executors, and its listings.",
        example=200,
    )
    include: tuple[str, ...] = option(
        (),
        GLOBS,
        "with --database: only tables whose names match (comma-separated)",
        flag="--include",
        metavar="GLOB",
        layers=OF_THE_CALL,
        level=Level.DAILY,
    )
    exclude: tuple[str, ...] = option(
        (),
        GLOBS,
        "with --database: no tables whose names match (comma-separated)",
        flag="--exclude",
        metavar="GLOB",
        layers=OF_THE_CALL,
    )
    log_level: str = choice(
        "INFO",
        LOG_LEVELS,
        "verbosity of the log",
        fold=str.upper,
        flag="--log-level",
        layers=OF_THE_JOB,
        level=Level.RARE,
        section=Section.JOB,
    )

    def thresholds(self) -> Thresholds:
        return Thresholds(
            self.block_size_mb * MB,
            self.compaction_ratio_threshold,
            self.min_input_files,
            self.target_file_size,
            self.strategy,
            self.min_small_files,
            self.min_files_per_gb,
        )


#: The options by name, in the order of the fields.
OPTIONS: dict[str, Option] = {each.name: each.metadata["option"] for each in fields(Options)}
DEFAULTS = Options()


def writer_rules(
    options: Options, clocks: Sequence[datetime], note: Callable[[str, int], object] | None = None
) -> WriterRules:
    """Return the rules for files of other writers.

    Args:
        clocks: the time now, by each clock that is known. A writer may be active as long as it may be by one of them.
        note: takes path and time of each file whose time is in the future by all of them.
    """
    return WriterRules(
        millis_of(min(clocks) - options.staging_ttl),
        future_from(max(clocks)),
        note,
        offsets=options.kafka_connect == "retired",
    )

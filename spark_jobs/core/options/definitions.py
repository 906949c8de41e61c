"""The options of the jobs. Each one is a field of `Options` with its complete description.

The command line (`core/options/arguments.py`), the checks of values and the rules for table properties are derived from
this table, and so are the tables of options in docs/wire.md. The provider has its own table
(`lakekeeper_provider/options.py`), and a contract test compares the two.
"""

# ruff: noqa: RUF009 - `option` returns a field, whose default is a value
from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from spark_jobs.core.health import Thresholds
from spark_jobs.core.options.limits import LimitOptions
from spark_jobs.core.options.option import (
    ANALYZE,
    CHECK,
    CLEANUP,
    COMPACT,
    PLAN,
    ROLLBACK,
    Option,
    TableProperty,
    choice,
    option,
    switch,
)
from spark_jobs.core.options.parsers import (
    MB,
    number,
    one_of,
    parse_duration,
    parse_identifier,
    parse_instant,
    parse_list,
)
from spark_jobs.core.other_writers import WriterRules
from spark_jobs.core.strategy import MINOR

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@dataclass(frozen=True)
class Options(LimitOptions):
    """The resolved options of one table. Sizes are in bytes, except for names that end with `_mb`."""

    sort_columns: tuple[str, ...] = option(
        (),
        parse_list,
        "sort the rewritten files by these columns",
        flag="--sort-columns",
        metavar="A,B",
        verbs=(COMPACT, PLAN),
    )
    analyze_after_compaction: bool = switch(
        "compute the metastore's statistics after a compaction",
        flag="--analyze-stats",
        off_flag="--no-analyze-stats",
        verbs=(COMPACT,),
    )
    dry_run: bool = switch(
        "report what would be done; write nothing", flag="--dry-run", verbs=(COMPACT, CLEANUP)
    )
    deadline: datetime | None = option(
        None,
        parse_instant,
        "start no swap after this time",
        flag="--deadline",
        metavar="ISO8601",
        verbs=(COMPACT,),
    )
    parallelism: int = option(
        4,
        number(int, 1),
        "partitions (or tables without partitions) that are processed at the same time",
        flag="--parallelism",
        metavar="N",
        verbs=(COMPACT, ROLLBACK, CLEANUP, CHECK),
    )
    max_calls_per_second: int | None = option(
        None,
        number(int, 1),
        "calls to the NameNode that the driver makes per second at most (default: no limit)",
        flag="--max-calls-per-second",
        metavar="N",
        verbs=(ANALYZE, PLAN, COMPACT, ROLLBACK, CLEANUP, CHECK),
        table_property=TableProperty.FORBIDDEN,
    )
    verify: str = choice(
        "count",
        ("count", "hash"),
        "compare row counts, physical types and column statistics (count), or every value (hash)",
        flag="--verify",
        verbs=(COMPACT,),
    )
    attributes: str | None = choice(
        None,
        ("require", "warn"),
        "owner, mode, ACL and policies that cannot be set: refuse the unit, or warn (default: warn for the owner only)",
    )
    quota_folders: tuple[str, ...] = option(
        (), parse_list, "directories above the tables whose free quota is checked before anything is written"
    )
    on_failure: str = choice(
        "keep",
        ("keep", "undo"),
        "if a partition fails: keep those that are already swapped, or undo (roll them back)",
        flag="--on-failure",
        verbs=(COMPACT,),
    )
    on_new_data: str = choice(
        "keep",
        ("keep", "refuse"),
        "rows that were added since the compaction: keep them in the table, or refuse to roll back",
        flag="--on-new-data",
        verbs=(ROLLBACK,),
    )
    older_than: timedelta | None = option(
        None,
        parse_duration,
        "delete only the originals of runs older than this (default: all)",
        flag="--older-than",
        metavar="7d",
        verbs=(CLEANUP,),
        table_property=TableProperty.LENGTHEN,
    )
    keep_last: int = option(
        0,
        number(int, 0),
        "never delete the originals of the newest N runs",
        flag="--keep-last",
        metavar="N",
        verbs=(CLEANUP,),
        table_property=TableProperty.LENGTHEN,
    )
    allow_short_retention: bool = switch(
        "allow an older_than of less than 24 hours", table_property=TableProperty.FORBIDDEN
    )
    skip_trash: bool = switch(
        "delete permanently instead of moving to the trash",
        flag="--skip-trash",
        verbs=(CLEANUP,),
        table_property=TableProperty.FORBIDDEN,
    )
    backup_prefix: str = option("__bkp", parse_identifier, "prefix of the names of backup tables")
    backup_database: str | None = option(
        None,
        parse_identifier,
        "database of the backup tables (default: the table's own)",
        table_property=TableProperty.FORBIDDEN,
    )
    register_backup: bool = switch("register the originals as a backup table", default=True)
    staging_ttl: timedelta = option(
        timedelta(hours=24), parse_duration, "age from which a writer's staging files count as abandoned"
    )
    writers: str | None = choice(
        None,
        ("append", "overwrite"),
        "whether a directory that a writer recreated during a swap adds to the table or replaces it (default: unknown)",
    )
    bucketing: str = choice("refuse", ("refuse", "ignore"), "whether tables bucketed by Hive are compacted")
    kafka_connect: str = choice(
        "refuse", ("refuse", "retired"), "whether files named by Kafka Connect's HDFS sink are compacted"
    )
    readers: str | None = choice(
        None,
        ("by-name", "by-position"),
        "how the engines that read the table match columns (default: ORC possibly by position, other formats by name)",
    )
    enabled: bool = switch("whether the table is compacted at all", default=True)
    trusted_owners: tuple[str, ...] = option(
        (),
        parse_list,
        "other accounts whose journals, and partitions outside the table's root, are trusted",
        flag="--trusted-owners",
        metavar="A,B",
        table_property=TableProperty.FORBIDDEN,
    )
    lease_timeout: timedelta = option(
        timedelta(seconds=20),
        parse_duration,
        "time without a heartbeat after which another job takes a lease over",
    )
    lease_wait: timedelta = option(
        timedelta(seconds=60), parse_duration, "how long to wait for another job on the same table"
    )
    include: tuple[str, ...] = option(
        (),
        parse_list,
        "with --database: only tables whose names match (comma-separated)",
        flag="--include",
        metavar="GLOB",
    )
    exclude: tuple[str, ...] = option(
        (),
        parse_list,
        "with --database: no tables whose names match (comma-separated)",
        flag="--exclude",
        metavar="GLOB",
    )
    log_level: str = option(
        "INFO",
        lambda value: one_of(*LOG_LEVELS)(str(value).upper()),
        "verbosity of the log",
        flag="--log-level",
        choices=LOG_LEVELS,
    )

    def thresholds(self) -> Thresholds:
        return Thresholds(
            self.block_size_mb * MB,
            self.compaction_ratio_threshold,
            self.min_input_files,
            self.target_file_size,
            self.strategy == MINOR,
        )


#: The options by name, in the order of the fields.
OPTIONS: dict[str, Option] = {each.name: each.metadata["option"] for each in fields(Options)}
DEFAULTS = Options()


def writer_rules(options: Options, now: datetime) -> WriterRules:
    """Return the rules for files of other writers at the time `now`."""
    dead_before = int((now - options.staging_ttl).timestamp() * 1000)
    return WriterRules(dead_before, offsets=options.kafka_connect == "retired")

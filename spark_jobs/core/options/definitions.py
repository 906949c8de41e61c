"""The options of the jobs. Each one is a field of `Options` with its complete description.

The command line (`core/options/arguments.py`), the checks of values and the rules for table properties are derived from
this table, and so are the tables of options in docs/wire.md, and the table of the provider
(`lakekeeper_provider/options/options.json`, which `make docs` writes from this one).
"""

# ruff: noqa: RUF009 - `option` returns a field, whose default is a value
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from spark_jobs.core.options.choosing import LONGEST
from spark_jobs.core.options.limits import LimitOptions
from spark_jobs.core.options.option import (
    ANALYZE,
    CHECK,
    CHOICE,
    CLEANUP,
    COMPACT,
    NO_PROPERTY,
    OF_THE_CALL,
    OF_THE_JOB,
    OF_THE_TABLE,
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
from spark_jobs.core.options.parsers import (
    GLOBS,
    INSTANT,
    MB,
    duration,
    identifier,
    number,
    texts,
)
from spark_jobs.core.rules.health import Thresholds
from spark_jobs.core.values.file_times import future_from, millis_of
from spark_jobs.core.values.other_writers import WriterRules

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
MOST_RUNS = 1_000_000
#: The ways to compare what was written with what was read.
COUNT, HASH = "count", "hash"


@dataclass(frozen=True)
class Options(LimitOptions):
    """The resolved options of one table. Sizes are in bytes, except for names that end with `_mb`."""

    sort_columns: tuple[str, ...] = option(
        (),
        texts(fewest=0),
        "sort the rewritten files by these columns",
        flag="--sort-columns",
        metavar="A,B",
        verbs=(COMPACT, PLAN),
        layers=CHOICE,
        level=Level.DAILY,
        section=Section.REWRITE,
        note="By table at the top level, a list below a table of `tables`. Sorting costs a shuffle. Default: SORTED BY"
        " of the table's DDL.",
        example={"mydb.events": ["date", "user_id"]},
    )
    analyze_after_compaction: bool = switch(
        "compute the metastore's statistics after a compaction",
        flag="--analyze-stats",
        off_flag="--no-analyze-stats",
        verbs=(COMPACT,),
        section=Section.REWRITE,
        note="Runs ANALYZE TABLE on the compacted partitions.",
    )
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
    verify: str = choice(
        COUNT,
        (COUNT, HASH),
        "compare row counts, physical types and column statistics (count), or every value (hash)",
        flag="--verify",
        verbs=(COMPACT,),
        section=Section.REWRITE,
        note="The result is verified before it is swapped in. `hash` reads the written files once more.",
    )
    attributes: str | None = choice(
        None,
        ("require", "warn"),
        "owner, mode, ACL and policies that cannot be set: refuse the unit, or warn (default: warn for the owner only)",
        unreadable="require",
        too_weak=("warn",),
        level=Level.RARE,
        section=Section.REWRITE,
        note="Also group, extended attributes, storage policy and erasure coding. Only a superuser of HDFS may set the"
        " owner.",
        example="require",
    )
    quota_folders: tuple[str, ...] = option(
        (),
        texts(),
        "directories above the tables whose free quota is checked before anything is written",
        layers=NO_PROPERTY,
        level=Level.RARE,
        section=Section.REWRITE,
        example=["/data/sales"],
    )
    on_failure: str = choice(
        "keep",
        ("keep", "undo"),
        "if a partition fails: keep those that are already swapped, or undo (roll them back)",
        flag="--on-failure",
        verbs=(COMPACT,),
        section=Section.REWRITE,
    )
    on_new_data: str = choice(
        "keep",
        ("keep", "refuse"),
        "rows that were added since the compaction: keep them in the table, or refuse to roll back",
        flag="--on-new-data",
        verbs=(ROLLBACK,),
        section=Section.BACKUP,
    )
    older_than: timedelta | None = option(
        None,
        duration("0s", LONGEST),
        "delete only the originals of runs older than this (default: all)",
        flag="--older-than",
        metavar="7d",
        verbs=(CLEANUP,),
        lengthens=True,
        unreadable=timedelta(days=36500),
        level=Level.DAILY,
        section=Section.BACKUP,
        note="The cleanup operator needs older_than or keep_last, here or as an argument. A table's property may only"
        " lengthen them.",
        example="7d",
        limits_deletion=True,
    )
    keep_last: int = option(
        0,
        number(int, 0, MOST_RUNS),
        "never delete the originals of the newest N runs",
        flag="--keep-last",
        metavar="N",
        verbs=(CLEANUP,),
        lengthens=True,
        unreadable=MOST_RUNS,
        level=Level.DAILY,
        section=Section.BACKUP,
        example=1,
        limits_deletion=True,
    )
    allow_short_retention: bool = switch(
        "allow an older_than of less than 24 hours",
        layers=NO_PROPERTY,
        level=Level.RARE,
        section=Section.BACKUP,
    )
    skip_trash: bool = switch(
        "delete permanently instead of moving to the trash",
        flag="--skip-trash",
        verbs=(CLEANUP,),
        layers=NO_PROPERTY,
        section=Section.BACKUP,
    )
    backup_prefix: str = option(
        "__bkp",
        identifier(64),
        "prefix of the names of backup tables",
        level=Level.RARE,
        section=Section.BACKUP,
        note="A backup of mydb.events is named mydb.__bkp_YYYYMMDD_HHMMSS_events.",
    )
    backup_database: str | None = option(
        None,
        identifier(128),
        "database of the backup tables (default: the table's own)",
        layers=NO_PROPERTY,
        level=Level.RARE,
        section=Section.BACKUP,
        note="Set it where row filters are granted on mydb.*: they do not cover the name of a new table.",
        example="lakekeeper_backups",
    )
    register_backup: bool = switch(
        "register the originals as a backup table", default=True, level=Level.RARE, section=Section.BACKUP
    )
    staging_ttl: timedelta = option(
        timedelta(hours=24),
        duration("1m", "3650d"),
        "age from which a writer's staging files count as abandoned",
        level=Level.RARE,
        section=Section.CONCURRENCY,
    )
    writers: str | None = choice(
        None,
        ("append", "overwrite"),
        "whether a directory that a writer recreated during a swap adds to the table or replaces it (default: unknown)",
        level=Level.RARE,
        section=Section.CONCURRENCY,
        note="Where it is unknown, such a unit is quarantined until a person decides. Best set per table.",
        example="append",
    )
    bucketing: str = choice(
        "refuse",
        ("refuse", "ignore"),
        "whether tables bucketed by Hive are compacted",
        layers=OF_THE_TABLE,
        level=Level.RARE,
    )
    kafka_connect: str = choice(
        "refuse",
        ("refuse", "retired"),
        "whether files named by Kafka Connect's HDFS sink are compacted",
        layers=OF_THE_TABLE,
        level=Level.RARE,
    )
    readers: str | None = choice(
        None,
        ("by-name", "by-position"),
        "how the engines that read the table match columns (default: ORC possibly by position, other formats by name)",
        layers=OF_THE_TABLE,
        level=Level.RARE,
    )
    enabled: bool = switch(
        "whether the table is compacted at all",
        default=True,
        layers=OF_THE_TABLE,
        unreadable=False,
        level=Level.RARE,
    )
    trusted_owners: tuple[str, ...] = option(
        (),
        texts(),
        "other accounts whose journals, and partitions outside the table's root, are trusted",
        flag="--trusted-owners",
        metavar="A,B",
        layers=NO_PROPERTY,
        level=Level.RARE,
        section=Section.CONCURRENCY,
        note="The account of the job and the owner of the table's root are always trusted.",
        example=["etl"],
    )
    lease_timeout: timedelta = option(
        timedelta(seconds=20),
        duration("2s", "1h"),
        "time without a heartbeat after which another job takes a lease over",
        layers=NO_PROPERTY,
        level=Level.RARE,
        section=Section.CONCURRENCY,
    )
    lease_wait: timedelta = option(
        timedelta(seconds=60),
        duration("0s", "24h"),
        "how long to wait for another job on the same table",
        layers=NO_PROPERTY,
        level=Level.RARE,
        section=Section.CONCURRENCY,
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

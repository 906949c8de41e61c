"""
The options of the jobs, as the operators, the command line and the YAML file know them.

The command line, the checks of the YAML file, its template, its JSON Schema and README's table are derived from this
table. The jobs have their own (``spark_jobs/core/options/definitions.py``), and a contract test compares both.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakekeeper_provider.options.choosing import CHOOSING
from lakekeeper_provider.options.limits import LIMITS
from lakekeeper_provider.options.option import (
    ANALYZE,
    CHECK,
    CLEANUP,
    COMPACT,
    PLAN,
    ROLLBACK,
    Flag,
    Option,
    Section,
)
from lakekeeper_provider.options.option_parsers import globs, identifier, instant
from lakekeeper_provider.options.parsers import boolean, choice, duration, integer, option_list

OPTIONS: Mapping[str, Option] = {
    option.key: option
    for option in (
        *CHOOSING,
        *LIMITS,
        Option(
            "sort_columns",
            option_list,
            None,
            "sort the rewritten files by these columns",
            Flag("--sort-columns", (COMPACT, PLAN), "A,B"),
            Section.REWRITE,
            "By table at the top level, a list below a table of `tables`. Sorting costs a shuffle. Default: SORTED BY"
            " of the table's DDL.",
            {"mydb.events": ["date", "user_id"]},
            planned=True,
        ),
        Option(
            "analyze_after_compaction",
            boolean,
            False,
            "compute the metastore's statistics after a compaction",
            Flag("--analyze-stats", (COMPACT,), off="--no-analyze-stats"),
            Section.REWRITE,
            "Runs ANALYZE TABLE on the compacted partitions.",
        ),
        Option(
            "dry_run",
            boolean,
            False,
            "report what would be done; write nothing",
            Flag("--dry-run", (COMPACT, ROLLBACK, CLEANUP)),
            Section.JOB,
            per_table=False,
        ),
        Option(
            "deadline",
            instant,
            None,
            "start no swap after this time",
            Flag("--deadline", (COMPACT,), "ISO8601"),
            as_property=False,
        ),
        Option(
            "parallelism",
            integer(1, 256),
            4,
            "partitions (or tables without partitions) that are processed at the same time",
            Flag("--parallelism", (COMPACT, ROLLBACK, CLEANUP, CHECK), "N"),
            Section.JOB,
            per_table=False,
            as_property=False,
        ),
        Option(
            "max_calls_per_second",
            integer(1, 1_000_000),
            None,
            "calls to the NameNode that the driver makes per second at most (default: no limit)",
            Flag("--max-calls-per-second", (ANALYZE, PLAN, COMPACT, ROLLBACK, CLEANUP, CHECK), "N"),
            Section.JOB,
            "Of one job. Spark's own calls do not count: those of its executors, and its listings.",
            200,
            per_table=False,
            as_property=False,
        ),
        Option(
            "verify",
            choice("count", "hash"),
            "count",
            "compare row counts, physical types and column statistics (count), or every value (hash)",
            Flag("--verify", (COMPACT,)),
            Section.REWRITE,
            "The result is verified before it is swapped in. `hash` reads the written files once more.",
        ),
        Option(
            "attributes",
            choice("require", "warn"),
            None,
            "owner, mode, ACL and policies that cannot be set: refuse the unit, or warn (default: warn for the owner"
            " only)",
            section=Section.REWRITE,
            note="Also group, extended attributes, storage policy and erasure coding. Only a superuser of HDFS may set"
            " the owner.",
            example="require",
        ),
        Option(
            "quota_folders",
            option_list,
            None,
            "directories above the tables whose free quota is checked before anything is written",
            section=Section.REWRITE,
            example=["/data/sales"],
            as_property=False,
        ),
        Option(
            "on_failure",
            choice("keep", "undo"),
            "keep",
            "if a partition fails: keep those that are already swapped, or undo (roll them back)",
            Flag("--on-failure", (COMPACT,)),
            Section.REWRITE,
        ),
        Option(
            "on_new_data",
            choice("keep", "refuse"),
            "keep",
            "rows that were added since the compaction: keep them in the table, or refuse to roll back",
            Flag("--on-new-data", (ROLLBACK,)),
            Section.BACKUP,
        ),
        Option(
            "older_than",
            duration("7d"),
            None,
            "delete only the originals of runs older than this (default: all)",
            Flag("--older-than", (CLEANUP,), "7d"),
            Section.BACKUP,
            "The cleanup operator needs older_than or keep_last, here or as an argument. A table's property may only"
            " lengthen them.",
            "7d",
            explicit=True,
        ),
        Option(
            "keep_last",
            integer(0, 1_000_000),
            None,
            "never delete the originals of the newest N runs",
            Flag("--keep-last", (CLEANUP,), "N"),
            Section.BACKUP,
            example=1,
            explicit=True,
        ),
        Option(
            "allow_short_retention",
            boolean,
            False,
            "allow an older_than of less than 24 hours",
            section=Section.BACKUP,
            as_property=False,
        ),
        Option(
            "skip_trash",
            boolean,
            False,
            "delete permanently instead of moving to the trash",
            Flag("--skip-trash", (CLEANUP,)),
            Section.BACKUP,
            as_property=False,
        ),
        Option(
            "backup_prefix",
            identifier(64),
            "__bkp",
            "prefix of the names of backup tables",
            section=Section.BACKUP,
            note="A backup of mydb.events is named mydb.__bkp_YYYYMMDD_HHMMSS_events.",
        ),
        Option(
            "backup_database",
            identifier(128),
            None,
            "database of the backup tables (default: the table's own)",
            section=Section.BACKUP,
            note="Set it where row filters are granted on mydb.*: they do not cover the name of a new table.",
            example="lakekeeper_backups",
            as_property=False,
        ),
        Option(
            "register_backup",
            boolean,
            True,
            "register the originals as a backup table",
            section=Section.BACKUP,
        ),
        Option(
            "staging_ttl",
            duration("24h", "1m", "3650d"),
            "24h",
            "age from which a writer's staging files count as abandoned",
            section=Section.CONCURRENCY,
        ),
        Option(
            "writers",
            choice("append", "overwrite"),
            None,
            "whether a directory that a writer recreated during a swap adds to the table or replaces it (default:"
            " unknown)",
            section=Section.CONCURRENCY,
            note="Where it is unknown, such a unit is quarantined until a person decides. Best set per table.",
            example="append",
        ),
        Option(
            "trusted_owners",
            option_list,
            None,
            "other accounts whose journals, and partitions outside the table's root, are trusted",
            Flag("--trusted-owners", metavar="A,B"),
            section=Section.CONCURRENCY,
            note="The account of the job and the owner of the table's root are always trusted.",
            example=["etl"],
            as_property=False,
        ),
        Option(
            "lease_timeout",
            duration("20s", "2s", "1h"),
            "20s",
            "time without a heartbeat after which another job takes a lease over",
            section=Section.CONCURRENCY,
            as_property=False,
        ),
        Option(
            "lease_wait",
            duration("60s", "0s", "24h"),
            "60s",
            "how long to wait for another job on the same table",
            section=Section.CONCURRENCY,
            as_property=False,
        ),
        Option(
            "log_level",
            choice("DEBUG", "INFO", "WARNING", "ERROR", fold=str.upper),
            "INFO",
            "verbosity of the log",
            Flag("--log-level"),
            section=Section.JOB,
            per_table=False,
            as_property=False,
        ),
        Option(
            "include",
            globs,
            None,
            "with --database: only tables whose names match (comma-separated)",
            Flag("--include", metavar="GLOB"),
            as_property=False,
        ),
        Option(
            "exclude",
            globs,
            None,
            "with --database: no tables whose names match (comma-separated)",
            Flag("--exclude", metavar="GLOB"),
            as_property=False,
        ),
    )
}

"""The options that say how a unit is rewritten and verified."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from spark_jobs.core.options.limits import LimitOptions
from spark_jobs.core.options.option import (
    CARRIED_BY_PLAN,
    COMPACT,
    NO_PROPERTY,
    PLAN,
    Level,
    Section,
    choice,
    option,
    switch,
)
from spark_jobs.core.options.parsers import texts

#: The ways to compare what was written with what was read.
COUNT, HASH = "count", "hash"
#: The engines that write Parquet files; AUTO is Arrow where the executors have it and it pays.
SPARK, ARROW, AUTO = "spark", "arrow", "auto"

_option = partial(option, section=Section.REWRITE)
_choice = partial(choice, section=Section.REWRITE)
_switch = partial(switch, section=Section.REWRITE)


@dataclass(frozen=True)
class RewriteOptions(LimitOptions):
    """How units are rewritten."""

    sort_columns: tuple[str, ...] = _option(
        (),
        texts(fewest=0),
        "sort the rewritten files by these columns",
        flag="--sort-columns",
        metavar="A,B",
        verbs=(COMPACT, PLAN),
        layers=CARRIED_BY_PLAN,
        level=Level.DAILY,
        note="By table at the top level, a list below a table of `tables`. Sorting costs a shuffle. Default: SORTED BY"
        " of the table's DDL.",
        example={"mydb.events": ["date", "user_id"]},
    )
    engine: str = _choice(
        SPARK,
        (SPARK, ARROW, AUTO),
        "what writes Parquet files: Spark, or pyarrow in Python workers of the executors; auto: pyarrow if it is there,"
        " for at least 1,000 files",
        flag="--engine",
        verbs=(COMPACT, PLAN),
        layers=CARRIED_BY_PLAN,
        level=Level.TUNING,
        note="Arrow takes about half of Spark's processor time for small files. It needs pyarrow on the driver and on"
        " every executor (see arrow-engine.md). What it would not write as it was is left to Spark, timestamps of 96"
        " bits among it, which are Spark's default.",
    )
    analyze_after_compaction: bool = _switch(
        "compute the metastore's statistics after a compaction",
        flag="--analyze-stats",
        off_flag="--no-analyze-stats",
        verbs=(COMPACT,),
        note="Runs ANALYZE TABLE on the compacted partitions.",
    )
    file_stats: bool = _switch(
        "set numFiles and totalSize in the metastore after a compaction",
        flag="--file-stats",
        off_flag="--no-file-stats",
        verbs=(COMPACT,),
        note="Of the compacted partitions, by three calls for up to 300. Other statistics stay as they are. A rollback"
        " puts the values of before back.",
    )
    verify: str = _choice(
        COUNT,
        (COUNT, HASH),
        "compare row counts, physical types and column statistics (count), or every value (hash)",
        flag="--verify",
        verbs=(COMPACT,),
        note="The result is verified before it is swapped in. `hash` reads the written files once more.",
    )
    attributes: str | None = _choice(
        None,
        ("require", "warn"),
        "owner, mode, ACL and policies that cannot be set: refuse the unit, or warn (default: warn for the owner only)",
        unreadable="require",
        too_weak=("warn",),
        level=Level.RARE,
        note="Also group, extended attributes, storage policy and erasure coding. Only a superuser of HDFS may set the"
        " owner.",
        example="require",
    )
    quota_folders: tuple[str, ...] = _option(
        (),
        texts(),
        "directories above the tables whose free quota is checked before anything is written",
        layers=NO_PROPERTY,
        level=Level.RARE,
        example=["/data/sales"],
    )
    on_failure: str = _choice(
        "keep",
        ("keep", "undo"),
        "if a partition fails: keep those that are already swapped, or undo (roll them back)",
        flag="--on-failure",
        verbs=(COMPACT,),
    )

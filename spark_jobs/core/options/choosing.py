"""The options that say what to compact: thresholds and selections. Analyses and compactions have the same ones."""

# ruff: noqa: RUF009 - `option` returns a field, whose default is a value
from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.options.option import ANALYZE, COMPACT, PLAN, TableProperty, option, switch
from spark_jobs.core.options.parsers import number, parse_size
from spark_jobs.core.selection import PartitionSpec, parse_partitions

#: The verbs that plan: they have the same thresholds and selections.
PLANNING = (ANALYZE, PLAN, COMPACT)


@dataclass(frozen=True)
class ChoosingOptions:
    """What to compact. Sizes are in bytes, except for names that end with `_mb`."""

    block_size_mb: int = option(
        128,
        number(int, 1),
        "HDFS block size (dfs.blocksize) in MB",
        flag="--block-size",
        metavar="MB",
        verbs=PLANNING,
    )
    compaction_ratio_threshold: float = option(
        10.0,
        number(float, 1),
        "compact where min(average, median) file size is below block size / ratio",
        flag="--ratio-threshold",
        metavar="RATIO",
        verbs=PLANNING,
    )
    min_input_files: int = option(
        2,
        number(int, 2),
        "leave directories with fewer files alone",
        flag="--min-input-files",
        metavar="N",
        verbs=PLANNING,
    )
    target_file_size: int = option(
        0,
        parse_size,
        "size of the files to write (default: the block size)",
        flag="--target-file-size",
        metavar="512mb",
        verbs=PLANNING,
    )
    full_scan: bool = switch(
        "list every directory, also those that have not changed", flag="--full-scan", verbs=PLANNING
    )
    partitions: list[PartitionSpec] | None = option(
        None,
        parse_partitions,
        'only these partitions, as JSON; a spec may be partial: [{"date": "2026-02-23"}]',
        flag="--partitions",
        metavar="JSON",
        group="partitions",
        verbs=PLANNING,
    )
    where: str | None = option(
        None,
        str,
        "only partitions that meet a condition on the partition keys: date >= '2026-02-01'",
        flag="--where",
        metavar="SQL",
        group="partitions",
        verbs=PLANNING,
        table_property=TableProperty.FORBIDDEN,
    )

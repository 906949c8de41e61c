"""The options that say what to compact: thresholds and selections."""

from __future__ import annotations

from lakekeeper_provider.option import PLANNING, Flag, Option, Section
from lakekeeper_provider.parsers import boolean, integer, number, partition_list, size, text

CHOOSING: tuple[Option, ...] = (
    Option(
        "block_size_mb",
        integer(1),
        128,
        "HDFS block size (dfs.blocksize) in MB",
        Flag("--block-size", PLANNING, "MB"),
        Section.SELECTION,
    ),
    Option(
        "compaction_ratio_threshold",
        number(1),
        10.0,
        "compact where min(average, median) file size is below block size / ratio",
        Flag("--ratio-threshold", PLANNING, "RATIO"),
        Section.SELECTION,
        "10.0 with blocks of 128 MB: below 12.8 MB. A lower ratio compacts more.",
    ),
    Option(
        "min_input_files",
        integer(2),
        2,
        "leave directories with fewer files alone",
        Flag("--min-input-files", PLANNING, "N"),
        Section.SELECTION,
    ),
    Option(
        "target_file_size",
        size,
        None,
        "size of the files to write (default: the block size)",
        Flag("--target-file-size", PLANNING, "512mb"),
        Section.SELECTION,
        example="512mb",
    ),
    Option(
        "full_scan",
        boolean,
        False,
        "list every directory, also those that have not changed",
        Flag("--full-scan", PLANNING),
        Section.SELECTION,
    ),
    Option(
        "partitions",
        partition_list,
        None,
        'only these partitions, as JSON; a spec may be partial: [{"date": "2026-02-23"}]',
        Flag("--partitions", PLANNING, "JSON"),
    ),
    Option(
        "where",
        text,
        None,
        "only partitions that meet a condition on the partition keys: date >= '2026-02-01'",
        Flag("--where", PLANNING, "SQL"),
    ),
)

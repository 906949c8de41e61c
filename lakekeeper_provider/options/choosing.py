"""The options that say what to compact: thresholds and selections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.option import PLANNING, Flag, Option, Section
from lakekeeper_provider.options.option_parsers import partition_list, size
from lakekeeper_provider.options.parsers import boolean, choice, duration, integer, number, text

CHOOSING: tuple[Option, ...] = (
    Option(
        "block_size_mb",
        integer(1, 16_384),
        128,
        "HDFS block size (dfs.blocksize) in MB",
        Flag("--block-size", PLANNING, "MB"),
        Section.SELECTION,
        planned=True,
    ),
    Option(
        "compaction_ratio_threshold",
        number(0.001, 1_000_000_000),
        10.0,
        "compact where min(average, median) file size is below block size / ratio",
        Flag("--ratio-threshold", PLANNING, "RATIO"),
        Section.SELECTION,
        "10.0 with blocks of 128 MB: below 12.8 MB. A lower ratio compacts more.",
        planned=True,
    ),
    Option(
        "min_input_files",
        integer(2),
        2,
        "leave directories with fewer files alone",
        Flag("--min-input-files", PLANNING, "N"),
        Section.SELECTION,
        planned=True,
    ),
    Option(
        "target_file_size",
        size("0b", "1tb"),
        None,
        "size of the files to write (default: the block size)",
        Flag("--target-file-size", PLANNING, "512mb"),
        Section.SELECTION,
        example="512mb",
        planned=True,
    ),
    Option(
        "strategy",
        choice("auto", "full", "minor"),
        "auto",
        "which files of a directory are rewritten: the small ones, while large ones are copied byte by byte (auto: from"
        " three quarters of the target size on; minor: from the target size on, where that costs less), or all (full)",
        Flag("--strategy", PLANNING),
        Section.SELECTION,
        planned=True,
    ),
    Option(
        "min_small_files",
        integer(1),
        30,
        "with strategy=auto, compact for the sake of its small files alone a directory with at least so many",
        Flag("--min-small-files", PLANNING, "N"),
        Section.SELECTION,
        planned=True,
    ),
    Option(
        "min_files_per_gb",
        number(0, 1_000_000_000),
        10.0,
        "with strategy=auto, and only if at least so many small files go away for each GB that is read",
        Flag("--min-files-per-gb", PLANNING, "N"),
        Section.SELECTION,
        planned=True,
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
        as_property=False,
    ),
    Option(
        "where",
        text,
        None,
        "only partitions that meet a condition on the partition keys: date >= '2026-02-01'",
        Flag("--where", PLANNING, "SQL"),
        as_property=False,
    ),
    Option(
        "idle_for",
        duration("7d"),
        None,
        "only partitions whose newest file is at least this old; 0s: of any age",
        Flag("--idle-for", PLANNING, "7d"),
        Section.SELECTION,
        "Not together with partitions or where: where the file sets it, `0s` as an argument turns it off.",
        "7d",
    ),
    Option(
        "trigger",
        choice("all", "any"),
        "all",
        "whether a partition is compacted if all of the trigger conditions that are given hold, or any of them",
        Flag("--trigger", PLANNING),
        Section.SELECTION,
        "The conditions are those below. Without one, all flagged partitions are compacted.",
    ),
    Option(
        "trigger_unit_files",
        integer(1),
        None,
        "compact only partitions with at least so many files",
        Flag("--trigger-unit-files", PLANNING, "N"),
        Section.SELECTION,
        example=100,
    ),
    Option(
        "trigger_small_files",
        integer(1),
        None,
        "compact only if the flagged partitions of the table have at least so many small files in total",
        Flag("--trigger-small-files", PLANNING, "N"),
        Section.SELECTION,
        "A file is small below block size / ratio.",
        10000,
    ),
    Option(
        "trigger_growth",
        integer(1),
        None,
        "compact only if at least so many files were added to the table since its last compaction",
        Flag("--trigger-growth", PLANNING, "N"),
        Section.SELECTION,
        "Counted are the files of flagged partitions that no compaction has written.",
        1000,
    ),
    Option(
        "trigger_interval",
        duration("1d"),
        None,
        "compact only if the last compaction of the table was at least this long ago",
        Flag("--trigger-interval", PLANNING, "1d"),
        Section.SELECTION,
        example="1d",
    ),
    Option(
        "trigger_average_size",
        size("1b", "1tb"),
        None,
        "compact only partitions whose files are smaller than this on average",
        Flag("--trigger-average-size", PLANNING, "16mb"),
        Section.SELECTION,
        example="16mb",
    ),
)

#: The options that select units. Only one of them can be given.
SELECTIONS = ("partitions", "where", "idle_for")
_ANY_AGE = re.compile(r"\s*0+\s*[smhdw]\s*")


def check_selections(given: Mapping[str, Any]) -> None:
    """
    Check that units are selected in one way; ``idle_for="0s"`` selects none.

    :param given: the options that are given, by key
    :raises UsageError: two of them are given
    """
    found = [key for key in SELECTIONS if key in given and not _ANY_AGE.fullmatch(str(given[key]))]
    if len(found) > 1:
        raise UsageError(f"{' and '.join(found)} are mutually exclusive: give one of them")

"""The internal layout of files, besides codec and types: from the table's properties, and from its existing files."""

from __future__ import annotations

from collections.abc import Mapping

from spark_jobs.core.formats.footers import Profile
from spark_jobs.core.formats.hadoop_values import is_literal
from spark_jobs.core.formats.layout_properties import layout_properties
from spark_jobs.core.formats.registry import FORMATS

_BLOOM = "parquet.bloom.filter"
#: The minimum of a row group to be reproduced, in bytes. Smaller row groups come from joining small files by chance.
_SMALLEST_ROW_GROUP = 8 << 20
#: HDFS has no blocks, which are as large as a row group, that are no multiple of the bytes that one checksum covers.
_CHECKSUM = 512


def writer_options(
    profile: Profile, file_format: str, properties: Mapping[str, str], target_files: int
) -> dict[str, str]:
    """Return the options of the format's writer, by their names for parquet-java and ORC in a Hadoop configuration.

    The table's properties take precedence: stripes, indexes and Bloom filters of ORC tables are declared there. From
    the footers of Parquet files come the size of row groups, if a file has several, and the Bloom filters that all
    files have. Dictionaries are not derived from footers: a writer stops using one if values are rarely repeated.
    """
    return {
        **(_options_from_files(profile, target_files) if FORMATS[file_format].mirrors_layout else {}),
        **layout_properties(properties),
    }


def _options_from_files(profile: Profile, target_files: int) -> dict[str, str]:
    options = {}
    if profile.row_group >= _SMALLEST_ROW_GROUP:
        options["parquet.block.size"] = str(-(-profile.row_group // _CHECKSUM) * _CHECKSUM)
    distinct = max(1, (profile.rows or 0) // max(1, target_files))
    for path in filter(is_literal, sorted(profile.blooms)):  # guard: columns_without_variables
        options[f"{_BLOOM}.enabled#{path}"] = "true"
        options[f"{_BLOOM}.expected.ndv#{path}"] = str(distinct)
    return options

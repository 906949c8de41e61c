"""How files are laid out inside, beyond codec and types: by the table's properties, and by what its files show."""

from __future__ import annotations

from collections.abc import Mapping

from spark_jobs.core.eligibility import PARQUET
from spark_jobs.core.footers import Profile

#: Properties that say how files are read, or that have an option of their own here.
_NOT_LAYOUT = (
    "parquet.compression",
    "parquet.column.index.access",
    "orc.compress",
    "orc.force.positional.evolution",
)
_BLOOM = "parquet.bloom.filter"
#: Smaller row groups are an accident of how small files were joined, and nobody's wish, in bytes.
_SMALLEST_ROW_GROUP = 8 << 20


def writer_options(
    profile: Profile, file_format: str, properties: Mapping[str, str], target_files: int
) -> dict[str, str]:
    """Options of the format's writer, as parquet-java and ORC name them in a Hadoop configuration.

    The properties win: stripes, indexes and Bloom filters of ORC tables are declared there. Of Parquet's files a row
    group's size shows where one has several, and a Bloom filter where all have it. Dictionaries do not show: a writer
    gives one up by itself where values hardly repeat.
    """
    declared = {
        key: value
        for key, value in properties.items()
        if key.startswith(("parquet.", "orc.")) and key not in _NOT_LAYOUT
    }
    return {**(_seen(profile, target_files) if file_format == PARQUET else {}), **declared}


def _seen(profile: Profile, target_files: int) -> dict[str, str]:
    found = {}
    if profile.row_group >= _SMALLEST_ROW_GROUP:
        found["parquet.block.size"] = str(profile.row_group)
    distinct = max(1, (profile.rows or 0) // max(1, target_files))
    for path in sorted(profile.blooms):
        found[f"{_BLOOM}.enabled#{path}"] = "true"
        found[f"{_BLOOM}.expected.ndv#{path}"] = str(distinct)
    return found

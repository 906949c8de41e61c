"""How files are laid out inside, beyond codec and types: by the table's properties, and by what its files show."""

from __future__ import annotations

import re
from collections.abc import Mapping

from spark_jobs.core.footers import Profile
from spark_jobs.core.formats import FORMATS

#: Properties of a table that say how its files are laid out. No others: some name classes to load, or hold a
#: serialized object (`parquet.private.read.filter.predicate`), and whoever may alter the table would run code as the
#: jobs' account.
_LAYOUT = re.compile(
    r"parquet\.(block\.size|page\.size|page\.row\.count\.limit|page\.size\.row\.check\.\w+|page\.write-checksum\.enabled"
    r"|dictionary\.page\.size|enable\.dictionary|enable\.bytestreamsplit|bloom\.filter\.[\w.]+|writer\.version"
    r"|writer\.max-padding|columnindex\.truncate\.length|statistics\.truncate\.length"
    r"|compression\.codec\.\w+\.level)(#.*)?\Z"
    r"|orc\.(stripe\.size|stripe\.row\.count|block\.size|block\.padding|row\.index\.stride|create\.index"
    r"|bloom\.filter\.[\w.]+|compress\.size|dictionary\.key\.threshold|encoding\.strategy|compression\.strategy"
    r"|write\.format|direct\.encoding\.columns)\Z"
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
    # guard: layout_properties_only
    declared = {key: value for key, value in properties.items() if _LAYOUT.match(key)}
    return {**(_seen(profile, target_files) if FORMATS[file_format].mirrors_layout else {}), **declared}


def _seen(profile: Profile, target_files: int) -> dict[str, str]:
    found = {}
    if profile.row_group >= _SMALLEST_ROW_GROUP:
        found["parquet.block.size"] = str(profile.row_group)
    distinct = max(1, (profile.rows or 0) // max(1, target_files))
    for path in sorted(profile.blooms):
        found[f"{_BLOOM}.enabled#{path}"] = "true"
        found[f"{_BLOOM}.expected.ndv#{path}"] = str(distinct)
    return found

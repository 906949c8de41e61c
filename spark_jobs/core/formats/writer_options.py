"""The internal layout of files, besides codec and types: from the table's properties, and from its existing files."""

from __future__ import annotations

import re
from collections.abc import Mapping

from spark_jobs.core.formats.footers import Profile
from spark_jobs.core.formats.registry import FORMATS

#: Table properties that define the layout of files. No other property is used: some name classes to load, or contain
#: a serialized object (`parquet.private.read.filter.predicate`). With them, a user who may alter the table could run
#: code with the account of the jobs.
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
#: The minimum of a row group to be reproduced, in bytes. Smaller row groups come from joining small files by chance.
_SMALLEST_ROW_GROUP = 8 << 20


def writer_options(
    profile: Profile, file_format: str, properties: Mapping[str, str], target_files: int
) -> dict[str, str]:
    """Return the options of the format's writer, by their names for parquet-java and ORC in a Hadoop configuration.

    The table's properties take precedence: stripes, indexes and Bloom filters of ORC tables are declared there. From
    the footers of Parquet files come the size of row groups, if a file has several, and the Bloom filters that all
    files have. Dictionaries are not derived from footers: a writer stops using one if values are rarely repeated.
    """
    # guard: layout_properties_only
    declared = {key: value for key, value in properties.items() if _LAYOUT.match(key)}
    return {
        **(_options_from_files(profile, target_files) if FORMATS[file_format].mirrors_layout else {}),
        **declared,
    }


def _options_from_files(profile: Profile, target_files: int) -> dict[str, str]:
    found = {}
    if profile.row_group >= _SMALLEST_ROW_GROUP:
        found["parquet.block.size"] = str(profile.row_group)
    distinct = max(1, (profile.rows or 0) // max(1, target_files))
    for path in sorted(profile.blooms):
        found[f"{_BLOOM}.enabled#{path}"] = "true"
        found[f"{_BLOOM}.expected.ndv#{path}"] = str(distinct)
    return found

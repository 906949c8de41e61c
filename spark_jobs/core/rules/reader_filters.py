"""Settings by which readers of a table leave out files: written files have other names and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from spark_jobs.core.formats.registry import AVRO
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

#: Settings of Hadoop that hold for all tables of a cluster.
FILTER_SETTINGS = ("mapreduce.input.pathFilter.class", "avro.mapred.ignore.inputs.without.extension")
_CLASS, _AVRO_EXTENSION = FILTER_SETTINGS
#: Options of Spark's file sources, and settings of Hadoop that Hive takes from the table, in lower case.
_FILTERS = frozenset(
    {
        "pathglobfilter",
        "modifiedbefore",
        "modifiedafter",
        "mapreduce.input.pathfilter.class",
        "mapred.input.pathfilter.class",
    }
)
#: The same where it depends on the value: Avro files without their extension.
_SWITCHES = frozenset({("ignoreextension", "false"), (_AVRO_EXTENSION, "true")})


def check_filters_of_table(table: str, sources: Iterable[Mapping[str, str]]) -> None:
    """Raise Refusal for a table whose own properties make its readers leave out files."""
    for source in sources:
        for key, value in source.items():
            switch = (key.lower(), value.strip().lower())
            if switch[0] in _FILTERS or switch in _SWITCHES:  # guard: file_filters
                raise Refusal(
                    RefusalCode.FILE_FILTER,
                    f"{table} has {key}={value}, by which its readers leave out files by their names or times",
                )


def check_filters_of_cluster(table: str, cluster: Mapping[str, str], file_format: str) -> None:
    """Raise Refusal where all readers leave out files: the table would show rows of those, or not what is written."""
    for key, value in cluster.items():
        named = key == _CLASS and value.strip()
        by_extension = key == _AVRO_EXTENSION and file_format == AVRO and value.strip().lower() == "true"
        if named or by_extension:  # guard: filters_of_the_cluster
            raise Refusal(
                RefusalCode.FILE_FILTER,
                f"the cluster has {key}={value}, by which readers leave out files of {table} by their names. If no"
                " reader of the table has it, set it to nothing, or to false, for these jobs",
            )

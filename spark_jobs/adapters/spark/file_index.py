"""Reads exactly the files of a manifest, although Spark lists directories by itself.

Spark lists a directory once, when the DataFrame is created, and later reads the files of that list, its index. So what
is compared here is what is read. One path for each file would do without a comparison, but costs Spark a listing for
each of them.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, DataFrameReader, SparkSession

from spark_jobs.adapters.hadoop.field_mapper import fields_mapper
from spark_jobs.adapters.hadoop.java_answers import java_json, json_reader
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.values.garbage import rarely_collected
from spark_jobs.core.values.model import FileListing

log = logging.getLogger("lakekeeper")

#: Subdirectories are not taken for partitions, and the characters of a path are no glob.
_OPTIONS = {"recursiveFileLookup": "true", "__globPaths__": "false"}  # guard: listed_literally
#: With explicit paths, Spark starts up to 10,000 tasks to list them. The driver alone lists them faster.
LISTED_BY_DRIVER = {"spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000000"}
#: The fields of a `FileStatus` that are compared.
_COMPARED = ("path", "length", "modification_time")
_FILE_SYSTEM = re.compile(r"\A[a-z][a-z0-9+.-]*:(//[^/]*)?", re.IGNORECASE)


class IndexedFile(NamedTuple):
    """A file as Spark's index has it: path without the file system, length in bytes, mtime in ms since the epoch."""

    path: str
    length: int
    mtime: int


class ExactReader:
    """Reads the files of manifests, and no other files."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._index = _IndexReader(spark._jvm)

    def read(self, reader: DataFrameReader, manifests: Mapping[str, FileListing]) -> DataFrame:
        """Return the rows of exactly these files.

        Args:
            reader: has the format and the schema. Its session has the settings LISTED_BY_DRIVER.
            manifests: the files of each directory.

        Raises:
            LakekeeperError: a file is missing, or is not the one of the manifest.
        """
        expected = _expected(manifests)
        frame = reader.options(**_OPTIONS).load(list(manifests))
        if self._index.files(frame) == expected:  # guard: index_is_manifest
            return frame
        log.info(
            "%s: Spark sees other files there too, so the files are named one by one", ", ".join(manifests)
        )
        frame = self.paths(
            reader,
            [f"{directory}/{file.name}" for directory, files in manifests.items() for file in files.data],
        )
        _check(self._index.files(frame), expected)
        return frame

    def paths(self, reader: DataFrameReader, paths: Sequence[str]) -> DataFrame:
        """Return the rows of the files or directories with these paths. Spark may leave out a path that is missing."""
        # One call to the JVM: PySpark converts a list path by path.
        array = json_reader(self._jvm, "[Ljava.lang.String;").readValue(json.dumps(list(paths)))
        exact = reader.options(**_OPTIONS)
        return exact._df(exact._jreader.load(array))


@rarely_collected()
def _expected(manifests: Mapping[str, FileListing]) -> set[IndexedFile]:
    """Return the files that Spark's index must have."""
    return {
        IndexedFile(f"{place}/{file.name}", file.length, file.mtime)
        for place, files in ((without_server(directory), files) for directory, files in manifests.items())
        for file in files.data
    }


def _check(files: Set[IndexedFile], expected: Set[IndexedFile]) -> None:
    """Raise LakekeeperError if Spark would not read exactly the files of the manifest."""
    different = sorted({file.path for file in files ^ expected})
    if different:  # guard: inputs_as_listed
        more = f", and {len(different) - 1} more files" if len(different) > 1 else ""
        raise LakekeeperError(f"{different[0]}{more}: removed or replaced before the files were read")


def without_server(path: str) -> str:
    """Return a path without scheme and authority: file systems spell them in several ways."""
    return _FILE_SYSTEM.sub("", path)


class _IndexReader:
    """Reads the index of a DataFrame, in one call to the JVM."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self._mappers: dict[str, Any] = {}

    def files(self, frame: DataFrame) -> set[IndexedFile]:
        """Return the files that Spark will read for a DataFrame of files."""
        index = frame._jdf.queryExecution().analyzed().relation().location()
        statuses = self._jvm.scala.collection.JavaConverters.seqAsJavaList(index.allFiles())
        if not statuses.size():
            return set()
        mapper = self._mapper(statuses.get(0).getClass())
        with rarely_collected():
            return {
                IndexedFile(without_server(row["path"]), row["length"], row["modification_time"])
                for row in java_json(mapper, statuses)
            }

    def _mapper(self, kind: Any) -> Any:
        """Return the mapper for the statuses of one file system, which all have the same class."""
        name = str(kind.getName())
        if name not in self._mappers:
            self._mappers[name] = fields_mapper(self._jvm, {kind: _COMPARED})
        return self._mappers[name]

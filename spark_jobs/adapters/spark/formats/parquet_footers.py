"""The footers of Parquet files, by parquet-java on the driver, thousands of them by a few calls to the JVM."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.adapters.hadoop.java_errors import call, java_errors, root_cause
from spark_jobs.adapters.hadoop.statuses import java_slice
from spark_jobs.adapters.spark.spark_types import Reading, SparkTypes
from spark_jobs.core.errors import Refusal
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.parquet_statistics import file_statistics
from spark_jobs.core.formats.parquet_types import parse_message
from spark_jobs.core.journal_bounds import server_of
from spark_jobs.core.model import name_of, parent
from spark_jobs.core.refusals import RefusalCode

_BATCH = 1000
#: Classes that are serialized as text: their getters are not needed here, and some raise exceptions.
_AS_TEXT = (
    "org.apache.hadoop.fs.Path",
    "org.apache.parquet.schema.MessageType",
    "org.apache.parquet.schema.Type",
    "org.apache.parquet.column.EncodingStats",
    "org.apache.parquet.column.statistics.Statistics",
    "org.apache.parquet.crypto.InternalFileDecryptor",
    "org.apache.parquet.hadoop.metadata.ColumnPath",
    "org.apache.parquet.internal.hadoop.metadata.IndexReference",
)
#: Only newer Parquet libraries have these.
_AS_TEXT_IF_PRESENT = (
    "org.apache.parquet.column.statistics.SizeStatistics",
    "org.apache.parquet.column.statistics.geospatial.GeospatialStatistics",
)

#: Properties of a chunk that are not used: more than half of the text of a footer.
_UNUSED_OF_CHUNKS = (
    "rowGroupOrdinal",
    "encodingStats",
    "columnIndexReference",
    "offsetIndexReference",
    "dictionaryPageOffset",
    "totalUncompressedSize",
    "firstDataPageOffset",
    "primitiveType",
    "encodings",
    "startingPos",
    "type",
    "sizeStatistics",
    "geospatialStatistics",
    "bloomFilterLength",
)
_METADATA = "org.apache.parquet.hadoop.metadata"
_UNUSED = {
    f"{_METADATA}.IntColumnChunkMetaData": _UNUSED_OF_CHUNKS,
    f"{_METADATA}.LongColumnChunkMetaData": _UNUSED_OF_CHUNKS,
    f"{_METADATA}.BlockMetaData": ("path", "ordinal", "rowIndexOffset", "startingPos", "compressedSize"),
    f"{_METADATA}.FileMetaData": ("fileDecryptor", "encryptionType"),
}


class ParquetFooters:
    """Reads footers with parquet-java, in threads of the JVM."""

    def __init__(self, spark: SparkSession, types: SparkTypes) -> None:
        self._jvm: Any = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()
        self._gateway: Any = spark.sparkContext._gateway
        self._mapper = _footer_mapper(self._gateway)
        self._paths = self._jvm.java.lang.Class.forName("[Lorg.apache.hadoop.fs.Path;")
        self._types = types
        #: By the text of a file's schema, the columns as Spark reads them.
        self._readings: dict[str, Reading] = {}

    def read(self, files: Sequence[str]) -> list[Footer]:
        """Return one Footer for each file URI, in this order. Directories are listed together, each one once."""
        folders = _by_folder(files)
        found = self._read_together(folders)
        if found is None:
            found = {
                f"{folder}/{footer.name}": footer
                for folder, names in folders.items()
                for footer in self._read_folder(folder, names)
            }
        return [found[file] for file in files]

    def _read_together(self, folders: Mapping[str, Sequence[str]]) -> dict[str, Footer] | None:
        """Return the footers of files of several directories, by file; None if each directory must be read alone.

        That is so if a file is missing, or the names of its file system and directory are spelt in another way: then
        the error must name what is wrong.
        """
        files = [f"{folder}/{name}" for folder, names in folders.items() for name in names]
        if len(folders) <= 1 or len({server_of(folder) for folder in folders}) > 1:
            return None
        with java_errors(f"cannot read the footers of {len(files)} files, the first being {files[0]}"):
            paths = self._mapper.readValue(json.dumps(list(folders)), self._paths)
            listed = call(paths[0].getFileSystem(self._conf), "listStatus", paths)
            places = {path: number for number, path in enumerate(self._path_texts(listed))}
            if any(file not in places for file in files):
                return None
            order = sorted(files, key=places.__getitem__)
            return dict(
                zip(order, self._read_all(self._chosen(listed, [places[file] for file in order]), order))
            )

    def _read_folder(self, folder: str, names: Sequence[str]) -> list[Footer]:
        first = f"{folder}/{names[0]}"
        with java_errors(f"cannot read the footers of {len(names)} files, the first being {first}"):
            return self._read_all(self._statuses(folder, names), [f"{folder}/{name}" for name in names])

    def _read_all(self, statuses: Any, files: Sequence[str]) -> list[Footer]:
        """Return the footers of an array of statuses, in its order. Python decodes a batch while the JVM reads one."""
        read = partial(self._read_batch, statuses, len(files), files[0])
        batches = range(0, len(files), _BATCH)
        if len(batches) == 1:
            return read(0)
        with ThreadPoolExecutor(2) as pool:
            return [footer for batch in pool.map(read, batches) for footer in batch]

    def _statuses(self, folder: str, names: Sequence[str]) -> Any:
        """Return a Java array with the statuses of these files.

        They are taken from a listing, because a status for each file would take three calls to the JVM, and one to the
        NameNode.
        """
        path = self._jvm.org.apache.hadoop.fs.Path(folder)
        fs = path.getFileSystem(self._conf)
        if len(names) == 1:
            file, single = self._jvm.org.apache.hadoop.fs.Path(f"{folder}/{names[0]}"), self._objects(1)
            single[0] = fs.getFileStatus(file)
            return single
        listed = fs.listStatus(path)
        places = {name_of(path): number for number, path in enumerate(self._path_texts(listed))}
        missing = next((name for name in names if name not in places), None)
        if missing is not None:
            raise FileNotFoundError(f"{folder}/{missing} does not exist any more")
        return self._chosen(listed, sorted(places[name] for name in names))

    def _path_texts(self, listed: Any) -> list[str]:
        found: list[str] = java_json(self._mapper, self._jvm.org.apache.hadoop.fs.FileUtil.stat2Paths(listed))
        return found

    def _chosen(self, listed: Any, places: Sequence[int]) -> Any:
        """Return a Java array with the statuses at these places, which are in order."""
        chosen, copy = self._objects(len(places)), self._jvm.java.lang.System.arraycopy
        for start, place, count in _runs(places):
            copy(listed, place, chosen, start, count)
        return chosen

    def _objects(self, size: int) -> Any:
        return self._gateway.new_array(self._jvm.java.lang.Object, size)

    def _read_batch(self, statuses: Any, total: int, first: str, start: int) -> list[Footer]:
        part = java_slice(self._gateway, statuses, start, min(start + _BATCH, total))
        found = self._all_footers(self._jvm.java.util.Arrays.asList(part), first)
        rows = java_json(self._mapper, found)
        return [self._footer(row, found, number) for number, row in enumerate(rows)]

    def _all_footers(self, statuses: Any, first: str) -> Any:
        reader = self._jvm.org.apache.parquet.hadoop.ParquetFileReader
        try:
            return reader.readAllFootersInParallel(self._conf, statuses)
        except Py4JJavaError as error:
            # The library fails with this exception on a logical type that was added to Parquet after its release.
            if root_cause(error)[0] == "java.lang.NullPointerException":
                raise Refusal(
                    RefusalCode.TYPE, f"{first} holds a type that this Spark's Parquet library does not know"
                ) from None
            raise

    def _footer(self, row: dict[str, Any], found: Any, number: int) -> Footer:
        """Return a footer with the columns as Spark reads them.

        Thousands of files, and all partitions of a table, have only a few different schemas.
        """
        schema = row["parquetMetadata"]["fileMetaData"]["schema"]
        if schema not in self._readings:
            message = found.get(number).getParquetMetadata().getFileMetaData().getSchema()
            self._readings[schema] = self._types.of_parquet(message)
        return _parquet_footer(row, self._readings[schema])


def _by_folder(files: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of files by directory, sorted as a listing of HDFS is: then they are one run of it."""
    found: dict[str, list[str]] = {}
    for file in files:
        found.setdefault(parent(file), []).append(name_of(file))
    return found


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Return the runs of consecutive numbers: where each begins among them, its first number, and its length."""
    start = 0
    for end in range(1, len(places) + 1):
        if end == len(places) or places[end] != places[end - 1] + 1:
            yield start, places[start], end - start
            start = end


def _parquet_footer(row: dict[str, Any], reading: Reading) -> Footer:
    metadata, name = row["parquetMetadata"], name_of(row["file"])
    about, blocks = metadata["fileMetaData"], metadata["blocks"]
    chunks = [column for block in blocks for column in block["columns"]]
    leaves, created_by = parse_message(about["schema"]), about.get("createdBy") or ""
    codecs: Counter[str] = Counter()
    for chunk in chunks:
        codecs[chunk["codec"]] += chunk["totalSize"]
        if chunk.get("encrypted"):
            raise Refusal(
                RefusalCode.ENCRYPTED,
                f"{name} holds encrypted columns; a rewrite would store them without encryption",
            )
    return Footer(
        name=name,
        rows=sum(block["rowCount"] for block in blocks),
        codecs=codecs,
        leaves=leaves,
        writer=about["keyValueMetaData"],
        schema=about["schema"],
        struct=reading.struct,
        problem=reading.problem,
        created_by=created_by,
        row_group=max(block["totalByteSize"] for block in blocks) if len(blocks) > 1 else 0,
        blooms=_blooms(chunks),
        statistics=file_statistics(leaves, blocks, created_by),
    )


def _blooms(chunks: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Return the columns that have a Bloom filter in all row groups.

    The `path` of a chunk is the text of a Java list: `[a, list, element]`.
    """
    without = {chunk["path"] for chunk in chunks if chunk.get("bloomFilterOffset", -1) < 0}
    paths = {chunk["path"] for chunk in chunks} - without
    return frozenset(path[1:-1].replace(", ", ".") for path in paths)


def _footer_mapper(gateway: Any) -> Any:
    """Return a Jackson mapper for lists of Parquet footers: 500 footers in a quarter of a second instead of 20 s."""
    jvm = gateway.jvm
    databind = jvm.com.fasterxml.jackson.databind
    mapper = databind.ObjectMapper()
    mapper.disable(databind.SerializationFeature.FAIL_ON_EMPTY_BEANS)
    module = databind.module.SimpleModule()
    for name in (*_AS_TEXT, *_present(jvm)):
        module.addSerializer(jvm.java.lang.Class.forName(name), databind.ser.std.ToStringSerializer.instance)
    for name, properties in _UNUSED.items():
        mapper.configOverride(jvm.java.lang.Class.forName(name)).setIgnorals(_ignored(gateway, properties))
    return mapper.registerModule(module)


def _ignored(gateway: Any, properties: Sequence[str]) -> Any:
    names = gateway.new_array(gateway.jvm.java.lang.String, len(properties))
    for number, name in enumerate(properties):
        names[number] = name
    return gateway.jvm.com.fasterxml.jackson.annotation.JsonIgnoreProperties.Value.forIgnoredProperties(names)


def _present(jvm: Any) -> list[str]:
    """Return those optional classes that the Parquet library of this Spark has."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return [
        name
        for name in _AS_TEXT_IF_PRESENT
        if loader.getResource(name.replace(".", "/") + ".class") is not None
    ]

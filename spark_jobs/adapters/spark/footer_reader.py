"""Reads the footers of a unit's files, many in one round trip."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import java_errors, root_cause
from spark_jobs.adapters.spark.header_reader import HeaderReader
from spark_jobs.adapters.spark.spark_types import Reading, SparkTypes
from spark_jobs.core.errors import Refusal
from spark_jobs.core.footers import Footer
from spark_jobs.core.formats import ORC, PARQUET
from spark_jobs.core.model import name_of
from spark_jobs.core.orc_types import local_time, parse_struct
from spark_jobs.core.parquet_types import parse_message
from spark_jobs.core.refusals import RefusalCode

_BATCH = 1000
_THREADS = 8
#: Classes that are told by their text: their getters are of no use here, and some throw.
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


class FooterReader:
    """Footers by the JVM's own readers, in threads on the driver: no Spark job, no Python on the executors."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()
        self._mapper = _footer_mapper(self._jvm)
        self._types = SparkTypes(spark)
        self._heads = HeaderReader(spark)

    def read(self, files: Sequence[str], file_format: str) -> list[Footer]:
        """One Footer per file URI; raises OSError for a file that has none."""
        if file_format != PARQUET:
            with ThreadPoolExecutor(_THREADS) as pool:
                return list(pool.map(lambda file: self._one(file, file_format), files))
        return [
            footer for i in range(0, len(files), _BATCH) for footer in self._parquet(files[i : i + _BATCH])
        ]

    def _one(self, file: str, file_format: str) -> Footer:
        return self._orc(file) if file_format == ORC else self._heads.read(file, file_format)

    def _parquet(self, files: Sequence[str]) -> list[Footer]:
        statuses = self._jvm.java.util.ArrayList()
        with java_errors(f"cannot read the footers of {len(files)} files, the first being {files[0]}"):
            for file in files:
                path = self._jvm.org.apache.hadoop.fs.Path(file)
                statuses.add(path.getFileSystem(self._conf).getFileStatus(path))
            found = self._all_footers(statuses, files[0])
            rows = json.loads(self._mapper.writeValueAsString(found))
        return self._with_structs(found, [_parquet_footer(row) for row in rows])

    def _all_footers(self, statuses: Any, first: str) -> Any:
        reader = self._jvm.org.apache.parquet.hadoop.ParquetFileReader
        try:
            return reader.readAllFootersInParallel(self._conf, statuses)
        except Py4JJavaError as error:
            # Parquet's library stumbles over logical types that are younger than it.
            if root_cause(error)[0] == "java.lang.NullPointerException":
                raise Refusal(
                    RefusalCode.TYPE, f"{first} holds a type that this Spark's Parquet library does not know"
                ) from None
            raise

    def _with_structs(self, found: Any, footers: list[Footer]) -> list[Footer]:
        """What Spark makes of each schema; there are few different ones among thousands of files."""
        known: dict[str, Reading] = {}
        for number, footer in enumerate(footers):
            if footer.schema not in known:
                message = found.get(number).getParquetMetadata().getFileMetaData().getSchema()
                known[footer.schema] = self._types.of_parquet(message)
        return [_with(footer, known[footer.schema]) for footer in footers]

    def _orc(self, file: str) -> Footer:
        orc = self._jvm.org.apache.orc.OrcFile
        path = self._jvm.org.apache.hadoop.fs.Path(file)
        with java_errors(f"cannot read the footer of {file}"):
            reader = orc.createReader(path, orc.readerOptions(self._conf))
            try:
                if len(reader.getColumnEncryptionKeys()):
                    # Who has no key reads masked values, and would write them for good.
                    raise Refusal(RefusalCode.ENCRYPTED, f"{name_of(file)} holds encrypted columns")
                schema = reader.getSchema()
                return _with(self._orc_footer(name_of(file), reader), self._types.of_orc(schema))
            finally:
                reader.close()

    def _orc_footer(self, name: str, reader: Any) -> Footer:
        codec, schema = str(reader.getCompressionKind().toString()), str(reader.getSchema().toString())
        decode = self._jvm.java.nio.charset.StandardCharsets.ISO_8859_1.decode
        writer = {
            str(key): str(decode(reader.getMetadataValue(key)).toString()) for key in reader.getMetadataKeys()
        }
        common = (
            schema,
            codec,
            reader.getRowIndexStride(),
            reader.getFileVersion().toString(),
            reader.getWriterVersion().toString(),
            sorted(writer.items()),
        )
        return Footer(
            name,
            reader.getNumberOfRows(),
            {codec: reader.getContentLength()},
            parse_struct(schema),
            writer,
            schema,
            layout=repr(common),
            zones=_zones(reader) if local_time(schema) else frozenset(),
        )


def _zones(reader: Any) -> frozenset[str]:
    rows = reader.rows()
    try:
        return frozenset(
            str(rows.readStripeFooter(stripe).getWriterTimezone()) for stripe in reader.getStripes()
        )
    finally:
        rows.close()


def _parquet_footer(row: dict[str, Any]) -> Footer:
    metadata, name = row["parquetMetadata"], name_of(row["file"])
    about, blocks = metadata["fileMetaData"], metadata["blocks"]
    chunks = [column for block in blocks for column in block["columns"]]
    codecs: Counter[str] = Counter()
    for chunk in chunks:
        codecs[chunk["codec"]] += chunk["totalSize"]
        if chunk.get("encrypted"):
            raise Refusal(
                RefusalCode.ENCRYPTED,
                f"{name} holds encrypted columns; a rewrite would store them in the clear",
            )
    return Footer(
        name=name,
        rows=sum(block["rowCount"] for block in blocks),
        codecs=codecs,
        leaves=parse_message(about["schema"]),
        writer=about["keyValueMetaData"],
        schema=about["schema"],
        created_by=about.get("createdBy") or "",
        row_group=max(block["totalByteSize"] for block in blocks) if len(blocks) > 1 else 0,
        blooms=_blooms(chunks),
    )


def _blooms(chunks: Sequence[dict[str, Any]]) -> frozenset[str]:
    """`path` is the text of a Java list: `[a, list, element]`."""
    without = {chunk["path"] for chunk in chunks if chunk.get("bloomFilterOffset", -1) < 0}
    paths = {chunk["path"] for chunk in chunks} - without
    return frozenset(path[1:-1].replace(", ", ".") for path in paths)


def _with(footer: Footer, reading: Reading) -> Footer:
    return replace(footer, struct=reading.struct, problem=reading.problem)


def _footer_mapper(jvm: Any) -> Any:
    """A Jackson mapper for lists of Parquet footers: 500 footers in a quarter of a second instead of 20."""
    databind = jvm.com.fasterxml.jackson.databind
    mapper = databind.ObjectMapper()
    mapper.disable(databind.SerializationFeature.FAIL_ON_EMPTY_BEANS)
    module = databind.module.SimpleModule()
    for name in (*_AS_TEXT, *_present(jvm)):
        module.addSerializer(jvm.java.lang.Class.forName(name), databind.ser.std.ToStringSerializer.instance)
    return mapper.registerModule(module)


def _present(jvm: Any) -> list[str]:
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return [
        name
        for name in _AS_TEXT_IF_PRESENT
        if loader.getResource(name.replace(".", "/") + ".class") is not None
    ]

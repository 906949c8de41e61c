"""Parquet: written by Spark, or copied record by record. The footers of many files are read in one call to the JVM."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import java_errors, root_cause
from spark_jobs.adapters.spark.formats.spark_format import RecordClasses, SparkFormat
from spark_jobs.adapters.spark.formats.type_changes import changed_type, with_reading
from spark_jobs.adapters.spark.spark_types import Reading, SparkTypes
from spark_jobs.core.errors import Refusal
from spark_jobs.core.formats.encoding import PARQUET_SETTINGS, Encoding, Engine, calendar_settings
from spark_jobs.core.formats.footers import Footer, Leaves, Profile
from spark_jobs.core.formats.parquet_statistics import file_statistics
from spark_jobs.core.formats.parquet_types import parse_message
from spark_jobs.core.formats.struct_types import nullable
from spark_jobs.core.model import name_of
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.ports import RewriteRequest

_BATCH = 1000
#: Parquet pages may carry a CRC-32 of their bytes, which parquet-java does not compare by default. A rewrite computes
#: new ones, so that damaged bytes would pass for sound ones from then on.
_COMPARE_CHECKSUMS = {"parquet.page.verify-checksum.enabled": "true"}  # guard: page_checksums_compared
#: The names of parquet-java for codecs that Spark calls otherwise.
_CODECS = {"none": "UNCOMPRESSED"}
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


class ParquetFormat(SparkFormat):
    """Parquet, with footers by parquet-java, in threads on the driver."""

    options = _COMPARE_CHECKSUMS

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(spark)
        self._mapper = _footer_mapper(self._jvm)
        self._types = SparkTypes(spark)

    def read(self, files: Sequence[str]) -> list[Footer]:
        return [
            footer for i in range(0, len(files), _BATCH) for footer in self._read_batch(files[i : i + _BATCH])
        ]

    def _read_one(self, file: str) -> Footer:
        return self._read_batch([file])[0]

    def _read_batch(self, files: Sequence[str]) -> list[Footer]:
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
            # The library fails with this exception on a logical type that was added to Parquet after its release.
            if root_cause(error)[0] == "java.lang.NullPointerException":
                raise Refusal(
                    RefusalCode.TYPE, f"{first} holds a type that this Spark's Parquet library does not know"
                ) from None
            raise

    def _with_structs(self, found: Any, footers: list[Footer]) -> list[Footer]:
        """Return the footers with the columns as Spark reads them.

        Thousands of files have only a few different schemas.
        """
        known: dict[str, Reading] = {}
        for number, footer in enumerate(footers):
            if footer.schema not in known:
                message = found.get(number).getParquetMetadata().getFileMetaData().getSchema()
                known[footer.schema] = self._types.of_parquet(message)
        return [with_reading(footer, known[footer.schema]) for footer in footers]

    def encoding(self, profile: Profile) -> Encoding:
        """Return Spark as the engine if it writes the types that it has read, with one of its settings.

        Else the records are copied, if a copy loses nothing.

        Raises:
            Refusal: neither keeps the files as they are.
        """
        difference = profile.problem
        for encoding, leaves in self._candidates(profile):
            found = changed_type(profile.leaves, leaves)
            if found is None:
                return encoding
            difference = difference or found
        obstacle = self._cannot_copy(profile)
        if obstacle is None:
            dates = calendar_settings(profile.calendar, profile.int96_calendar, profile.zone)
            return Encoding(Engine.COPY, dates)
        raise Refusal(RefusalCode.TYPE, f"{difference}; {obstacle}")

    def _candidates(self, profile: Profile) -> Iterator[tuple[Encoding, Leaves]]:
        """Return the settings of Spark's writer to try, its defaults first, with the types that it would write."""
        if profile.struct is None:
            return
        dates = calendar_settings(profile.calendar, profile.int96_calendar, profile.zone)
        for exact in (False, True):
            struct = profile.struct if exact else nullable(profile.struct)
            for settings in PARQUET_SETTINGS:
                leaves = parse_message(self._types.parquet_text(struct, settings))
                yield Encoding(Engine.SPARK, {**dates, **settings}, exact), leaves

    def _cannot_copy(self, profile: Profile) -> str | None:
        """Return why the files cannot be copied: a copy has one schema, and none of the metadata of footers."""
        if len(profile.schemas) != 1:
            return "it cannot be copied record by record either, because the files differ in their schemas"
        if profile.meant:
            return "it cannot be copied record by record either, because Spark or Hive noted the calendar of its dates"
        if not self._is_text(profile.schemas[0]):
            return (
                "it cannot be copied record by record either, because a column's name cannot be written in the text of"
                " a schema"
            )
        return None

    def _is_text(self, schema: str) -> bool:
        """Tell whether the schema is the same after it was written as text and parsed, as the writer does.

        Some column names are changed by this.
        """
        try:
            parsed = self._jvm.org.apache.parquet.schema.MessageTypeParser.parseMessageType(schema)
        except Exception:
            return False
        return str(parsed.toString()) == schema

    def record_classes(self, request: RewriteRequest) -> RecordClasses:
        return RecordClasses(
            "org.apache.parquet.hadoop.example.ExampleInputFormat",
            "org.apache.parquet.hadoop.example.ExampleOutputFormat",
            "java.lang.Void",
            "org.apache.parquet.example.data.Group",
        )

    def record_settings(self, request: RewriteRequest) -> Mapping[str, str]:
        (schema,), codec = request.profile.schemas, request.profile.codec
        return {
            **_COMPARE_CHECKSUMS,
            "parquet.example.schema": schema,
            "parquet.compression": _CODECS.get(codec, codec.upper()),
            "parquet.summary.metadata.level": "NONE",
            "parquet.enable.summary-metadata": "false",
        }


def _parquet_footer(row: dict[str, Any]) -> Footer:
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


def _footer_mapper(jvm: Any) -> Any:
    """Return a Jackson mapper for lists of Parquet footers: 500 footers in a quarter of a second instead of 20 s."""
    databind = jvm.com.fasterxml.jackson.databind
    mapper = databind.ObjectMapper()
    mapper.disable(databind.SerializationFeature.FAIL_ON_EMPTY_BEANS)
    module = databind.module.SimpleModule()
    for name in (*_AS_TEXT, *_present(jvm)):
        module.addSerializer(jvm.java.lang.Class.forName(name), databind.ser.std.ToStringSerializer.instance)
    return mapper.registerModule(module)


def _present(jvm: Any) -> list[str]:
    """Return those optional classes that the Parquet library of this Spark has."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return [
        name
        for name in _AS_TEXT_IF_PRESENT
        if loader.getResource(name.replace(".", "/") + ".class") is not None
    ]

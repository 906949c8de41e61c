"""Parquet: written by Spark, or copied record by record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import is_java_error
from spark_jobs.adapters.spark.formats.parquet_footers import ParquetFooters
from spark_jobs.adapters.spark.formats.spark_format import RecordClasses, SparkFormat, changed_type
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.core.formats.encoding import PARQUET_SETTINGS, Encoding, Engine, calendar_settings
from spark_jobs.core.formats.footers import Footer, Leaves, Profile
from spark_jobs.core.formats.hadoop_values import variable_in
from spark_jobs.core.formats.parquet_types import parse_message, unwritable
from spark_jobs.core.formats.struct_types import nullable
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from spark_jobs.protocol.ports import RewriteRequest

#: Parquet pages may carry a CRC-32 of their bytes, which parquet-java does not compare by default. A rewrite computes
#: new ones, so that damaged bytes would pass for sound ones from then on.
_COMPARE_CHECKSUMS = {"parquet.page.verify-checksum.enabled": "true"}  # guard: page_checksums_compared
#: The names of parquet-java for codecs that Spark calls otherwise.
_CODECS = {"none": "UNCOMPRESSED"}


class ParquetFormat(SparkFormat):
    """Parquet, with footers by parquet-java, in threads on the driver."""

    options = _COMPARE_CHECKSUMS

    def __init__(self, spark: SparkSession, calls: NameNodeCalls) -> None:
        super().__init__(spark, calls)
        self._types = SparkTypes(spark)
        self._footers = ParquetFooters(spark, self._types, calls)
        #: By codec, what is missing for it.
        self._missing: dict[str, str | None] = {}

    def read(self, directories: Sequence[tuple[str, FileListing]]) -> list[list[Footer]]:
        return self._footers.read(directories)

    def encoding(self, profile: Profile) -> Encoding:
        """Return Spark as the engine if it writes the types that it has read, with one of its settings.

        Else the records are copied, if a copy loses nothing.

        Raises:
            Refusal: neither keeps the files as they are.
        """
        for codec in {profile.codec, *profile.codecs}:
            self._check_codec(codec)
        variable = variable_in(profile.schemas)
        if variable:  # guard: parquet_names_without_variables
            raise variable
        difference = profile.problem
        for encoding, leaves in self._candidates(profile):
            changed = changed_type(profile.leaves, leaves)
            if changed is None:
                return encoding
            difference = difference or changed
        obstacle = self._cannot_copy(profile)
        if obstacle is None:
            dates = calendar_settings(profile.calendar, profile.int96_calendar, profile.zone)
            return Encoding(Engine.COPY, dates)
        raise Refusal(RefusalCode.TYPE, f"{difference}; {obstacle}")

    def _check_codec(self, codec: str) -> None:
        """Raise Refusal for a codec that this Spark does not know, or whose class is missing (LZO, Brotli)."""
        if codec not in self._missing:
            self._missing[codec] = self._lack(codec)
        lack = self._missing[codec]
        if lack:  # guard: classes_of_codecs
            raise Refusal(
                RefusalCode.CODEC,
                f"its files are, or the table declares (parquet.compression), {codec}: {lack}",
            )

    def _lack(self, codec: str) -> str | None:
        """Return why files cannot be read or written with a codec; None if they can."""
        options = self._jvm.org.apache.spark.sql.execution.datasources.parquet.ParquetOptions
        names = self._jvm.org.apache.parquet.hadoop.metadata.CompressionCodecName
        try:
            name = names.valueOf(options.getParquetCompressionCodecName(codec))
        except Exception as error:
            if not is_java_error(error):
                raise
            return "this Spark does not know it"
        class_name = name.getHadoopCompressionCodecClassName()
        if class_name is None or self._conf.getClassByNameOrNull(class_name) is not None:
            return None
        return f"its class {class_name} is not on the class path"

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
        if reason := unwritable(profile.leaves):
            return f"it cannot be copied record by record either, because {reason}"
        if len(profile.schemas) != 1:
            return "it cannot be copied record by record either, because the files differ in their schemas"
        if profile.has_interpretation_keys:
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
        }

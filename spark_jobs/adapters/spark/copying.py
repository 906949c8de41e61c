"""Writes a unit again record by record, with Hadoop's own input and output formats: no type of Spark's comes between.

It runs on Spark's executors, in the JVM alone. The classes come with every Spark distribution.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.header_reader import SEPARATOR
from spark_jobs.adapters.spark.sessions import COMMITTER
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.formats import AVRO, PARQUET, SEQUENCE
from spark_jobs.protocol.ports import RewriteRequest

_COMPRESS = "mapreduce.output.fileoutputformat.compress"
_NULL = "org.apache.hadoop.io.NullWritable"
#: FileInputFormat takes its paths as one text of wildcards, in which commas part them.
_WILD = re.compile(r"([{}\[\]*?\\])")
_PARTING = re.compile(r"([,\\])")


@dataclass(frozen=True)
class Formats:
    """The classes that read and write a file format."""

    reader: str
    writer: str
    key: str
    value: str


_FORMATS = {
    PARQUET: Formats(
        "org.apache.parquet.hadoop.example.ExampleInputFormat",
        "org.apache.parquet.hadoop.example.ExampleOutputFormat",
        "java.lang.Void",
        "org.apache.parquet.example.data.Group",
    ),
    AVRO: Formats(
        "org.apache.avro.mapreduce.AvroKeyInputFormat",
        "org.apache.avro.mapreduce.AvroKeyOutputFormat",
        "org.apache.avro.mapred.AvroKey",
        _NULL,
    ),
}
#: Codecs as Spark calls them -> as the formats' own writers do.
_PARQUET_CODECS = {"none": "UNCOMPRESSED"}


class Copier:
    """Copies records from many files into few."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = spark._jvm
        self._context = spark._jsc

    def write(self, plan: RewriteRequest) -> None:
        """Writes into the target folder. Names of its files are new: nothing that is written beside them later, or was
        before, bears the same."""
        formats = _formats(plan)
        reading = self._conf({**_common(plan), **_settings(plan)})
        conf = self._conf({**plan.options, **_common(plan), **_settings(plan)})
        key, value = self._class(formats.key), self._class(formats.value)
        records = self._context.newAPIHadoopRDD(reading, self._class(formats.reader), key, value)
        few, staging = records.coalesce(plan.target_files), f"{plan.target}/_copy"
        few.saveAsNewAPIHadoopFile(staging, key, value, self._class(formats.writer), conf)
        self._move_up(staging, plan.target, conf)

    def _move_up(self, staging: str, target: str, conf: Any) -> None:
        """Output formats insist on a folder that is not there yet."""
        hadoop = self._jvm.org.apache.hadoop.fs
        folder = hadoop.Path(staging)
        fs = folder.getFileSystem(conf)
        for status in fs.listStatus(folder):
            if not fs.rename(status.getPath(), hadoop.Path(f"{target}/{status.getPath().getName()}")):
                raise LakekeeperError(f"{status.getPath()} could not be moved to {target}")
        fs.delete(folder, False)

    def count(self, plan: RewriteRequest, files: Sequence[str]) -> int:
        """The records in some files, for formats that do not count them."""
        formats = _formats(plan)
        conf = self._conf({**_settings(plan), **_inputs(files)})
        classes = (self._class(name) for name in (formats.reader, formats.key, formats.value))
        return int(self._context.newAPIHadoopRDD(conf, *classes).count())

    def _conf(self, settings: Mapping[str, str]) -> Any:
        conf = self._jvm.org.apache.hadoop.conf.Configuration(self._context.hadoopConfiguration())
        for name, value in settings.items():
            conf.set(name, value)
        return conf

    def _class(self, name: str) -> Any:
        return self._jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)


def _formats(plan: RewriteRequest) -> Formats:
    """The classes of a sequence file's keys and values stand in its head."""
    if plan.file_format != SEQUENCE:
        return _FORMATS[plan.file_format]
    key, value = plan.profile.schemas[0].split(SEPARATOR)
    folder = "org.apache.hadoop.mapreduce.lib"
    return Formats(
        f"{folder}.input.SequenceFileInputFormat", f"{folder}.output.SequenceFileOutputFormat", key, value
    )


def _common(plan: RewriteRequest) -> dict[str, str]:
    return {
        **_inputs(plan.files),
        "mapreduce.output.basename": f"part-{uuid.uuid4()}",
        **COMMITTER,
        **({"dfs.replication": str(plan.replication)} if plan.replication else {}),
    }


def _inputs(files: Sequence[str]) -> dict[str, str]:
    return {
        "mapreduce.input.fileinputformat.inputdir": ",".join(_literal(file) for file in files),
        "mapreduce.input.fileinputformat.list-status.num-threads": "16",
    }


def _literal(file: str) -> str:
    """First so that no character is a wildcard, then so that the list is parted nowhere else."""
    return _PARTING.sub(r"\\\1", _WILD.sub(r"\\\1", file))


def _settings(plan: RewriteRequest) -> dict[str, str]:
    (schema,), codec = plan.profile.schemas, plan.profile.codec
    if plan.file_format == SEQUENCE:
        return _sequence_settings(codec)
    if plan.file_format == AVRO:
        return {
            "avro.schema.input.key": schema,
            "avro.schema.output.key": schema,
            "avro.serialization.data.model": "org.apache.avro.generic.GenericData",
            "avro.output.codec": codec,
            _COMPRESS: str(codec != "null").lower(),
        }
    return {
        "parquet.example.schema": schema,
        "parquet.compression": _PARQUET_CODECS.get(codec, codec.upper()),
        "parquet.summary.metadata.level": "NONE",
        "parquet.enable.summary-metadata": "false",
    }


def _sequence_settings(codec: str) -> dict[str, str]:
    kind, _, name = codec.partition(SEPARATOR)
    if not name:
        return {_COMPRESS: "false"}
    return {_COMPRESS: "true", f"{_COMPRESS}.type": kind, f"{_COMPRESS}.codec": name}

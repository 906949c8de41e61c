"""Copies files record by record, with Hadoop's input and output formats and without Spark's types.

The copy runs on Spark's executors, in the JVM only. All Spark distributions contain the classes.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.formats.spark_format import RecordClasses, SparkFormat
from spark_jobs.adapters.spark.sessions import COMMITTER
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.layout import fresh_name
from spark_jobs.protocol.ports import RewriteRequest

#: FileInputFormat takes its paths as one text: globs that are separated by commas.
_GLOB = re.compile(r"([{}\[\]*?\\])")
_SEPARATOR = re.compile(r"([,\\])")


class Copier:
    """Copies records from many files into few."""

    def __init__(self, spark: SparkSession, formats: Mapping[str, SparkFormat]) -> None:
        self._jvm = spark._jvm
        self._context = spark._jsc
        self._formats = formats

    def write(self, request: RewriteRequest) -> None:
        """Write the copies into the target directory, under names that no other file there has, or gets later."""
        classes, settings = self._copy_of(request)
        reading = self._conf({**_common(request), **settings})
        conf = self._conf({**request.options, **_common(request), **settings})
        key, value = self._class(classes.key), self._class(classes.value)
        records = self._context.newAPIHadoopRDD(reading, self._class(classes.input_format), key, value)
        few, staging = records.coalesce(request.target_files), f"{request.target}/_copy"
        output = self._class(classes.output_format)
        if classes.old_output:
            few.saveAsHadoopFile(
                staging, key, value, output, self._jvm.org.apache.hadoop.mapred.JobConf(conf)
            )
        else:
            few.saveAsNewAPIHadoopFile(staging, key, value, output, conf)
        self._move_up(staging, request.target, conf)

    def _move_up(self, staging: str, target: str, conf: Any) -> None:
        """Move the files from the directory that the output format has created, and give them new names.

        Not every output format can be told the names of its files.
        """
        hadoop, token = self._jvm.org.apache.hadoop.fs, uuid.uuid4().hex
        folder = hadoop.Path(staging)
        fs = folder.getFileSystem(conf)
        for status in fs.listStatus(folder):
            name = fresh_name(str(status.getPath().getName()), token)  # guard: copies_named_fresh
            if not fs.rename(status.getPath(), hadoop.Path(f"{target}/{name}")):
                raise LakekeeperError(
                    f"cannot rename {status.getPath()} to {target}/{name}: the file system has refused it"
                )
        fs.delete(folder, False)

    def count(self, request: RewriteRequest, files: Sequence[str]) -> int:
        """Return the number of records in some files, for formats that do not count them."""
        classes, settings = self._copy_of(request)
        conf = self._conf({**settings, **_inputs(files)})
        loaded = (self._class(name) for name in (classes.input_format, classes.key, classes.value))
        return int(self._context.newAPIHadoopRDD(conf, *loaded).count())

    def _copy_of(self, request: RewriteRequest) -> tuple[RecordClasses, Mapping[str, str]]:
        form = self._formats[request.file_format]
        return form.record_classes(request), form.record_settings(request)

    def _conf(self, settings: Mapping[str, str]) -> Any:
        conf = self._jvm.org.apache.hadoop.conf.Configuration(self._context.hadoopConfiguration())
        for name, value in settings.items():
            conf.set(name, value)
        return conf

    def _class(self, name: str) -> Any:
        return self._jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)


def _common(request: RewriteRequest) -> dict[str, str]:
    return {
        **_inputs(request.files),
        **COMMITTER,
        **({"dfs.replication": str(request.replication)} if request.replication else {}),
    }


def _inputs(files: Sequence[str]) -> dict[str, str]:
    return {
        "mapreduce.input.fileinputformat.inputdir": ",".join(_literal(file) for file in files),
        "mapreduce.input.fileinputformat.list-status.num-threads": "16",
    }


def _literal(file: str) -> str:
    """Escape a path for an input path list: first the characters of globs, then those that separate paths."""
    return _SEPARATOR.sub(r"\\\1", _GLOB.sub(r"\\\1", file))

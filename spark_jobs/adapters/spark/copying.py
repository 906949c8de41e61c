"""Copies files record by record, with Hadoop's input and output formats and without Spark's types.

The copy runs on Spark's executors, in the JVM only. All Spark distributions contain the classes.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.data_configuration import data_configuration
from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.adapters.spark.sessions import COMMITTER
from spark_jobs.core.formats.hadoop_values import is_literal
from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.layout import fresh_name
from spark_jobs.protocol.ports import RewriteRequest

#: FileInputFormat takes its paths as one text: globs that are separated by commas.
_GLOB = re.compile(r"([{}\[\]*?\\])")
_SEPARATOR = re.compile(r"([,\\])")


class Copier:
    """Copies records from many files into few."""

    def __init__(self, spark: SparkSession, formats: Mapping[str, SparkFormat]) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm
        self._context = spark._jsc
        self._formats = formats

    @cached_property
    def _plain(self) -> Any:
        return data_configuration(self._spark)

    def write(self, request: RewriteRequest) -> None:
        """Write the copies into the target directory, under names that no other file there has, or gets later."""
        form = self._formats[request.file_format]
        classes, settings = form.record_classes(request), form.record_settings(request)
        records, _ = self.pairs(request, request.files, classes.input_format, classes.key, classes.value)
        conf = self._conf({**request.options, **_common(request), **settings})
        few, staging = records.coalesce(request.target_files), f"{request.target}/_copy"
        key, value, output = (
            self._class(each) for each in (classes.key, classes.value, classes.output_format)
        )
        few.saveAsNewAPIHadoopFile(staging, key, value, output, conf)
        self._move_up(staging, request.target, conf)

    def pairs(
        self, request: RewriteRequest, paths: Sequence[str], input_format: str, key: str, value: str
    ) -> tuple[Any, Any]:
        """Return the records of files, or of the files of directories, as Java's RDD of pairs; and its configuration.

        Args:
            input_format, key, value: the names of Java classes.
        """
        settings = self._formats[request.file_format].record_settings(request)
        conf = self._conf({**settings, **_inputs(paths)})
        loaded = (self._class(name) for name in (input_format, key, value))
        return self._context.newAPIHadoopRDD(conf, *loaded), conf

    def _move_up(self, staging: str, target: str, conf: Any) -> None:
        """Move the files from the directory that the output format has created, and give them new names.

        Not every output format can be told the names of its files.
        """
        hadoop, token = self._jvm.org.apache.hadoop.fs, uuid.uuid4().hex
        directory = hadoop.Path(staging)
        fs = directory.getFileSystem(conf)
        for status in fs.listStatus(directory):
            name = fresh_name(str(status.getPath().getName()), token)  # guard: copies_named_fresh
            if not fs.rename(status.getPath(), hadoop.Path(f"{target}/{name}")):
                raise LakekeeperError(
                    f"cannot rename {status.getPath()} to {target}/{name}: the file system has refused it"
                )
        fs.delete(directory, False)

    def _conf(self, settings: Mapping[str, str]) -> Any:
        conf = self._jvm.org.apache.hadoop.conf.Configuration(self._plain)
        for name, value in settings.items():
            if not is_literal(value):  # guard: settings_are_literal
                raise Refusal(RefusalCode.TYPE, f"{value!r} has a variable, which Hadoop would replace")
            conf.set(name, value)
        return conf

    def _class(self, name: str) -> Any:
        return self._jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)


def _common(request: RewriteRequest) -> dict[str, str]:
    return {**COMMITTER, **({"dfs.replication": str(request.replication)} if request.replication else {})}


def _inputs(files: Sequence[str]) -> dict[str, str]:
    return {
        "mapreduce.input.fileinputformat.inputdir": ",".join(_literal(file) for file in files),
        "mapreduce.input.fileinputformat.list-status.num-threads": "16",
    }


def _literal(file: str) -> str:
    """Escape a path for an input path list: first the characters of globs, then those that separate paths."""
    return _SEPARATOR.sub(r"\\\1", _GLOB.sub(r"\\\1", file))  # guard: paths_are_no_patterns

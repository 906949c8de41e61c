"""Merges many ORC files into few, by stripes, on the driver."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import is_java_error
from spark_jobs.adapters.spark.data_configuration import data_configuration
from spark_jobs.adapters.spark.stripe_writer import StripeWriter
from spark_jobs.core.formats.stripes import Stripes
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import name_of
from spark_jobs.protocol.ports import RewriteRequest


class Merger:
    """Merges ORC files.

    No value is decoded, so that no value can change. The stripes stay as small as they were.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._gateway = spark.sparkContext._gateway
        self._spark = spark

    @cached_property
    def _plain(self) -> Any:
        return data_configuration(self._spark)

    def write(self, request: RewriteRequest) -> None:
        """Write the merged files into the target directory.

        Raises:
            Refusal: TYPE, ORC cannot merge a file with the others.
            LakekeeperError: a file cannot be read or written.
        """
        conf = self._jvm.org.apache.hadoop.conf.Configuration(self._plain)
        if request.replication:
            conf.set("dfs.replication", str(request.replication))
        token = uuid.uuid4()
        for number, share in enumerate(request.shares()):
            files = [f"{request.directory}/{file.name}" for file in share]
            target = f"{request.target}/part-{number:05}-{token}.orc"
            self._merge(files, target, conf, request.profile.stripes)

    def _merge(self, files: Sequence[str], target: str, conf: Any, stripes: Stripes | None) -> None:
        if stripes and stripes.bare_collections:
            self._append(files, target, conf)
            return
        orc, paths = self._jvm.org.apache.orc.OrcFile, self._paths(files)
        options = orc.writerOptions(conf)
        # ORC writes into the footer what the options say of the calendar, not what the files say.
        options.setProlepticGregorian(bool(stripes and stripes.proleptic))  # guard: calendar_of_stripes
        try:
            merged = orc.mergeFiles(self._jvm.org.apache.hadoop.fs.Path(target), options, paths)
        except Exception as error:
            if not is_java_error(error):
                raise
            # It has deleted what it wrote, and does not say which file it was.
            self._append(files, target, conf)
            return
        if merged.size() != len(files):
            left = sorted({name_of(file) for file in files} - {str(path.getName()) for path in merged})
            raise Refusal(
                RefusalCode.TYPE,
                f"ORC has not merged {left[0]}, in all {len(left)} of {len(files)} files: they differ in schema,"
                " compression or writer",
            )

    def _append(self, files: Sequence[str], target: str, conf: Any) -> None:
        with StripeWriter(self._gateway, conf, target) as writer:
            for file in files:
                writer.append(file)

    def _paths(self, files: Sequence[str]) -> Any:
        """Return a Java list of paths, in one call to the JVM."""
        mapper, loaded = self._jvm.com.fasterxml.jackson.databind.ObjectMapper(), self._jvm.java.lang.Class
        names = ("java.util.ArrayList", "org.apache.hadoop.fs.Path")
        kind = mapper.getTypeFactory().constructCollectionType(*(loaded.forName(name) for name in names))
        return mapper.readValue(json.dumps(files), kind)

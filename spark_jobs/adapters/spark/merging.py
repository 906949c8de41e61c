"""Merges many ORC files into few with ORC's own merge of stripes, on the driver."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.core.errors import VerificationFailed
from spark_jobs.protocol.ports import RewriteRequest


class Merger:
    """Merges ORC files.

    No value is decoded, so that no value can change. The stripes stay as small as they were.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = spark._jvm
        self._context = spark._jsc

    def write(self, request: RewriteRequest) -> None:
        """Write the merged files into the target directory.

        Raises:
            VerificationFailed: ORC could not merge a file with the others.
        """
        conf = self._jvm.org.apache.hadoop.conf.Configuration(self._context.hadoopConfiguration())
        if request.replication:
            conf.set("dfs.replication", str(request.replication))
        name = uuid.uuid4()
        for number, files in enumerate(_groups(request)):
            self._merge(files, f"{request.target}/part-{number:05}-{name}.orc", conf)

    def _merge(self, files: Sequence[str], target: str, conf: Any) -> None:
        orc, paths = self._jvm.org.apache.orc.OrcFile, self._paths(files)
        merged = orc.mergeFiles(self._jvm.org.apache.hadoop.fs.Path(target), orc.writerOptions(conf), paths)
        if merged.size() != len(files):
            raise VerificationFailed(
                f"ORC has not merged {len(files) - merged.size()} of {len(files)} files into {target}: they differ in"
                " schema, compression or writer"
            )

    def _paths(self, files: Sequence[str]) -> Any:
        """Return a Java list of paths, in one call to the JVM."""
        mapper, loaded = self._jvm.com.fasterxml.jackson.databind.ObjectMapper(), self._jvm.java.lang.Class
        names = ("java.util.ArrayList", "org.apache.hadoop.fs.Path")
        kind = mapper.getTypeFactory().constructCollectionType(*(loaded.forName(name) for name in names))
        return mapper.readValue(json.dumps(files), kind)


def _groups(request: RewriteRequest) -> list[list[str]]:
    """Return the files in their order, in groups of about equal size."""
    share, before = max(1, request.inputs.bytes) / request.target_files, 0
    groups: list[list[str]] = [[] for _ in range(request.target_files)]
    for uri, file in zip(request.files, request.inputs.data):
        groups[min(int(before / share), request.target_files - 1)].append(uri)
        before += file.length
    return [group for group in groups if group]

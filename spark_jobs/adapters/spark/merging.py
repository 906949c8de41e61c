"""Merges many ORC files into few with ORC's own merge of stripes, on the driver."""

from __future__ import annotations

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
        for number, files in enumerate(self._groups(request, conf)):
            self._merge(files, f"{request.target}/part-{number:05}-{name}.orc", conf)

    def _merge(self, files: Sequence[Any], target: str, conf: Any) -> None:
        orc, paths = self._jvm.org.apache.orc.OrcFile, self._jvm.java.util.ArrayList()
        for file in files:
            paths.add(file)
        merged = orc.mergeFiles(self._jvm.org.apache.hadoop.fs.Path(target), orc.writerOptions(conf), paths)
        if merged.size() != len(files):
            raise VerificationFailed(
                f"ORC has not merged {len(files) - merged.size()} of {len(files)} files into {target}: they differ in"
                " schema, compression or writer"
            )

    def _groups(self, request: RewriteRequest, conf: Any) -> list[list[Any]]:
        """Return the files in their order, in groups of about equal size."""
        paths = [self._jvm.org.apache.hadoop.fs.Path(file) for file in request.files]
        sizes = [int(path.getFileSystem(conf).getFileStatus(path).getLen()) for path in paths]
        share, before = max(1, sum(sizes)) / request.target_files, 0
        groups: list[list[Any]] = [[] for _ in range(request.target_files)]
        for path, size in zip(paths, sizes):
            groups[min(int(before / share), request.target_files - 1)].append(path)
            before += size
        return [group for group in groups if group]

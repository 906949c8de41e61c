"""What a job works with: one value that carries all effects."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime

from pyspark.sql import SparkSession

from spark_jobs.shell.clock import SystemClock
from spark_jobs.shell.files.footers import FooterReader
from spark_jobs.shell.files.rewrite import Rewriter
from spark_jobs.shell.hadoop.fs import HadoopFileSystem
from spark_jobs.shell.hadoop.metastore import Metastore
from spark_jobs.shell.ports import Catalog, Clock, FileSystem, Footers, Pools, Rewriting


@dataclass(frozen=True)
class Cluster:
    """File system, metastore, footers, rewriting, time and threads."""

    fs: FileSystem
    metastore: Catalog
    footers: Footers
    rewriter: Rewriting
    clock: Clock = field(default_factory=SystemClock)
    pool: Pools = ThreadPoolExecutor

    @classmethod
    def of(cls, spark: SparkSession) -> Cluster:
        fs = HadoopFileSystem(spark)
        return cls(fs, Metastore(spark, fs), FooterReader(spark), Rewriter(spark))

    def now(self) -> datetime:
        return self.clock.now()

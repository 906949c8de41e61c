"""What a job works with: one value that carries all effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import SparkSession

from spark_jobs.shell.footers import FooterReader
from spark_jobs.shell.fs import HadoopFileSystem
from spark_jobs.shell.journal_store import utc_now
from spark_jobs.shell.metastore import Metastore
from spark_jobs.shell.rewrite import Rewriter


@dataclass(frozen=True)
class Cluster:
    """File system, metastore, footers, rewriting and the clock."""

    fs: HadoopFileSystem
    metastore: Metastore
    footers: FooterReader
    rewriter: Rewriter
    now: Callable[[], datetime] = utc_now

    @classmethod
    def of(cls, spark: SparkSession) -> Cluster:
        fs = HadoopFileSystem(spark)
        return cls(fs, Metastore(spark, fs), FooterReader(spark), Rewriter(spark))

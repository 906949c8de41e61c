"""Class data sharing: Java maps an archive of Spark's classes, instead of reading and verifying each of them (JEP 350).

Java compares the archive with its own version and with the jars, and does without one that does not fit, so an archive
can be missing or out of date. As a program, this loads the classes for an archive.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from demo.services import java, paths


def archive(env: str) -> Path:
    """Return the file of an environment's archive; it may not exist."""
    return paths.env_dir(env) / "spark.jsa"


def java_options(env: str) -> str:
    """Return the options with which a driver uses the archive, and says nothing about one that does not fit."""
    return f"-XX:SharedArchiveFile={archive(env)} -Xlog:cds*=off"


def create_base(java_home: Path) -> None:
    """Write the archive of Java's own classes, which one from the package index lacks; the other builds on it."""
    subprocess.run(
        [java_home / "bin" / "java", "-Xshare:dump", "-Xlog:disable"], capture_output=True, check=False
    )


def create(env: str, environ: Mapping[str, str]) -> None:
    """Write the archive of an environment anew; leave it missing where this Java cannot write one.

    Args:
        environ: the variables of its Spark's programs
    """
    archive(env).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=paths.env_dir(env)) as folder:
        written = Path(folder, "spark.jsa")
        # What it cannot archive is logged to the standard output, a line for each class.
        options = f"{java.DRIVER_OPTIONS} -XX:ArchiveClassesAtExit={written} -Xlog:disable"
        own = {"PYTHONPATH": str(paths.ROOT), "SPARK_SUBMIT_OPTS": f"{options} -Dderby.system.home={folder}"}
        program = paths.spark_home(env) / "bin" / "spark-submit"
        command = [program, "--master", "local[2]", __file__, folder]
        done = subprocess.run(command, env={**environ, **own}, cwd=folder, capture_output=True, check=False)
        # Java crashes on a part of an archive, so it gets its name when it is whole.
        if done.returncode == 0 and written.exists():
            written.rename(archive(env))


def _load_classes(folder: str) -> None:
    """Use what the jobs use: Hive tables of Parquet and ORC files."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.config("spark.ui.enabled", "false").enableHiveSupport().getOrCreate()
    for stored in ("parquet", "orc"):
        spark.sql(
            f"CREATE EXTERNAL TABLE {stored} (id BIGINT, v STRING) PARTITIONED BY (p STRING) STORED AS {stored}"
            f" LOCATION '{Path(folder, stored).as_uri()}'"
        )
        files = spark.range(0, 100, 1, 2).selectExpr("id", "concat('v', id) AS v")
        files.write.format(stored).save(Path(folder, stored, "p=1").as_uri())
        spark.sql(f"MSCK REPAIR TABLE {stored}")
        spark.table(stored).groupBy("v").count().collect()
    spark.stop()


if __name__ == "__main__":
    _load_classes(sys.argv[1])

"""Files of another version of Spark, for this one to compact: `python -m tests.fidelity.elsewhere JOBS`.

JOBS is a JSON file: a list of [folder, SQL, file format, settings].
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demo.services import paths
from demo.services.java import DRIVER_OPTIONS
from demo.services.processes import own_environ
from tests.fidelity import spark_columns
from tests.fidelity.spark_columns import Job


def other_than(version: str) -> str:
    """The environment of the other Spark that the tests know."""
    return "spark-3.5" if version.startswith("4.") else "spark-4.3"


def write(env: str, jobs: Sequence[Job]) -> None:
    """In a process of that environment; raises where it fails."""
    if not jobs:
        return
    with tempfile.TemporaryDirectory() as scratch:
        listed = Path(scratch) / "jobs.json"
        listed.write_text(json.dumps(jobs))
        command = [paths.env_python(env), "-m", "tests.fidelity.elsewhere", str(listed)]
        environ = {**own_environ(), "SPARK_LOCAL_DIRS": scratch, "SPARK_SUBMIT_OPTS": DRIVER_OPTIONS}
        subprocess.run(command, cwd=paths.ROOT, env=environ, check=True)


def main(listed: str) -> None:
    from pyspark.sql import SparkSession

    spark: Any = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark_columns.write(spark, json.loads(Path(listed).read_text()))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])

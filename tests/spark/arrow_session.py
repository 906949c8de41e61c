"""A write by Arrow whose tasks meet with an accident, on two executors. It prints what was written, as JSON.

python -m tests.spark.arrow_session FOLDER ACCIDENT
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

UNITS, FILES, ROWS = 6, 4, 50


def _accident(kind: str, folder: Path, writing: Callable[..., Any]) -> Callable[..., Any]:
    """Return `worker.rewriting` with an accident in the first attempt of a task, after a part of the output.

    The numbers of attempts begin again where an executor is lost, so that a file says which task has had its accident.
    """

    def rewriting(*arguments: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
        inner = writing(*arguments)

        def rewrite(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            partition = TaskContext.get().partitionId()
            for batch in inner(batches):
                yield batch
                if (kind == "worker killed" or partition == 0) and first(partition):
                    meet()

        def first(partition: int) -> bool:
            try:
                os.close(os.open(f"{folder}/accident-{partition}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return False
            return True

        def meet() -> None:
            if kind == "worker killed":
                os.kill(os.getpid(), signal.SIGKILL)
            elif kind == "executor killed":
                # The parent of this process is PySpark's daemon, whose parent is the executor.
                status = Path(f"/proc/{os.getppid()}/stat").read_text()
                os.kill(int(status.rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
            else:
                time.sleep(60)

        return rewrite

    return rewriting


def main(folder: Path, kind: str) -> None:
    from pyspark.sql import SparkSession

    from spark_jobs.adapters.spark.arrow import rewriter
    from spark_jobs.adapters.spark.sessions import Sessions
    from spark_jobs.protocol.ports import RewriteRequest
    from tests.spark.toolbox import listed

    # Driver, master and executors find each other by it; the executors' logs are not left in Spark's own directory.
    os.environ.update(
        SPARK_LOCAL_IP="127.0.0.1", SPARK_WORKER_DIR=str(folder / "work"), PYSPARK_PYTHON=sys.executable
    )
    builder = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    for name, value in _SPECULATION.items() if kind == "speculation" else ():
        builder.config(name, value)
    spark = builder.config("spark.task.maxFailures", "8").getOrCreate()
    staging = folder / "staging"
    staging.mkdir()
    requests = []
    for unit in range(UNITS):
        place = folder / f"unit-{unit}"
        rows = spark.range(unit * ROWS * FILES, (unit + 1) * ROWS * FILES, 1, FILES)
        rows.selectExpr("id", "concat('v1', id) AS v").write.parquet(place.as_uri())
        directory, files = listed(place)
        profile = SimpleNamespace(codec="snappy")
        requests.append(RewriteRequest(directory, files, "parquet", "", 1, 1 << 27, profile))  # type: ignore[arg-type]
    rewriter.rewriting = _accident(kind, folder, rewriter.rewriting)  # type: ignore[assignment]
    found = rewriter.ArrowRewriter(spark, Sessions(spark)).write(requests, staging.as_uri())
    print(
        json.dumps({"refused": found.refused, "units": [_ids(staging / f"unit={n}") for n in range(UNITS)]})
    )


_SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
}


def _ids(folder: Path) -> list[int]:
    import pyarrow.parquet

    (file,) = (path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    return [row["id"] for row in pyarrow.parquet.ParquetFile(file).read().to_pylist()]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

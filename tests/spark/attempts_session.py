"""A session whose tasks may fail twice: it copies files, and the first attempt of each task fails after it has written.

A process of its own, because a session has its master from its start.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.byte_copies import ByteCopies, _Calls
from spark_jobs.core.values.model import FileEntry, FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

FILES = 3


def main(folder: Path) -> None:
    builder = SparkSession.builder.master("local[2,3]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    source, target = folder / "source", folder / "target"
    for path in (source, target):
        path.mkdir()
    for number in range(FILES):
        (source / f"part {number}").write_bytes(bytes([number]) * 3_000_000)
    files = FileListing.of(
        FileEntry(path.name, path.stat().st_size, 0) for path in source.iterdir() if path.name[0] != "."
    )
    copies = ByteCopies(spark, NameNodeCalls())
    with_paths = _Calls._with_paths

    def failing(calls: _Calls, expression: Any) -> Any:
        """Divide by the number of the attempt: the first one is 0."""
        context = "org.apache.spark.TaskContext"
        attempt = calls.invoke(calls.static(context, "get", context), "attemptNumber", "integer")
        divided = calls.static("java.lang.Math", "floorDiv", "long", calls.column("block"), attempt)
        return with_paths(calls, calls.static("java.lang.Math", "addExact", "long", expression, divided))

    _Calls._with_paths = failing  # type: ignore[method-assign]
    found = copies.copy(source.as_uri(), files, target.as_uri())
    _Calls._with_paths = with_paths  # type: ignore[method-assign]
    copies = ByteCopies(spark, NameNodeCalls())
    again = copies.copy(source.as_uri(), files, target.as_uri())
    shown = {
        "copies": found,
        "again": again,
        "written": sorted(path.name for path in target.iterdir() if path.name[0] != "."),
        "differing": [copies.differing(source.as_uri(), each) for each in (found, again)],
        "late": _late(copies, source, files, folder / "deleted"),
    }
    print(json.dumps(shown), flush=True)


def _late(copies: ByteCopies, source: Path, files: FileListing, target: Path) -> dict[str, Any]:
    """What an attempt does whose directory was deleted."""
    try:
        copies.copy(source.as_uri(), files, target.as_uri())
    except Exception as error:
        return {"error": type(error).__name__, "made": target.exists()}
    return {"error": None, "made": target.exists()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))

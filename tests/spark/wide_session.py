"""A rewrite in a session with many slots, in a process of its own. It prints what was done, as JSON.

python -m tests.spark.wide_session FOLDER FILES TARGET_FILES SLOTS
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The rows of the different files; the others are links to them.
_ROWS = (10, 60, 400)


def small_files(spark: SparkSession, folder: Path, files: int) -> int:
    """Many files of a few sizes. Returns the number of rows."""
    from tests.spark.toolbox import data_files, many

    folder.mkdir()
    originals = []
    for rows in _ROWS:
        place = folder.parent / f"rows-{rows}"
        many(spark, place.as_uri(), f"SELECT id, uuid() AS text FROM range({rows})", 1)
        (name,) = data_files(place)
        originals.append(place / name)
    for number in range(files):
        os.link(originals[number % len(_ROWS)], folder / f"part-{number:05}.parquet")
    return sum(_ROWS[number % len(_ROWS)] for number in range(files))


def rewrite(spark: SparkSession, folder: Path, rows: int, target_files: int) -> dict[str, Any]:
    """Rewrite a directory as a job rewrites 65,000 files with 3 GB.

    Returns the tasks of each stage, and the files that were written.
    """
    from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
    from spark_jobs.adapters.spark.formats.registry import spark_formats
    from spark_jobs.adapters.spark.rewriter import Rewriter
    from spark_jobs.core.formats import footers
    from spark_jobs.core.formats.footers import Profile
    from spark_jobs.core.planning.task_plan import plan_tasks
    from spark_jobs.core.values.model import FileListing
    from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
    from spark_jobs.protocol.measuring.phases import Phases
    from spark_jobs.protocol.ports import RewriteRequest

    fs, formats = HadoopFileSystem(spark), spark_formats(spark)
    rewriter, directory = Rewriter(spark, formats, Phases(), NameNodeCalls()), fs.qualify(folder.as_uri())
    inputs, target = fs.list_files(directory), folder.parent / "target"
    target.mkdir()
    some = FileListing(inputs.data[: len(_ROWS)])
    (read,) = formats["parquet"].read([(directory, some)])
    found = footers.profile(read, None, "parquet")
    profile = Profile(**{**vars(found), "rows": rows})
    plan = plan_tasks(65_000, 3000 * 1024 * 1024, target_files, rewriter.slots)
    request = RewriteRequest(
        directory,
        inputs,
        "parquet",
        target.as_uri(),
        target_files,
        inputs.bytes // target_files + 1,
        profile,
        rewriter.encoding(profile, "parquet"),
        read_tasks=plan.read,
    )
    rewriter.write(request)
    return {"slots": rewriter.slots, "stages": _stages(spark), "written": _written(target)}


def _stages(spark: SparkSession) -> list[int]:
    """The number of tasks of each stage of the last job."""
    tracker = spark.sparkContext.statusTracker()
    info = tracker.getJobInfo(max(tracker.getJobIdsForGroup()))
    stages = [tracker.getStageInfo(stage) for stage in sorted(info.stageIds)] if info else []
    return [stage.numTasks for stage in stages if stage]


def _written(target: Path) -> list[tuple[int, int]]:
    """The bytes and the rows of each file."""
    import pyarrow.parquet

    files = sorted(target.glob("part-*.parquet"))
    return [(file.stat().st_size, pyarrow.parquet.read_metadata(file).num_rows) for file in files]


def main(folder: str, files: str, target_files: str, slots: str) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{slots}]").config("spark.ui.enabled", "false")
    # The settings of the other tests, which this process inherits, say how many tasks run at once.
    builder = builder.config("spark.default.parallelism", slots)
    spark = builder.config("spark.local.dir", f"{folder}/local").getOrCreate()
    rows = small_files(spark, Path(folder, "t"), int(files))
    print(json.dumps({"rows": rows, **rewrite(spark, Path(folder, "t"), rows, int(target_files))}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

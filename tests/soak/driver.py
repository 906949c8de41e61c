"""A Spark driver that starts early and works when it is told: a kill need not wait for a JVM, nor a JVM for a kill.

    spark-submit tests/soak/driver.py FOLDER

Commands come as files in the folder, for spark-submit hands no stdin on: a job by its verb and words, run as the
shipped scripts run it, or SQL statements. The folder's `ready` says that the session stands. A job that is to `pause`
stops itself when it has done so many renames from or to live directories (0: right before the first one), and goes on
when it is continued and the folder has `resume`.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))

from pyspark.sql import SparkSession

from spark_jobs import __version__
from spark_jobs.adapters.composition import spark_services
from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.wire.report import Report
from spark_jobs.protocol.measuring.clock import utc_now
from spark_jobs.verbs.runner import run

#: A takeover must take seconds.
TAKEOVER = {"lease_timeout": "4s"}
POLL = 0.005
#: Longer than another job needs to take this one's place.
PAUSE_LIMIT = 600


def main(folder: Path) -> int:
    parent = os.getppid()
    logging.basicConfig(level="WARNING", format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    logging.getLogger("lakekeeper").setLevel("INFO")
    spark = SparkSession.builder.appName("soak").enableHiveSupport().getOrCreate()
    spark.sql("SHOW DATABASES").collect()  # the first question pays for the connection
    (folder / "ready").touch()
    for number in count(1):
        command = next_command(folder / f"{number:06d}.command.json", parent)
        pause = command.get("pause")
        with nullcontext() if pause is None else paused(folder / "resume", pause):
            answer = obey(spark, command)
        publish(folder / f"{number:06d}.answer.json", answer)
        if command.get("last"):
            spark.stop()
            return int(answer.get("exit_code", 0))
    raise AssertionError("unreachable")


def next_command(path: Path, parent: int) -> dict[str, Any]:
    """Waits; but without the JVM, its parent, there is nothing to wait for."""
    while not path.exists():
        if os.getppid() != parent:
            sys.exit(1)
        time.sleep(POLL)
    return dict(json.loads(path.read_text()))


def obey(spark: SparkSession, command: dict[str, Any]) -> dict[str, Any]:
    if "sql" in command:
        return {"rows": [[list(row) for row in spark.sql(text).collect()] for text in command["sql"]]}
    verb = command["verb"]
    report = Report(verb, __version__, started=utc_now())
    line = parse(verb, command["words"], "")
    line = replace(line, options={**TAKEOVER, **line.options})
    run(spark_services(spark), line, report)
    return {"exit_code": report.exit_code, "report": report.to_json()}


@contextmanager
def paused(resume: Path, renames: int) -> Iterator[None]:
    """All of this driver is stopped once so many renames from or to live directories are done, and before the next one.

    After one of them, a live directory is out of its place.
    """
    move, lock, done = HadoopFileSystem.move, threading.Lock(), 0

    def stop_once(after: int) -> None:
        if after == renames and not resume.exists():
            os.killpg(os.getpgrp(), signal.SIGSTOP)
            wait_for(resume)

    def moving(self: HadoopFileSystem, source: str, target: str, identity: str) -> None:
        nonlocal done
        if not (is_live(source) or is_live(target)):
            move(self, source, target, identity)
            return
        with lock:  # no other unit's rename may fill the gap, or begin one, before the signal arrives
            if done == 0:
                stop_once(0)
            move(self, source, target, identity)
            done += 1
            stop_once(done)

    HadoopFileSystem.move = moving  # type: ignore[method-assign]
    try:
        yield
    finally:
        HadoopFileSystem.move = move  # type: ignore[method-assign]


def is_live(path: str) -> bool:
    return "/.lakekeeper" not in path


def wait_for(path: Path) -> None:
    """The signal stops each thread in its own time: this one goes no further without being told."""
    deadline = time.monotonic() + PAUSE_LIMIT
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"paused between two renames, and {path} did not come for {PAUSE_LIMIT} s")
        time.sleep(POLL)


def publish(path: Path, answer: dict[str, Any]) -> None:
    """Whole or not at all."""
    staged = path.with_suffix(".tmp")
    staged.write_text(json.dumps(answer))
    staged.replace(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

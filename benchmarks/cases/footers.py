"""Read the footers of very many files, by the driver and by executors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.cases.case import Bench, Case
from benchmarks.datasets import DATASETS
from benchmarks.measuring import Measured, RunFailed
from benchmarks.places.local import LocalPlace, LocalTables
from benchmarks.workspace import PROGRAMS
from demo.services import paths

BY_DRIVER, BY_EXECUTORS = "footers by the driver", "footers by two executors"
#: The executors are processes of their own, so that what the driver takes is its own.
MASTERS = {BY_DRIVER: "local[*]", BY_EXECUTORS: "local-cluster[2,1,1024]"}
#: What the driver takes, in processor seconds; and the tasks of the job.
LISTING, FOOTERS, TASKS = "listing, processor seconds", "footers, processor seconds", "tasks"
AGAIN = "footers once more, processor seconds"


@dataclass(frozen=True)
class Footers:
    """A table whose files are only read."""

    place: LocalPlace
    tables: LocalTables

    @property
    def facts(self) -> dict[str, Any]:
        (unit,) = self.tables.units()
        return {"tables": 1, "units": 1, "files": unit.files, "bytes": unit.size}

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        label = f"footers-{step.replace(' ', '-')}-{number}"
        file = self.place.submit.logs / f"{label}.json"
        (unit,) = self.tables.units()
        location = (self.tables.seed / self.tables.names[0]).as_uri()
        measured = self.place.submit.run(
            label,
            PROGRAMS / "footers.py",
            location,
            "--figures",
            file,
            conf={"spark.master": MASTERS[step]},
            environ={"PYTHONPATH": str(paths.ROOT)},
        )
        found = json.loads(file.read_text())
        if found["files"] != unit.files:
            raise RunFailed(f"{label}: {found['files']} footers of {unit.files} files")
        times = {LISTING: found["listing"], FOOTERS: found["footers"], AGAIN: found["footers_again"]}
        return measured, {**times, TASKS: found["tasks"]}


@contextmanager
def _opened(bench: Bench) -> Iterator[Footers]:
    yield Footers(bench.local, bench.local.prepare(DATASETS["files-65000"]))


CASES = (
    Case(
        "footers-65000",
        "Footers of 65,000 files, local disk",
        "The figures are of the driver alone, its JVM and its Python: what it takes to list the files, and then for"
        " their footers, twice: the first query of a session is slower than any other. Seconds and processor seconds"
        " of the first table are of all processes and both readings. The executors are two processes that share the"
        " cores of this machine with the driver, and compile the same code each for itself: they are for clusters.",
        tuple(MASTERS),
        _opened,
        disk_gb=8,
    ),
)

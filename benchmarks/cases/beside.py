"""Compact some small files beside large ones, and query the table before and after: the cost, and the gain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import reports
from benchmarks.cases.case import Bench, Case
from benchmarks.cases.query import AFTER, BEFORE, Queried
from benchmarks.datasets import DATASETS, TARGET
from benchmarks.measuring import Measured, RunFailed
from benchmarks.places import contenders
from benchmarks.places.local import LocalPlace
from benchmarks.places.tables import facts

COPIED, REWRITTEN = "large files copied", "large files rewritten"
#: The options of each compaction. Any gain is enough.
_OPTIONS = {
    COPIED: ("--strategy", "auto", "--min-files-per-gb", "0"),
    REWRITTEN: ("--strategy", "full", "--ratio-threshold", "1"),
}


class Beside:
    """The table as it is before each step, and its files after the compaction that copies the large ones."""

    def __init__(self, place: LocalPlace) -> None:
        self._place = place
        self._tables = place.prepare(DATASETS["beside-large"])
        self._queried = Queried(place, self._tables, lambda label: self._compact(label, COPIED))

    @property
    def facts(self) -> dict[str, Any]:
        return facts(self._tables)

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        label = f"beside-{step.replace(' ', '-')}-{number}"
        self._tables.reset()
        return self._compact(label, step) if step in _OPTIONS else self._queried.run(step, label)

    def _compact(self, label: str, step: str) -> tuple[Measured, dict[str, Any]]:
        measured, report = contenders.ours(
            self._place.submit, label, "compact", self._tables, *_OPTIONS[step]
        )
        reports.require(report, label, "done")
        (unit,) = report["tables"][0]["units"]
        done = {COPIED: "minor", REWRITTEN: "full"}[step]
        if unit.get("strategy", "full") != done or unit["files_after"] >= unit["files"]:
            raise RunFailed(f"{label}: {unit}")
        written = reports.phases(report)["write"]
        figures = {
            "files_after": unit["files_after"],
            "write_seconds_per_gb": round(written / (unit["bytes"] / 1024**3), 2),
        }
        return measured, {**figures, "phases": reports.phases(report)}


@contextmanager
def _opened(bench: Bench) -> Iterator[Beside]:
    yield Beside(bench.local)


CASES = (
    Case(
        "beside-large",
        "Small files beside large ones, local disk",
        f"900 files of 44 KB beside 12 that are larger than {TARGET // 1024**2} MB. A compaction copies the large"
        " ones (`strategy=auto`) or rewrites them (`full`); the queries are those of the table before, and after the"
        " copy. The default of `min_files_per_gb` comes from what it costs to write a GB, and from what it saves each"
        " query ([when a partition is flagged](design/fidelity.md)).",
        (COPIED, REWRITTEN, BEFORE, AFTER),
        _opened,
        disk_gb=8,
    ),
)

"""Analyse tables of many partitions and of very many files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import reports, trees
from benchmarks.cases.case import START, Bench, Case
from benchmarks.datasets import DATASETS, Dataset
from benchmarks.measuring import Measured, RunFailed
from benchmarks.places import contenders
from benchmarks.places.local import LocalPlace, LocalTables

COLD, UNCHANGED = "cold", "unchanged"
_TWO_GB = {"spark.driver.memory": "2g"}


class Analysis:
    """A table that is analysed as nobody has analysed it yet, and again without a change."""

    def __init__(self, place: LocalPlace, dataset: Dataset, conf: dict[str, str]) -> None:
        self._place, self._dataset, self._conf = place, dataset, conf
        self._tables: LocalTables = place.prepare(dataset, in_place=True)
        trees.age(self._tables.root)
        self._analysed = False

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "tables": 1,
            "units": self._dataset.partitions,
            "files": self._dataset.total_files,
            "bytes": sum(unit.size for unit in self._tables.units()),
        }

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        label = f"{self._dataset.name}-{step}-{number}"
        if step == START:
            return contenders.start(self._place.submit, label), {}
        if step == UNCHANGED and not self._analysed:
            self._analyze(f"{label}-before")
        if step == COLD:
            self._tables.forget_runs()
        return self._analyze(label)

    def _analyze(self, label: str) -> tuple[Measured, dict[str, Any]]:
        measured, report = contenders.ours(
            self._place.submit, label, "analyze", self._tables, conf=self._conf
        )
        reports.require(report, label, "done", "nothing")
        units = report["tables"][0]["units"]
        files = sum(unit["files"] or 0 for unit in units)
        if (len(units), files) != (self._dataset.partitions, self._dataset.total_files):
            raise RunFailed(f"{label}: {len(units)} partitions and {files} files in the report")
        self._analysed = True
        return measured, {"phases": reports.phases(report)}


@contextmanager
def _ten_thousand_partitions(bench: Bench) -> Iterator[Analysis]:
    yield Analysis(bench.local, DATASETS["analysis-10000"], {})


@contextmanager
def _a_million_files(bench: Bench) -> Iterator[Analysis]:
    yield Analysis(bench.local, DATASETS["analysis-million"], _TWO_GB)


CASES = (
    Case(
        "analysis-10000",
        "Analysis of 10,000 partitions of 5 files, local disk",
        "Cold: nobody has analysed the table yet. Unchanged: the same analysis again. The directories have not changed"
        " for two hours.",
        (START, COLD, UNCHANGED),
        _ten_thousand_partitions,
    ),
    Case(
        "analysis-million",
        "Analysis of 1,000,000 files, local disk",
        "1,000 partitions of 1,000 small files; the driver has 2 GB.",
        (COLD, UNCHANGED),
        _a_million_files,
        rounds=1,
    ),
)

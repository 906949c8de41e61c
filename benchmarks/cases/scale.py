"""Analyse ten times as many partitions of a table, and ten times as many tables of a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks import reports, trees
from benchmarks.cases.case import START, Bench, Case
from benchmarks.datasets import DATABASE, DATABASES, DATASETS
from benchmarks.measuring import Measured, RunFailed
from benchmarks.places import contenders
from benchmarks.places.local import LocalPlace

#: A step is an analysis of what has this name; the second one of a pair has ten times as much.
PARTITIONS = ("scale-partitions-10000", "scale-partitions-100000")
TABLES = ("scale-tables-500", "scale-tables-5000")


@dataclass(frozen=True)
class Scale:
    """Tables that nobody has analysed yet."""

    place: LocalPlace

    @property
    def facts(self) -> dict[str, Any]:
        return {}

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        label = f"{step}-{number}"
        if step == START:
            return contenders.start(self.place.submit, label), {}
        database, table = self._made(step)
        scope = ("--table", f"{database}.{table}") if table else ("--database", database)
        measured, found = contenders.job(self.place.submit, label, "analyze", *scope)
        _check(found, step, label)
        return measured, {"phases": reports.phases(found)}

    def _made(self, step: str) -> tuple[str, str | None]:
        """Make what is analysed; return its database, and its table where it is one."""
        if step in DATABASES:
            self.place.prepare_database(step)
            return DATABASES[step].name, None
        tables = self.place.prepare(DATASETS[step], in_place=True)
        trees.age(tables.root)
        tables.forget_runs()
        return DATABASE, DATASETS[step].table


def _check(report: dict[str, Any], step: str, label: str) -> None:
    """Raise RunFailed unless the job has looked at all files."""
    reports.require(report, label, "done", "nothing")
    units = [unit for table in report["tables"] for unit in table["units"]]
    files = sum(unit["files"] or 0 for unit in units)
    expected = (
        DATABASES[step].tables * DATABASES[step].files if step in DATABASES else DATASETS[step].total_files
    )
    if files != expected:
        raise RunFailed(f"{label}: {len(units)} units and {files} files in the report, not {expected} files")


@contextmanager
def _opened(bench: Bench) -> Iterator[Scale]:
    yield Scale(bench.local)


CASES = (
    Case(
        "scale",
        "Analysis of ten times as much, local disk",
        "Tables of 10,000 and 100,000 partitions of 2 files; databases of 500 and 5,000 tables of 4 files.",
        (START, *PARTITIONS, *TABLES),
        _opened,
        rounds=1,
    ),
)

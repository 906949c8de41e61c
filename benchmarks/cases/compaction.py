"""Compact tables on the local disk: our job, Lakekeeper, and the plain Spark rewrite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks import reports, trees
from benchmarks.cases.case import BARE, LAKEKEEPER, OURS, Bench, Case, Opener
from benchmarks.datasets import DATASETS
from benchmarks.measuring import Measured
from benchmarks.places.local import LocalPlace, LocalTables, bare_root, require_files


@dataclass(frozen=True)
class LocalCompaction:
    """The tables of one case, and how each step compacts them."""

    name: str
    place: LocalPlace
    tables: LocalTables

    @property
    def facts(self) -> dict[str, Any]:
        units = trees.sizes(self.tables.seed)
        files = sum(trees.count_in(self.tables.seed / unit) for unit in units)
        return {"tables": len(self.tables.names), "units": len(units), "files": files, "bytes": sum(units.values())}

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        label = f"{self.name}-{step}-{number}"
        self.place.reset(self.tables)
        if step == OURS:
            return self._ours(label)
        if step == LAKEKEEPER:
            measured = self.place.lakekeeper(label, self.tables)
            return measured, {"files_after": require_files(self.tables, self.tables.root, label)}
        measured = self.place.bare(label, self.tables)
        return measured, {"files_after": require_files(self.tables, bare_root(self.tables), label)}

    def _ours(self, label: str) -> tuple[Measured, dict[str, Any]]:
        measured, report = self.place.ours(label, "compact", self.tables)
        reports.require(report, label, "done")
        files = require_files(self.tables, self.tables.root, label)
        return measured, {"files_after": files, "phases": reports.phases(report)}


def _opener(name: str, prepare: Callable[[LocalPlace], LocalTables]) -> Opener:
    @contextmanager
    def opened(bench: Bench) -> Iterator[LocalCompaction]:
        yield LocalCompaction(name, bench.local, prepare(bench.local))

    return opened


def _case(name: str, title: str, about: str, prepare: Callable[[LocalPlace], LocalTables], **more: Any) -> Case:
    return Case(name, title, about, (OURS, LAKEKEEPER, BARE), _opener(name, prepare), rounds=5, **more)


CASES = (
    _case(
        "files-65000",
        "65,000 files in one table",
        "One table without partitions, on the local disk, compacted to files of 128 MB.",
        lambda place: place.prepare(DATASETS["files-65000"]),
        limits={LAKEKEEPER: 1},
        disk_gb=14,
    ),
    _case(
        "partitions-200",
        "200 partitions of 20 files",
        "One table with 200 partitions, on the local disk; each partition becomes one file. The plain rewrite has 8 threads.",
        lambda place: place.prepare(DATASETS["partitions-200"]),
    ),
    _case(
        "demo",
        "The demo's tables",
        "Three tables of 500, 600 and 900 files with 13 directories, in one process. The plain rewrite has 8 threads.",
        LocalPlace.prepare_demo,
    ),
)

"""Roll back and clean up compactions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import reports
from benchmarks.cases.case import START, Bench, Case, Opener
from benchmarks.cases.compaction import OfTables, compact
from benchmarks.datasets import DATASETS
from benchmarks.measuring import Measured, RunFailed
from benchmarks.places import contenders
from benchmarks.places.tables import require_compacted

ROLLBACK, CLEANUP = "rollback", "cleanup"
#: The trash of a local disk is in the home directory of the user.
OPTIONS = {CLEANUP: ("--skip-trash",)}


class Undo(OfTables):
    """A table that is compacted before each step; that is not part of the measurement."""

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        label = f"{self.name}-{step}-{number}"
        if step == START:
            return contenders.start(self.submit, label), {}
        self.tables.reset()
        compact(self.submit, f"{label}-compacted", self.tables)
        measured, report = contenders.ours(self.submit, label, step, self.tables, *OPTIONS.get(step, ()))
        reports.require(report, label, "done")
        if step == ROLLBACK:
            self._require_originals(label)
        else:
            require_compacted(self.tables, label)
        return measured, {"phases": reports.phases(report)}

    def _require_originals(self, label: str) -> None:
        for unit in self.tables.units():
            if self.tables.count(unit.source) != unit.files:
                raise RunFailed(f"{label}: {unit.source} does not have its {unit.files} files again")


def _opener(name: str, dataset: str) -> Opener:
    @contextmanager
    def opened(bench: Bench) -> Iterator[Undo]:
        yield Undo(name, bench.local.submit, bench.local.prepare(DATASETS[dataset]))

    return opened


CASES = (
    Case(
        "rollback-cleanup",
        "Rollback and cleanup of 200 partitions, local disk",
        "Of the table with 200 partitions of 20 files, after its compaction. The cleanup deletes permanently.",
        (START, ROLLBACK, CLEANUP),
        _opener("rollback-cleanup", "partitions-200"),
    ),
    Case(
        "rollback-cleanup-65000",
        "Rollback and cleanup of 65,000 files, local disk",
        "Of the table with 65,000 files, after its compaction. The cleanup deletes permanently.",
        (START, ROLLBACK, CLEANUP),
        _opener("rollback-cleanup-65000", "files-65000"),
        rounds=1,
        disk_gb=14,
    ),
)

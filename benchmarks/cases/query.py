"""Query a table before and after its compaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import trees
from benchmarks.cases.case import Bench, Case
from benchmarks.cases.compaction import compact
from benchmarks.datasets import DATASETS
from benchmarks.measuring import Measured
from benchmarks.places.local import LocalPlace, LocalTables
from benchmarks.places.tables import facts
from benchmarks.workspace import PROGRAMS

BEFORE, AFTER = "before", "after"


class Queried:
    """A table, and its files after a compaction, which runs once and is not part of the measurement."""

    def __init__(self, place: LocalPlace, tables: LocalTables, compacted: Callable[[str], object]) -> None:
        """`compacted` compacts the table; its argument is the label of that run."""
        self._place = place
        self._tables = tables
        self._compact = compacted
        self._files = tables.seed.with_name(f"{tables.seed.name}.compacted")

    def run(self, step: str, label: str) -> tuple[Measured, dict[str, Any]]:
        """Query the table as it is `BEFORE` or `AFTER` the compaction. It has been reset."""
        if step == AFTER:
            self._put_compacted(f"{label}-compact")
        out = self._place.submit.logs / f"{label}.json"
        arguments = ("--table", self._tables.full_names, "--out", out)
        measured = self._place.submit.run(label, PROGRAMS / "query.py", *arguments)
        files = sum(self._tables.count(unit.source) for unit in self._tables.units())
        return measured, {"files": files, **json.loads(out.read_text())}

    def _put_compacted(self, label: str) -> None:
        root = self._tables.root / self._tables.names[0]
        if not self._files.exists():
            self._compact(label)
            trees.restore(root, self._files)
        trees.restore(self._files, root)
        trees.warm(root)


class Query:
    """The table of 65,000 files."""

    def __init__(self, place: LocalPlace) -> None:
        self._tables = place.prepare(DATASETS["files-65000"])
        self._queried = Queried(place, self._tables, lambda label: compact(place.submit, label, self._tables))

    @property
    def facts(self) -> dict[str, Any]:
        return facts(self._tables)

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        self._tables.reset()
        return self._queried.run(step, f"query-{step}-{number}")


@contextmanager
def _opened(bench: Bench) -> Iterator[Query]:
    yield Query(bench.local)


CASES = (
    Case(
        "query",
        "Queries before and after, 65,000 files, local disk",
        "In a new session: planning (with the listing of the files), a full scan, and a search for one id, in seconds."
        " On HDFS, each file less is at least two objects less for the NameNode: the file and its block.",
        (BEFORE, AFTER),
        _opened,
        disk_gb=14,
    ),
)

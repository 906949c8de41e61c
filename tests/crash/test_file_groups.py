"""Units with files of two schemas, which are written one after the other into one directory and swapped together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.formats.footers import Footer
from spark_jobs.protocol.execution.unit_writer import UnitWriter
from tests.crash import writers
from tests.crash.explorer import Act, Proof, after, compact, points, recoveries, runs_of
from tests.crash.figures import figures
from tests.crash.flat_table import LIVE, only
from tests.crash.model_spark import ModelFooters, ModelRewriter, encode_rows
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build
from tests.crash.simulated_cluster import SimulatedCluster

KINDS = ("int32", "int64")


def _kind(first_row: int) -> str:
    """Each file of the scenario has three rows: the first rows of files are odd and even by turns."""
    return KINDS[first_row % 2]


@pytest.fixture(autouse=True)
def widened(monkeypatch: pytest.MonkeyPatch) -> None:
    read = ModelFooters._footer

    def footer(self: ModelFooters, file: str) -> Footer:
        inode = self._tree.get(file)
        rows = json.loads(inode.content)["rows"] if inode and inode.closed else []
        return replace(read(self, file), leaves={"id": _kind(next(iter(rows), 0))})

    monkeypatch.setattr(ModelFooters, "_footer", footer)


def _rows_by_type(sim: SimulatedCluster, folder: str) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for _, inode in sim.tree.files(folder):
        rows = json.loads(inode.content)["rows"]
        found.setdefault(_kind(rows[0]), set()).update(rows)
    return found


def _flat(report: Mapping[str, Any]) -> dict[str, Any]:
    (unit,) = only(report)["units"]
    return dict(unit)


def test_each_row_keeps_its_type() -> None:
    sim = build()
    before = _rows_by_type(sim, LIVE)
    unit = _flat(compact(FLAT)(sim.client()))
    assert (unit["outcome"], unit["files"], unit["files_after"], unit["rows"]) == ("compacted", 6, 2, 18)
    assert _rows_by_type(sim, LIVE) == before
    assert set(before) == set(KINDS)


def test_a_death_or_an_error_at_each_call_loses_nothing() -> None:
    act, line = compact(FLAT), figures("compact two groups", "4 modes (crash or error, before or after)")
    proof, start = Proof(line, [FLAT]), after(build(), [])
    line.points = points(start, act)
    for turn, (name, state) in enumerate([*proof.crashes(start, act), *proof.errors(start, act)]):
        for recovery in recoveries(act)[turn % 2 :: 2]:
            proof.settle(name, state, recovery)
    assert line.violations == []
    assert line.states > 50


def test_what_is_a_file_for_each_type_is_left_alone() -> None:
    sim = build()
    compact(FLAT)(sim.client())
    runs = len(runs_of(sim, [FLAT]))
    files = sorted(name for name, _ in sim.tree.files(LIVE))
    for act in (compact(FLAT, "r2"), Act("analyze", ("--table", FLAT))):
        unit = _flat(act(sim.client()))
        assert (unit["outcome"], unit["target_files"], unit["needs_compaction"]) == ("healthy", 2, False)
        assert "column 'id' is" in unit["reason"]
    assert sorted(name for name, _ in sim.tree.files(LIVE)) == files
    assert len(runs_of(sim, [FLAT])) == runs


@pytest.mark.parametrize("strategy", ["full", "minor"])
def test_a_later_plan_knows_it_without_the_footers_and_opens_no_run(
    monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    sim, day, options = build(), 24 * 3600, ("--strategy", strategy)
    compact(EVENTS, "r1", *options)(sim.client())
    sim.advance(day)
    # What one partition gets is compacted; of the others that run has read that they cannot be fewer.
    for _ in range(2):
        writers.append(sim, f"{WAREHOUSE}/events/k=a", sim.ledger.fresh(3))
    found = only(compact(EVENTS, "r2", *options)(sim.client()))["units"]
    assert [unit["outcome"] for unit in found] == ["compacted", "healthy", "healthy"]
    sim.advance(day)
    compact(EVENTS, "r3", *options)(sim.client())
    sim.advance(day)
    read: list[str] = []
    footers = ModelFooters._footer
    monkeypatch.setattr(ModelFooters, "_footer", lambda self, file: read.append(file) or footers(self, file))
    runs = len(runs_of(sim, [EVENTS]))
    report = compact(EVENTS, "r4", *options)(sim.client())
    outside = [file for file in read if "/elsewhere/c" in file]
    assert (report["outcome"], outside, len(runs_of(sim, [EVENTS]))) == ("nothing", [], runs)


def test_a_file_that_belongs_to_no_group_fails_the_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late task of this run may add one after the files of all groups were moved."""
    sim, copy_flags = build(), UnitWriter._copy_flags

    def late(self: UnitWriter, before: Any, new: str) -> None:
        copy_flags(self, before, new)
        sim.tree.write(f"{new}/part-late.parquet", encode_rows([]))

    monkeypatch.setattr(UnitWriter, "_copy_flags", late)
    unit = _flat(compact(FLAT)(sim.client()))
    assert unit["outcome"] == "failed"
    assert "part-late.parquet was written by none" in unit["reason"]


def test_a_group_that_lost_a_row_to_another_one_fails_the_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """In sum the rows are as many as before."""
    sim, write = build(), ModelRewriter._write
    kept: list[int] = []

    def exchanging(self: ModelRewriter, plan: Any) -> int:
        rows = write(self, plan)
        (name,) = [status.name for status in self._fs.list(plan.target)]
        ids = json.loads(self._fs.read(f"{plan.target}/{name}"))["rows"]
        moved = [*ids, kept.pop()] if kept else ids[:-1]
        kept.extend([] if len(moved) > len(ids) else ids[-1:])
        self._fs.replace(f"{plan.target}/{name}", encode_rows(moved))
        return rows

    monkeypatch.setattr(ModelRewriter, "_write", exchanging)
    unit = _flat(compact(FLAT)(sim.client()))
    assert unit["outcome"] == "failed"
    assert "9 rows were read and 8 written" in unit["reason"]


@pytest.mark.parametrize(("readers", "files"), [("by-position", 2), ("by-name", 1), (None, 1)])
def test_where_readers_go_by_position_no_column_gets_another_one(
    monkeypatch: pytest.MonkeyPatch, readers: str | None, files: int
) -> None:
    sim, place, read = SimulatedCluster(), f"{WAREHOUSE}/renamed", ModelFooters._footer
    properties = {"lakekeeper.readers": readers} if readers else {}
    writers.create_table(sim, "sales.renamed", place, **properties)
    written = [list(sim.ledger.fresh(3)) for _ in range(4)]
    for ids in written:
        writers.append(sim, place, ids)
    by_column = {"a": {*written[0], *written[2]}, "b": {*written[1], *written[3]}}

    def renamed(self: ModelFooters, file: str) -> Footer:
        inode = self._tree.get(file)
        rows = set(json.loads(inode.content)["rows"]) if inode else set()
        names = ["key", *(name for name, ids in by_column.items() if rows & ids)]
        return replace(read(self, file), leaves=dict.fromkeys(names, "int64"))

    monkeypatch.setattr(ModelFooters, "_footer", renamed)
    unit = _flat(compact("sales.renamed")(sim.client()))
    assert (unit["outcome"], unit["files_after"]) == ("compacted", files), unit

"""Units that Arrow writes: what it does not write, Spark does; and a death at any step loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.ports import Arrow, JointFiles, RewriteRequest
from tests.crash.explorer import Proof, after, points, recoveries
from tests.crash.explorer import compact as compacting
from tests.crash.figures import figures
from tests.crash.flat_table import compact, only
from tests.crash.model_spark import ModelRewriter, encode_rows
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, build
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_joint_writes import DAYS, ROOT, days

BY_ARROW = ("--engine", "arrow")


class Writes:
    """The units of each write by Arrow, and of each joint write by Spark; and those that were written alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.arrow: list[int] = []
        self.jointly: list[int] = []
        self.alone = 0
        writes = self
        by_arrow, jointly = ModelRewriter.write_by_arrow, ModelRewriter.write_jointly
        alone = ModelRewriter.write

        def counted_arrow(rewriter: Any, plans: Sequence[RewriteRequest], staging: str) -> Any:
            writes.arrow.append(len(plans))
            return by_arrow(rewriter, plans, staging)

        def counted_jointly(rewriter: Any, plans: Sequence[RewriteRequest], staging: str) -> Any:
            writes.jointly.append(len(plans))
            return jointly(rewriter, plans, staging)

        def counted_alone(rewriter: Any, plan: RewriteRequest) -> Any:
            writes.alone += 1
            return alone(rewriter, plan)

        monkeypatch.setattr(ModelRewriter, "write_by_arrow", counted_arrow)
        monkeypatch.setattr(ModelRewriter, "write_jointly", counted_jointly)
        monkeypatch.setattr(ModelRewriter, "write", counted_alone)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> Writes:
    return Writes(monkeypatch)


def _compact(sim: SimulatedCluster, *more: str, engine: str = "arrow") -> dict[str, Any]:
    return only(compact(sim.client(), DAYS, "r1", "--engine", engine, *more))


def _engines(report: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(unit["outcome"], unit.get("engine")) for unit in report["units"]]


def test_arrow_writes_all_units_in_one_job_under_the_names_that_spark_gives(writes: Writes) -> None:
    sim = days(12)
    report = _compact(sim)
    assert _engines(report) == [("compacted", "arrow")] * 12
    assert report["pyarrow"] == "model"
    assert (writes.arrow, writes.jointly, writes.alone) == ([12], [], 0)
    live = [path for path, _, _ in sim.tree.walk(ROOT) if "/part-" in path and ".lakekeeper" not in path]
    assert len(live) == 12
    assert all(path.endswith(".c000.snappy.parquet") for path in live)
    assert check(sim) == []


def test_a_unit_that_lost_a_row_is_written_by_spark(writes: Writes, monkeypatch: pytest.MonkeyPatch) -> None:
    sim, task = days(3), ModelRewriter._task

    def losing(self: ModelRewriter, plan: RewriteRequest, *more: Any) -> bool:
        lost = 1 if plan.target.endswith("day=001") else 0
        return task(self, replace(plan, inputs=FileListing.of(plan.inputs.data[lost:])), *more)

    monkeypatch.setattr(ModelRewriter, "_task", losing)
    report = _compact(sim)
    assert _engines(report) == [("compacted", "arrow"), ("compacted", None), ("compacted", "arrow")]
    assert report["units"][1]["engine_reason"] == "4 rows were read and 2 written"
    warning = 'ARROW_NOT_USED: 4 rows were read and 2 written (partition {"day": "001"})'
    assert report["warnings"] == [warning]
    assert (writes.arrow, writes.alone) == ([3], 1)
    assert check(sim) == []


def test_units_that_workers_refuse_are_written_by_spark_together(
    writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim, by_arrow = days(5), ModelRewriter.write_by_arrow

    def refusing(self: ModelRewriter, plans: Sequence[RewriteRequest], staging: str) -> JointFiles:
        written = by_arrow(self, plans, staging)
        return JointFiles(written.directories, {1: "another schema", 3: "another schema"})

    monkeypatch.setattr(ModelRewriter, "write_by_arrow", refusing)
    report = _compact(sim)
    assert [unit.get("engine") for unit in report["units"]] == ["arrow", None, "arrow", None, "arrow"]
    assert report["warnings"] == ['ARROW_NOT_USED: another schema (partition {"day": "001"} and 1 more)']
    assert (writes.jointly, writes.alone) == ([2], 0)
    assert check(sim) == []


def test_where_the_job_of_arrow_fails_spark_writes_all_units(
    writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> JointFiles:
        raise LakekeeperError("a Python worker was killed")

    monkeypatch.setattr(ModelRewriter, "write_by_arrow", failing)
    sim = days(4)
    report = _compact(sim)
    assert _engines(report) == [("compacted", None)] * 4
    assert {unit["engine_reason"] for unit in report["units"]} == {"a Python worker was killed"}
    assert (writes.jointly, writes.alone) == ([4], 0)
    assert check(sim) == []


_LACK = 'ARROW_NOT_USED: no pyarrow (partition {"day": "000"} and 3 more)'


@pytest.mark.parametrize(("engine", "warnings"), [("arrow", [_LACK]), ("auto", [])])
def test_without_pyarrow_spark_writes_and_only_who_asked_for_arrow_is_told(
    writes: Writes, monkeypatch: pytest.MonkeyPatch, engine: str, warnings: list[str]
) -> None:
    monkeypatch.setattr(ModelRewriter, "arrow", lambda _: Arrow(lack="no pyarrow"))
    monkeypatch.setattr("spark_jobs.protocol.planning.engine_choice._WORTHWHILE", 1)
    report = _compact(days(4), engine=engine)
    assert _engines(report) == [("compacted", None)] * 4
    assert report["warnings"] == warnings
    assert (writes.arrow, writes.jointly, writes.alone) == ([], [4], 0)


def test_spark_begins_nothing_after_the_deadline_that_arrow_has_not_written(
    writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim, by_arrow = days(3), ModelRewriter.write_by_arrow

    def slow(self: ModelRewriter, plans: Sequence[RewriteRequest], staging: str) -> JointFiles:
        written = by_arrow(self, plans, staging)
        sim.advance(3600.0)
        return JointFiles(written.directories, {number: "another schema" for number in range(3)})

    monkeypatch.setattr(ModelRewriter, "write_by_arrow", slow)
    deadline = datetime.fromtimestamp(sim.millis / 1000, timezone.utc) + timedelta(seconds=600)
    report = _compact(sim, "--deadline", deadline.isoformat())
    assert _engines(report) == [("deferred", None)] * 3
    assert (writes.arrow, writes.jointly, writes.alone) == ([3], [], 0)
    assert check(sim) == []


def test_auto_leaves_a_few_files_to_spark(writes: Writes) -> None:
    report = _compact(days(4), engine="auto")
    assert {unit["engine_reason"] for unit in report["units"]} == {
        "the table has fewer than 1000 files to rewrite"
    }
    assert (writes.arrow, writes.jointly) == ([], [4])


def test_other_values_are_found_where_all_are_compared(
    writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many rows as before, with the same figures in the footer."""
    sim, by_arrow = days(3), ModelRewriter.write_by_arrow

    def changing(self: ModelRewriter, plans: Sequence[RewriteRequest], staging: str) -> JointFiles:
        written = by_arrow(self, plans, staging)
        (file,) = self._fs.list_files(written.directories[0]).data
        self._fs.replace(f"{written.directories[0]}/{file.name}", encode_rows([7, 7, 7, 7]))
        return written

    monkeypatch.setattr(ModelRewriter, "write_by_arrow", changing)
    report = _compact(sim, "--verify", "hash")
    assert _engines(report) == [("compacted", None), ("compacted", "arrow"), ("compacted", "arrow")]
    assert "is not what Spark reads of the originals" in report["units"][0]["engine_reason"]
    assert check(sim) == []


@pytest.mark.parametrize("table", [FLAT, pytest.param(EVENTS, marks=pytest.mark.full)])
def test_a_death_or_an_error_at_any_step(table: str) -> None:
    act = compacting(table, "r1", *BY_ARROW)
    line = figures(f"compact {table} by Arrow", "4 modes (crash or error, before or after)")
    proof, start = Proof(line, [table]), after(build(), [])
    line.points = points(start, act)
    for name, state in proof.crashes(start, act):
        for recovery in (*recoveries(act), act):
            proof.settle(name, state, recovery)
    for turn, (name, state) in enumerate(proof.errors(start, act)):
        for recovery in recoveries(act)[turn % 2 :: 2]:
            proof.settle(name, state, recovery)
    assert line.violations == []
    assert line.states > 50

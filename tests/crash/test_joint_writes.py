"""Small units that are written in one job: each of them fails alone, and nothing of the job stays behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.records import journal
from spark_jobs.core.values.attributes import Attributes
from spark_jobs.core.values.model import FileListing, name_of
from spark_jobs.protocol.execution.unit_writer import UnitWriter
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.ports import RewriteRequest
from tests.crash import model_spark, writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import compact, only, outcomes
from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_spark import ModelFooters, ModelRewriter, encode_rows
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, WAREHOUSE, build
from tests.crash.simulated_cluster import SimulatedCluster

DAYS = "sales.days"
ROOT = f"{WAREHOUSE}/days"


def days(units: int = 12, files: int = 2) -> SimulatedCluster:
    sim = SimulatedCluster()
    writers.create_table(sim, DAYS, ROOT, keys=("day",))
    for number in range(units):
        place = writers.add_partition(sim, DAYS, f"{number:03}")
        for _ in range(files):
            writers.append(sim, place, sim.ledger.fresh(2))
    return sim


class Jobs:
    """The Spark jobs of a process: the units of each joint write, and those that were written alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.joint: list[list[str]] = []
        self.alone: list[str] = []
        self.staging_mode: list[int] = []
        jobs, write, write_jointly = self, ModelRewriter.write, ModelRewriter.write_jointly

        def alone(rewriter: ModelRewriter, plan: RewriteRequest) -> Any:
            jobs.alone.append(name_of(plan.target))
            return write(rewriter, plan)

        def joint(rewriter: ModelRewriter, plans: Sequence[RewriteRequest], staging: str) -> Any:
            jobs.joint.append([name_of(plan.target) for plan in plans])
            jobs.staging_mode.append(rewriter._fs._present(staging).mode)
            return write_jointly(rewriter, plans, staging)

        monkeypatch.setattr(ModelRewriter, "write", alone)
        monkeypatch.setattr(ModelRewriter, "write_jointly", joint)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Jobs:
    return Jobs(monkeypatch)


def _leftovers(sim: SimulatedCluster) -> list[str]:
    return [path for path, _, _ in sim.tree.walk(f"{ROOT}/.lakekeeper") if "-joint-" in path]


def _damage(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """Files with this in their path have a footer, and rows that cannot be read."""
    read = model_spark._read_rows

    def damaged(fs: Any, files: Sequence[str]) -> list[int]:
        if any(part in file for file in files):
            raise FileSystemError("a page cannot be decompressed")
        return read(fs, files)

    monkeypatch.setattr(model_spark, "_read_rows", damaged)


def test_many_small_units_are_one_job_and_one_wave(jobs: Jobs) -> None:
    sim = days(200)
    report = compact(sim.client(), DAYS)
    assert outcomes(report) == ["compacted"] * 200
    assert ([len(units) for units in jobs.joint], jobs.alone) == ([200], [])
    (found,) = runs_of(sim, [DAYS])
    fs = sim.client().fs
    records = [status.path for status in fs.list(found.journal.path)]
    kinds = [journal.Record.decode(fs.read(path), path).kind for path in records]
    assert (kinds.count(journal.PREPARED), kinds.count(journal.COMMITTED)) == (1, 1)
    assert check(sim) == []
    assert _leftovers(sim) == []


def test_a_damaged_unit_fails_alone_and_the_others_are_not_written_again(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = days(200)
    _damage(monkeypatch, "/day=077/")
    units = only(compact(sim.client(), DAYS))["units"]
    failed = [unit for unit in units if unit["outcome"] != "compacted"]
    assert [(unit["unit"], unit["outcome"]) for unit in failed] == [({"day": "077"}, "failed")]
    assert "a page cannot be decompressed" in failed[0]["reason"]
    assert ([len(each) for each in jobs.joint], jobs.alone) == ([200], ["day=077"])
    assert check(sim) == []


def test_a_unit_that_lost_a_row_in_a_joint_write_is_written_by_itself(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = days()
    task = ModelRewriter._task

    def losing(self: ModelRewriter, plan: RewriteRequest, *more: Any) -> bool:
        lost = 1 if plan.target.endswith("day=003") else 0
        inputs = FileListing.of(plan.inputs.data[lost:])
        return task(self, replace(plan, inputs=inputs), *more)

    monkeypatch.setattr(ModelRewriter, "_task", losing)
    assert outcomes(compact(sim.client(), DAYS)) == ["compacted"] * 12
    assert jobs.alone == ["day=003"]
    assert check(sim) == []


def test_a_unit_of_which_nothing_was_written_is_written_by_itself(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = days(4)
    monkeypatch.setattr(ModelRewriter, "_task", lambda *_: False)
    assert outcomes(compact(sim.client(), DAYS)) == ["compacted"] * 4
    assert sorted(jobs.alone) == [f"day={number:03}" for number in range(4)]
    assert check(sim) == []


def test_where_the_job_fails_each_unit_is_written_by_itself(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = days(4)
    client = sim.client(Fault.error_before(lambda point: point.op == "raw_rename"))
    assert outcomes(compact(client, DAYS)) == ["compacted"] * 4
    assert (len(jobs.joint), len(jobs.alone)) == (1, 4)
    assert check(sim) == []
    assert _leftovers(sim) == []


def test_a_unit_whose_new_file_cannot_be_read_is_written_by_itself(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The footers of all units are read in one call, which fails."""
    sim, footer = days(4), ModelFooters._footer

    def unreadable(self: ModelFooters, file: str) -> Footer:
        if "-joint-" in file and "unit=2/" in file:
            raise FileSystemError(f"cannot read the footer of {file}")
        return footer(self, file)

    monkeypatch.setattr(ModelFooters, "_footer", unreadable)
    assert outcomes(compact(sim.client(), DAYS)) == ["compacted"] * 4
    assert jobs.alone == ["day=002"]
    assert check(sim) == []


def test_units_with_other_storage_policies_are_not_written_into_one_directory(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file has the policy of the directory in which it was created."""
    sim = days(6)
    attributes = ModelFileSystem.attributes

    def cold(self: ModelFileSystem, path: str) -> Attributes:
        policy = "COLD" if any(f"day=00{day}" in path for day in (1, 4)) else "HOT"
        return replace(attributes(self, path), storage_policy=policy)

    monkeypatch.setattr(ModelFileSystem, "attributes", cold)
    assert outcomes(compact(sim.client(), DAYS)) == ["compacted"] * 6
    assert sorted(jobs.joint) == [["day=000", "day=002", "day=003", "day=005"], ["day=001", "day=004"]]


def test_nobody_else_reads_a_joint_write(jobs: Jobs) -> None:
    compact(days(3).client(), DAYS)
    assert [mode & 0o777 for mode in jobs.staging_mode] == [0o700]


def test_units_whose_values_are_hashed_are_written_by_themselves(jobs: Jobs) -> None:
    compact(days(3).client(), DAYS, "r1", "--verify", "hash")
    assert (jobs.joint, len(jobs.alone)) == ([], 3)


def test_a_file_that_was_not_compared_does_not_go_live(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    sim, copy_flags = days(3), UnitWriter._copy_flags

    def late(self: UnitWriter, before: Any, new: str) -> None:
        copy_flags(self, before, new)
        if new.endswith("day=001"):
            sim.tree.write(f"{new}/part-late.parquet", encode_rows([]))

    monkeypatch.setattr(UnitWriter, "_copy_flags", late)
    units = only(compact(sim.client(), DAYS))["units"]
    assert [unit["outcome"] for unit in units] == ["compacted", "failed", "compacted"]
    assert "does not hold the files that were compared" in units[1]["reason"]
    assert check(sim) == []


def test_what_a_joint_write_left_to_be_written_is_deferred_after_the_deadline(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = days(3)
    write = ModelRewriter.write_jointly

    def slow(self: ModelRewriter, plans: Sequence[RewriteRequest], staging: str) -> Any:
        sim.advance(7200)
        return write(self, plans, staging)

    monkeypatch.setattr(ModelRewriter, "write_jointly", slow)
    monkeypatch.setattr(ModelRewriter, "_task", lambda *_: False)
    client = sim.client()
    deadline = client.clock.now().timestamp() + 3600
    text = datetime.fromtimestamp(deadline, timezone.utc).isoformat()
    report = compact(client, DAYS, "r1", "--deadline", text)
    assert outcomes(report) == ["deferred"] * 3
    assert jobs.alone == []


def _move(point: Point) -> bool:
    """A file of a joint write is moved into the new directory of its unit."""
    return point.op == "rename" and "-joint-" in point.args[0]


@pytest.mark.parametrize("fault", [Fault.error_before, Fault.error_after])
def test_a_unit_whose_file_could_not_be_moved_fails_alone(jobs: Jobs, fault: Callable[..., Fault]) -> None:
    sim = days(3)
    assert sorted(outcomes(compact(sim.client(fault(_move)), DAYS))) == ["compacted", "compacted", "failed"]
    assert jobs.alone == []
    assert check(sim) == []


@pytest.mark.parametrize("calls", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
def test_a_move_that_is_executed_late_doubles_no_row(calls: int) -> None:
    sim = days(3)
    compact(sim.client(Fault.late(_move, calls)), DAYS)
    assert check(sim, journaled=True) == []
    sim.catch_up()
    assert compact(sim.client(), DAYS, "r2")["exit_code"] == 0
    assert check(sim) == []


@pytest.mark.parametrize(
    "moment",
    [lambda point: point.op == "raw_rename", _move],
    ids=["while Spark commits", "while files are moved"],
)
def test_a_later_job_deletes_what_a_death_left(moment: Callable[[Point], bool]) -> None:
    sim = days(3)
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(moment)), DAYS)
    assert _leftovers(sim) != []
    assert compact(sim.client(), DAYS, "r2")["exit_code"] == 0
    assert check(sim) == []
    assert _leftovers(sim) == []


def test_partitions_elsewhere_are_written_in_their_own_home(jobs: Jobs) -> None:
    compact(build().client(), EVENTS)
    assert (jobs.joint, jobs.alone) == ([["k=a", "k=b"]], ["c"])


@pytest.mark.parametrize("units", [1, 3])
def test_a_unit_whose_directory_is_removed_meanwhile_has_changed_and_not_failed(
    units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = days(units)
    read = model_spark._read_rows

    def removed(fs: Any, files: Sequence[str]) -> list[int]:
        if sim.tree.get(f"{ROOT}/day=000"):
            sim.tree.remove(f"{ROOT}/day=000", recursive=True)
        return read(fs, files)

    monkeypatch.setattr(model_spark, "_read_rows", removed)
    report = compact(sim.client(), DAYS)
    first, *others = only(report)["units"]
    assert first["outcome"] == "changed"
    assert "was removed while the unit was compacted" in first["reason"]
    assert [unit["outcome"] for unit in others] == ["compacted"] * (units - 1)

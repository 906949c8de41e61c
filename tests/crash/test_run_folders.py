"""Folders of runs that a kill or a late task leaves half made, where a umask lets others write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from spark_jobs.core.values.attributes import MODE, Attributes, LostAttribute
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault, Killed
from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_tree import Inode, ModelTree
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

HOME = f"{WAREHOUSE}/events/.lakekeeper"


@pytest.fixture(params=[0o022, 0o002], ids=["022", "002"], autouse=True)
def umask(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    add = ModelTree._add

    def masked(self: ModelTree, number: int, part: str, inode: Inode) -> int:
        return add(self, number, part, replace(inode, mode=0o777 & ~request.param) if inode.is_dir else inode)

    monkeypatch.setattr(ModelTree, "_add", masked)


def test_a_kill_before_the_folder_is_closed_needs_nobody() -> None:
    for state in crash_states(build(), lambda client: run(client, "compact", "--tables", EVENTS)):
        for _ in range(2):
            report = run(state.sim.client(), "compact", "--tables", EVENTS)
        assert report["exit_code"] == 0, (str(state), report["tables"][0]["reason"])


def killed_between_the_renames() -> SimulatedCluster:
    sim = build()
    fault = Fault.crash_after(
        lambda point: point.op == "rename" and point.args[0] == f"{WAREHOUSE}/events/k=a"
    )
    with pytest.raises(Killed):
        run(sim.client(fault), "compact", "--tables", EVENTS, "--run-id", "r1")
    return sim


def test_a_folder_that_a_late_task_of_a_dead_driver_makes_again_is_no_run() -> None:
    sim = killed_between_the_renames()
    sim.tree.write(f"{HOME}/r0.0123456789ab/__compact_tmp_1772323100/k=b/part-0.parquet", b"x", parents=True)
    sim.tree.make_dirs(f"{HOME}/r0.0123456789ac/journal")
    assert [run(sim.client(), verb, "--tables", EVENTS)["exit_code"] for verb in ("compact", "rollback")] == [
        0,
        0,
    ]
    assert check(sim) == []


def test_a_folder_that_cannot_be_closed_is_not_worked_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, the run went on, and each later job refused it."""
    set_attributes = ModelFileSystem.set_attributes

    def refused(self: ModelFileSystem, path: str, wanted: Attributes) -> Sequence[LostAttribute]:
        return (
            [LostAttribute(MODE, "no")]
            if path.startswith(f"{HOME}/r1.") and "__" not in path
            else set_attributes(self, path, wanted)
        )

    sim = build()
    monkeypatch.setattr(ModelFileSystem, "set_attributes", refused)
    first = run(sim.client(), "compact", "--tables", EVENTS, "--run-id", "r1")
    monkeypatch.undo()
    if first["exit_code"]:
        assert first["tables"][0]["code"] == "NOT_WRITABLE"
        assert "write permission of other accounts" in first["tables"][0]["reason"]
    assert run(sim.client(), "compact", "--tables", EVENTS)["exit_code"] == 0
    assert check(sim) == []

"""A driver whose clock is ahead: the file system, and the generations of a run, tell which run is the newest."""

from __future__ import annotations

import pytest

from tests.crash.exits import ROLL, ask, must_end
from tests.crash.flat_table import append, compact, only, outcomes
from tests.crash.oracle import check
from tests.crash.scenario import FLAT, build, run
from tests.crash.simulated_cluster import SimulatedCluster


def compacted_twice(second: str) -> SimulatedCluster:
    """The clock of the first driver is a quarter of an hour ahead, and the second one begins earlier than that."""
    sim = build()
    assert compact(sim.client(skew=900.0), FLAT, "r1")["exit_code"] == 0
    sim.advance(600)
    for _ in range(6):
        append(sim)()
    must_end(sim, "compact", "--table", FLAT, "--run-id", second)
    return sim


def test_a_run_that_was_requested_again_is_rolled_back_in_its_newest_generation() -> None:
    sim = compacted_twice("r1")
    reports = [
        run(sim.client(), "rollback", "--table", FLAT, request={"runs": {FLAT: ["r1"]}}) for _ in range(2)
    ]
    assert [(report["exit_code"], only(report)["run_id"]) for report in reports] == [(0, "r1-g2"), (0, None)]
    assert check(sim) == []


def test_the_newest_run_is_rolled_back_first() -> None:
    sim = compacted_twice("r2")
    reports = [ask(sim, *ROLL) for _ in range(2)]
    assert [only(report)["run_id"] for report in reports] == ["r2", "r1"]
    assert [outcomes(report) for report in reports] == [["restored"], ["restored"]]
    assert check(sim) == []


@pytest.mark.parametrize("taken", ["r1-g2", "r1-g7"])
def test_a_run_that_is_requested_again_gets_a_number_above_all_others(taken: str) -> None:
    """Otherwise its rollback would be that of the other run."""
    sim = build()
    must_end(sim, "compact", "--table", FLAT, "--run-id", taken)
    for _ in range(6):
        append(sim)()
    must_end(sim, "compact", "--table", FLAT, "--run-id", "r1")
    report = run(sim.client(), "rollback", "--table", FLAT, request={"runs": {FLAT: ["r1"]}})
    assert (outcomes(report), only(report)["run_id"] == taken) == (["restored"], False)
    assert check(sim) == []

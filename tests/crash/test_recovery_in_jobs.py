"""A job reads its table again after it has waited; and it names errors that nobody expects."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import AT_ONCE, compact, only
from tests.crash.model_fs import ModelFileSystem
from tests.crash.scenario import EVENTS, build, run
from tests.crash.simulated_cluster import SimulatedCluster


def _takes_lease(point: Point) -> bool:
    return point.op == "create" and "/lease-" in point.args[0]


def _originals_of_b(sim: SimulatedCluster) -> str:
    swaps = [(run, unit.swap) for run in runs_of(sim, [EVENTS]) for unit in run.state.units.values()]
    return next(run.path(swap.old) for run, swap in swaps if swap.live.endswith("/k=b"))


def _set_location(sim: SimulatedCluster, value: str, place: str) -> None:
    name, spec = TableName.parse(EVENTS), (("k", value),)
    known = sim.metastore.get(name)
    sim.metastore.put(name, replace(known, partitions={**known.partitions, spec: place}))


def test_the_table_is_read_again_after_the_wait_for_a_lease() -> None:
    """Somebody makes the originals the data of a partition, while a cleanup waits for the lease of a dead job."""
    sim = build()
    compact(sim.client(), EVENTS, "r1")
    with pytest.raises(Killed):
        run(sim.client(Fault.crash_after(_takes_lease)), "cleanup", "--table", EVENTS, *AT_ONCE)
    old = _originals_of_b(sim)
    repointed = Fault.hook(_takes_lease, lambda: _set_location(sim, "b", old))
    report = run(sim.client(repointed), "cleanup", "--table", EVENTS, *AT_ONCE)
    assert report["exit_code"] == 3
    assert sim.tree.files(old) != []


@pytest.mark.parametrize("verb", ["rollback", "cleanup"])
def test_an_error_that_nobody_expects_is_named_and_logged(
    verb: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sim = build()
    compact(sim.client(), EVENTS)
    real = ModelFileSystem.identity

    def broken(self: ModelFileSystem, path: str) -> str | None:
        if "/k=b" in path:
            raise ZeroDivisionError("nobody expects this")
        return real(self, path)

    monkeypatch.setattr(ModelFileSystem, "identity", broken)
    with caplog.at_level(logging.ERROR, "lakekeeper"):
        report = run(sim.client(), verb, "--table", EVENTS, *(AT_ONCE if verb == "cleanup" else ()))
    reasons = {unit["unit"]["k"]: unit["reason"] for unit in only(report)["units"]}
    assert (only(report)["outcome"], reasons["b"]) == ("partial", "ZeroDivisionError: nobody expects this")
    assert any(record.exc_info for record in caplog.records)


def _moves_originals_away(point: Point) -> bool:
    return point.op.startswith("rename") and str(point.args[0]).endswith("/k=b")


def test_a_retry_after_the_deadline_brings_a_missing_partition_back() -> None:
    """The job died between the two renames, and its retry comes when the time for swaps is over: the partition must not
    be missing until the next night."""
    sim = build()
    live = sim.metastore.get(TableName.parse(EVENTS)).partitions[(("k", "b"),)]
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(_moves_originals_away)), EVENTS, "r1")
    assert sim.tree.find(live) is None
    passed = datetime.fromtimestamp(sim.millis / 1000 - 60, timezone.utc).isoformat()
    report = run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1", "--deadline", passed)
    assert sim.tree.find(live) is not None
    assert report["exit_code"] == 0

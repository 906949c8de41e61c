"""Each guard of a compaction against other jobs by itself, the metastore's part in it too: see test_guards_writers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.messages.errors import LeaseLost
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.values.model import TableName, parent
from spark_jobs.protocol.execution.backup_table import sync_backup_table
from spark_jobs.protocol.runs.journal_store import Journal
from spark_jobs.protocol.runs.lease import LeaseOptions, LeaseSet
from spark_jobs.protocol.runs.run_lifecycle import enter
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import HOME, append, compact, into, only, out, outcomes, writing
from tests.crash.oracle import check
from tests.crash.process import acting_as
from tests.crash.scenario import FLAT, run
from tests.crash.simulated_cluster import SimulatedCluster


class TestOtherJobs:
    def test_a_living_owner_is_waited_for_and_not_taken_over(self, flat: SimulatedCluster) -> None:
        reports: list[dict[str, Any]] = []
        second = Fault.hook(writing, lambda: reports.append(compact(flat.client(), FLAT, "r2")))
        assert outcomes(compact(flat.client(second))) == ["compacted"]
        assert only(reports[0])["outcome"] == "busy"

    @pytest.mark.parametrize("look", [4, 6, 9])
    def test_an_owner_whose_heartbeat_waits_for_the_server_is_not_taken_over(
        self, flat: SimulatedCluster, look: int
    ) -> None:
        """The server answers nobody for half a minute, in the middle of a look of the job that waits."""
        reports: list[dict[str, Any]] = []
        looks: list[Point] = []

        def second_look(point: Point) -> bool:
            looks.extend([point] if point.op == "list" and point.args[0] == HOME else [])
            return len(looks) == look

        def stall() -> None:
            flat.tree.millis += 30_000

        def other() -> None:
            reports.append(compact(flat.client(Fault.hook(second_look, stall)), FLAT, "r2"))

        assert outcomes(compact(flat.client(Fault.hook(writing, other)))) == ["compacted"]
        assert only(reports[0])["outcome"] == "busy"

    @pytest.mark.parametrize("moment", [out, into])
    def test_who_slept_at_a_rename_is_fenced_off(
        self, flat: SimulatedCluster, moment: Callable[[Point], bool]
    ) -> None:
        """It wakes up, fails, and has not changed a thing."""
        left: list[str] = []

        def meanwhile() -> None:
            assert compact(flat.client(), FLAT, "r2")["exit_code"] == 0
            append(flat)()
            assert run(flat.client(), "compact", "--table", FLAT, "--run-id", "r3")["exit_code"] == 0
            left.append(flat.tree.digest())

        zombie = flat.client(Fault.hook(moment, meanwhile, paused=True))
        assert compact(zombie)["exit_code"] != 0
        assert (flat.tree.digest(), check(flat)) == (left[0], [])

    def test_who_was_taken_over_before_he_opened_a_run_does_nothing_more(
        self, flat: SimulatedCluster
    ) -> None:
        def opening(point: Point) -> bool:
            return point.op == "create" and "/r1." in point.args[0]

        zombie = flat.client(Fault.hook(opening, lambda: compact(flat.client(), FLAT, "r2"), paused=True))
        assert "taken" in only(compact(zombie))["reason"]
        assert not any(writing(point) for point in zombie.trace)

    def test_who_was_taken_over_before_he_entered_a_run_does_nothing_more(
        self, flat: SimulatedCluster
    ) -> None:
        compact(flat.client())
        (found,) = runs_of(flat, [FLAT])
        first, second = flat.client(), flat.client()
        with acting_as(first), LeaseSet(first.cluster, LeaseOptions("rollback")) as leases:
            leases.take([HOME])
            first.injector.paused = True
            with acting_as(second), LeaseSet(second.cluster, LeaseOptions("cleanup")) as other:
                other.take([HOME])
            first.injector.paused = False
            with pytest.raises(LeaseLost):
                enter(replace(found, journal=Journal(first.fs, found.directory)), leases, "rollback")

    def test_the_metastore_is_not_told_of_a_folder_that_was_taken_over(self, flat: SimulatedCluster) -> None:
        """It would make the directories, and a zombie could rename into them again."""
        compact(flat.client())
        (found,) = runs_of(flat, [FLAT])
        flat.tree.rename(found.directory, f"{parent(found.directory)}/r1.ffffffffffff")
        client = flat.client()
        with acting_as(client):
            facts = client.metastore.table(TableName.parse(FLAT))
            cluster = client.cluster
            backup, warnings = sync_backup_table(cluster, facts, Options(), [found], fresh=True)
        assert (backup, flat.tree.find(found.directory)) == (None, None)
        assert warnings

    def test_the_metastore_is_told_of_originals_only_when_they_are_there(
        self, flat: SimulatedCluster
    ) -> None:
        with pytest.raises(Killed):
            compact(flat.client(Fault.crash_before(out)))
        (found,) = runs_of(flat, [FLAT])
        client = flat.client()
        with acting_as(client):
            facts = client.metastore.table(TableName.parse(FLAT))
            sync_backup_table(client.cluster, facts, Options(), [found])
        swap = next(iter(found.state.units.values())).swap
        assert flat.tree.find(found.path(swap.old)) is None

"""The model's time, threads, writers and oracle, and the jobs in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault, Killed
from tests.crash.model_pool import CooperativeLock
from tests.crash.model_spark import encode_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import EVENTS, FLAT, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

A, B = f"{AUTHORITY}/a", f"{AUTHORITY}/b"


class TestTime:
    def test_the_heart_of_the_living_beats_while_another_sleeps(self, sim: SimulatedCluster) -> None:
        one, two = sim.client(), sim.client(skew=3600)
        beats: list[float] = []
        stop = one.clock.every(10, lambda: beats.append(one.clock.monotonic()))
        two.clock.sleep(35)
        assert [round(beat) for beat in beats] == [10, 20, 30]
        assert 3599 < (two.clock.now() - one.clock.now()).total_seconds() < 3601
        one.injector.paused = True
        two.clock.sleep(35)
        one.injector.paused = False
        assert len(beats) == 3
        two.clock.sleep(1)
        assert len(beats) == 4
        stop()
        two.clock.sleep(100)
        assert len(beats) == 4

    def test_the_dead_and_the_failed_have_no_heartbeat(self, sim: SimulatedCluster) -> None:
        killed, failed = sim.client(Fault.crash_before(2)), sim.client(Fault.error_before(2))
        for client in (killed, failed):
            client.clock.every(10, lambda client=client: client.fs.mkdirs(f"{B}/{client.points}"))  # type: ignore[misc]
        sim.client().clock.sleep(60)
        assert (killed.points, killed.state) == (2, "killed")
        assert (failed.points, failed.state) == (2, "alive")

    def test_a_heartbeat_waits_for_a_lock_of_its_own_process(self, sim: SimulatedCluster) -> None:
        client, lock, beats = sim.client(), CooperativeLock(), []

        def beat() -> None:
            with lock:
                beats.append(1)

        client.clock.every(10, beat)
        with lock:
            client.clock.sleep(15)
        assert not beats
        client.clock.sleep(15)
        assert beats


class TestPool:
    @staticmethod
    def _order(sim: SimulatedCluster, seed: int | None, size: int = 3) -> list[str]:
        client = sim.copy().client(seed=seed)

        def act(item: int) -> None:
            for step in range(4):
                client.fs.mkdirs(f"{B}/{item}/{step}")

        with client.cluster.pool(size) as pool:
            list(pool.map(act, range(6)))
        return [point.args[0] for point in client.trace]

    def test_a_seed_is_an_interleaving(self, sim: SimulatedCluster) -> None:
        plain = [f"{B}/{item}/{step}" for item in range(6) for step in range(4)]
        assert self._order(sim, None) == self._order(sim, 7, size=1) == plain
        orders = [self._order(sim, seed) for seed in (1, 2, 3)]
        assert orders == [self._order(sim, seed) for seed in (1, 2, 3)]
        assert len({tuple(order) for order in [*orders, plain]}) == 4
        assert all(sorted(order) == plain for order in orders)

    def test_a_lock_is_respected_and_deadlocks_nobody(self, sim: SimulatedCluster) -> None:
        client, lock, inside = sim.client(seed=5), CooperativeLock(), []

        def act(item: int) -> None:
            with lock:
                inside.append(item)
                client.fs.mkdirs(f"{B}/{item}")
                client.fs.mkdirs(f"{B}/{item}/x")
                inside.append(item)

        with client.cluster.pool(4) as pool:
            list(pool.map(act, range(8)))
        assert inside[::2] == inside[1::2]
        assert sorted(inside[::2]) == list(range(8))

    def test_a_death_ends_all_threads(self, sim: SimulatedCluster) -> None:
        client = sim.client(Fault.crash_after(5), seed=3)
        before = threading.active_count()

        def act(item: int) -> None:
            for step in range(4):
                client.fs.mkdirs(f"{B}/{item}/{step}")

        with pytest.raises(Killed), client.cluster.pool(4) as pool:
            list(pool.map(act, range(8)))
        assert (client.points, threading.active_count()) == (5, before)

    def test_the_first_failure_by_item_is_raised(self, sim: SimulatedCluster) -> None:
        client = sim.client(seed=1)

        def act(item: int) -> None:
            client.fs.list(B)
            if item % 2:
                raise ValueError(item)

        with pytest.raises(ValueError, match="1"), client.cluster.pool(3) as pool:
            list(pool.map(act, range(6)))
        assert client.points == 6


class TestWriters:
    def test_a_copy_lives_a_life_of_its_own(self) -> None:
        sim = build()
        before, twin = sim.digest(), sim.copy()
        stream = writers.open_append(sim, A, sim.ledger.fresh(1))
        other = stream.on(middle := sim.copy())
        assert other.close()
        assert (twin.digest(), check(twin)) == (before, [])
        assert middle.digest() != sim.digest() != before

    def test_a_staged_append_loses_its_stage_with_the_directory(self, sim: SimulatedCluster) -> None:
        writer = writers.staged_append(sim, A, sim.ledger.fresh(2))
        writer.stage()
        sim.tree.rename(A, f"{B}/old")
        assert not writer.publish()
        assert not writer.finish()
        assert sim.ledger.due == {1, 2, 3}

    @pytest.mark.parametrize("overwrite", [writers.overwrite_by_recreation, writers.overwrite_in_place])
    def test_what_is_overwritten_may_go(self, overwrite: Callable[..., None]) -> None:
        sim = build()
        place = writers.location_of(sim, EVENTS, "a")
        before = sim.tree.find(place)
        overwrite(sim, place, sim.ledger.fresh(2))
        assert check(sim, resurrected=True) == []
        assert (sim.tree.find(place) == before) is (overwrite is writers.overwrite_in_place)
        assert len(live_rows(sim, EVENTS)) == 26

    def test_the_oracle_sees_loss_and_doubling(self) -> None:
        sim = build()
        place = writers.location_of(sim, EVENTS, "a")
        sim.tree.rename(place, f"{AUTHORITY}/warehouse/events/.lakekeeper-x")
        assert [text.split(" are ")[1] for text in check(sim)] == ["lost", "lost"]
        assert check(sim, journaled=True) == []
        sim.tree.rename(f"{AUTHORITY}/warehouse/events/.lakekeeper-x", place)
        sim.tree.write(f"{place}__old_1/x", encode_rows([1, 2, 3]), parents=True)
        assert check(sim) == ["after MSCK: rows [1, 2, 3] are live twice"]

    def test_dropped_rows_are_given_up(self) -> None:
        sim = build()
        writers.drop_partition(sim, EVENTS, "c", delete_data=True)
        assert check(sim, resurrected=True) == []
        assert sim.tree.find(f"{AUTHORITY}/elsewhere/c") is None


class TestJobs:
    ARGS = ("--tables", f"{EVENTS},{FLAT}", "--run-id", "r1")

    def test_a_compaction_and_its_rollback(self) -> None:
        sim = build()
        before = [live_rows(sim, table) for table in (EVENTS, FLAT)]
        report = run(sim.client(), "compact", *self.ARGS)
        assert (report["exit_code"], check(sim)) == (0, [])
        assert sum(len(sim.tree.files(unit.location)) for unit in sim.units(EVENTS)) == 3
        assert run(sim.client(), "rollback", *self.ARGS)["exit_code"] == 0
        assert (check(sim), [live_rows(sim, table) for table in (EVENTS, FLAT)]) == ([], before)

    @pytest.mark.parametrize("seed", [None, 11])
    def test_the_same_state_always_comes_out(self, seed: int | None) -> None:
        def outcome() -> tuple[str, list[str]]:
            sim = build()
            client = sim.client(seed=seed)
            run(client, "compact", *self.ARGS)
            return sim.digest(), [str(point) for point in client.trace]

        assert outcome() == outcome()

    def test_a_request_is_read(self) -> None:
        request: dict[str, Any] = {"units": {EVENTS: [{"k": "b"}]}}
        report = run(build().client(), "compact", "--table", EVENTS, request=request)
        assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["compacted"]

    def test_crash_states_are_what_crashes_leave(self) -> None:
        """One pass with an observer finds what killing the process at each point finds."""

        def act(client: Client) -> None:
            run(client, "compact", "--table", FLAT, "--run-id", "r1")

        sim = build()
        states = crash_states(sim, act)
        found = {state.sim.digest() for state in states}
        last = states[-1].point
        assert last is not None
        killed = {self._killed(sim, act, number) for number in range(1, last.number + 1)}
        assert killed | {sim.digest()} == found

    @staticmethod
    def _killed(sim: SimulatedCluster, act: Callable[[Client], object], number: int) -> str:
        twin = sim.copy()
        with pytest.raises(Killed):
            act(twin.client(Fault.crash_after(number)))
        return twin.digest()

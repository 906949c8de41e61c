"""Guards of claims, of archives, and of writers that come twice around one swap: see test_guards_writers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault, Point
from tests.crash.flat_table import LIVE, compact, into, out, outcomes
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

AT_ONCE = ("--older-than", "0s", "--skip-trash")


class TestClaims:
    def test_what_a_cleanup_has_claimed_is_looked_at_again(self) -> None:
        """It died after its claim, and the table has lost its rows since."""
        sim = build()
        run(sim.client(), "compact", "--table", FLAT)
        states = crash_states(sim, lambda client: run(client, "cleanup", "--table", FLAT, *AT_ONCE))
        claimed = [state.sim for state in states if _folders(state.sim, "/__claimed_")]
        assert claimed
        for each in claimed:
            if not _files(each, "/__claimed_"):
                continue
            for name, _ in each.tree.files(LIVE):
                each.tree.remove(f"{LIVE}/{name}")
            report = run(each.client(), "cleanup", "--table", FLAT, *AT_ONCE)
            assert report["exit_code"] == 3
            assert check(each, journaled=True) == []

    def test_a_claim_is_found_although_the_clock_of_the_driver_was_behind(self) -> None:
        """Before: the folder of a claim was named by a time that could be told in two ways."""
        sim = build()
        late = sim.client(skew=-5.0)
        run(late, "compact", "--table", FLAT)
        states = crash_states(sim, lambda client: run(client, "cleanup", "--table", FLAT, *AT_ONCE))
        for state in states:
            run(state.sim.client(), "rollback", "--table", FLAT)
            assert check(state.sim) == [], str(state)
            assert not _files(state.sim, "/__claimed_"), str(state)


def _folders(sim: SimulatedCluster, part: str) -> list[str]:
    return [path for path, _, inode in sim.tree.walk(WAREHOUSE) if part in path and inode.is_dir]


def _files(sim: SimulatedCluster, part: str) -> list[str]:
    return [path for path, _, inode in sim.tree.walk(WAREHOUSE) if part in path and not inode.is_dir]


class TestTwice:
    @pytest.mark.parametrize("kind", [None, "append"])
    def test_an_append_after_an_overwrite_is_kept(self, kind: str | None) -> None:
        """The directory is replaced right before the first rename, and somebody appends right after the second."""
        sim = build()
        swapped: list[Point] = []

        def after(point: Point) -> bool:
            swapped.extend([point] if into(point) else [])
            return bool(swapped) and not into(point)

        overwrite = Fault.hook(out, lambda: writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2)))
        append = Fault.hook(after, lambda: writers.append(sim, LIVE, sim.ledger.fresh(2)))
        request = {"arguments": {"writers": kind}} if kind else None
        run(sim.client(overwrite, append), "compact", "--table", FLAT, request=request)
        lost = [text for text in check(sim, resurrected=True) if "lost" in text]
        assert lost == []


class TestThreeTimes:
    @pytest.mark.parametrize("second", [1, 2, 3])
    @pytest.mark.parametrize("third", [1, 2, 3])
    def test_recreations_around_one_rollback_lose_no_row(self, second: int, third: int) -> None:
        """Writers that append create the live directory again before each of the first renames of a rollback."""
        sim = build()
        compact(sim.client())
        struck: list[int] = []

        def number(wanted: int) -> Callable[[Point], bool]:
            seen: list[int] = []

            def at(point: Point) -> bool:
                if point.op == "rename" and LIVE in point.args:
                    seen.append(point.number)
                return len(seen) == wanted

            return at

        def recreate() -> None:
            ids = sim.ledger.fresh(2)
            struck.append(ids[0])
            if sim.tree.find(LIVE) is not None:
                writers.overwrite_by_recreation(sim, LIVE, ids)
            else:
                writers.append(sim, LIVE, ids)

        moments = [Fault.hook(number(at), recreate) for at in sorted({1, 1 + second, 1 + second + third})]
        request = {"arguments": {"writers": "append"}}
        run(sim.client(*moments), "rollback", "--table", FLAT, request=request)
        for _ in range(2):
            run(sim.client(), "cleanup", "--table", FLAT, "--older-than", "365d", request=request)
        assert [text for text in check(sim, resurrected=False) if "lost" in text] == []
        assert _files(sim, "/__conflict_") == []
        assert len(struck) >= 2


class TestQuarantine:
    """A writer of unknown kind replaced the partition a between the two renames: a person must decide."""

    @pytest.fixture
    def quarantined(self) -> SimulatedCluster:
        sim, place = build(), f"{WAREHOUSE}/events/k=a"
        replaced = Fault.hook(
            lambda point: point.op == "rename" and point.args[1] == place,
            lambda: writers.overwrite_by_recreation(sim, place, sim.ledger.fresh(2)),
        )
        report = run(sim.client(replaced), "compact", "--table", EVENTS, "--run-id", "r1")
        assert report["exit_code"] == 3
        for _ in range(6):
            writers.append(sim, place, sim.ledger.fresh(2))
        return sim

    @pytest.mark.parametrize("run_id", ["r1", "r2"])
    def test_the_unit_is_left_alone_by_the_next_compactions(
        self, quarantined: SimulatedCluster, run_id: str
    ) -> None:
        before = _tree(quarantined, f"{WAREHOUSE}/events/k=a")
        report = run(quarantined.client(), "compact", "--table", EVENTS, "--run-id", run_id)
        (table,) = report["tables"]
        found = [unit["outcome"] for unit in table["units"] if unit["unit"] == {"k": "a"}]
        assert found == ["quarantined"]
        assert report["exit_code"] == 3
        assert _tree(quarantined, f"{WAREHOUSE}/events/k=a") == before
        assert check(quarantined, journaled=True) == []

    def test_the_property_that_decides_ends_it(self, quarantined: SimulatedCluster) -> None:
        request = {"arguments": {"writers": "append"}}
        report = run(quarantined.client(), "compact", "--table", EVENTS, request=request)
        assert (report["exit_code"], check(quarantined)) == (0, [])
        assert {"compacted"} == set(outcomes(report)) - {"healthy"}


def _tree(sim: SimulatedCluster, folder: str) -> list[str]:
    return sorted(path for path, _, _ in sim.tree.walk(folder))


class TestArchives:
    def test_a_partition_that_was_moved_to_an_archive_is_looked_at_there(self) -> None:
        """Before: its originals were kept for ever, and cleanup ended with 3 every night."""
        sim = build()
        compact(sim.client(), EVENTS)
        _move_partition(sim, "a", f"{WAREHOUSE}/archive-a")
        report = run(sim.client(), "cleanup", "--table", EVENTS, *AT_ONCE)
        assert (report["exit_code"], outcomes(report)) == (0, ["cleaned"] * 3)
        assert check(sim) == []

    def test_nor_is_its_only_copy_deleted(self) -> None:
        sim = build()
        compact(sim.client(), EVENTS)
        _move_partition(sim, "a", f"{WAREHOUSE}/archive-a")
        for name, _ in sim.tree.files(f"{WAREHOUSE}/archive-a"):
            sim.tree.remove(f"{WAREHOUSE}/archive-a/{name}")
        report = run(sim.client(), "cleanup", "--table", EVENTS, *AT_ONCE)
        assert sorted(outcomes(report)) == ["cleaned", "cleaned", "quarantined"]
        assert check(sim, journaled=True) == []


def _move_partition(sim: SimulatedCluster, value: str, target: str) -> None:
    """`hdfs dfs -mv`, and ALTER TABLE PARTITION SET LOCATION."""
    name, spec = TableName.parse(EVENTS), (("k", value),)
    known = sim.metastore.get(name)
    sim.tree.rename(known.partitions[spec], target)
    sim.metastore.put(name, replace(known, partitions={**known.partitions, spec: target}))

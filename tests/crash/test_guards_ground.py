"""Directories to which HDFS ties more than files, and room: what a compaction must know before it writes anything."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.core.rules.quota import Quota
from tests.crash.fault_injection import Fault
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

LIVE = f"{WAREHOUSE}/flat"
#: A quota that leaves so many names, or bytes, and no limit of the other kind.
ROOM = 10_000_000


def report(sim: SimulatedCluster, verb: str = "compact", table: str = FLAT) -> dict[str, Any]:
    """With quotas that somebody has named; those of a table's root need no name."""
    request = {"arguments": {"quota_folders": [WAREHOUSE, f"{WAREHOUSE}/nowhere"]}}
    return run(sim.client(), verb, "--table", table, request=request)


def refusal(sim: SimulatedCluster, verb: str = "compact") -> tuple[str | None, str]:
    """Of the table without partitions: its code and its reason, and no success."""
    found = report(sim, verb)
    (table,) = found["tables"]
    assert (found["exit_code"], table["outcome"]) == (1, "refused")
    return table["code"], table["reason"]


def units(sim: SimulatedCluster) -> list[dict[str, Any]]:
    """Of the table with partitions; the third of them lies elsewhere."""
    (table,) = report(sim, table=EVENTS)["tables"]
    return table["units"]


def codes(sim: SimulatedCluster) -> list[str | None]:
    return [unit["code"] for unit in units(sim)]


def compacted(sim: SimulatedCluster) -> bool:
    (table,) = report(sim)["tables"]
    return [unit["outcome"] for unit in table["units"]] == ["compacted"]


def named(folder: str, room: int) -> Quota:
    return Quota(folder, room + 7, 7, None, 0)


def spaced(folder: str, room: int) -> Quota:
    return Quota(folder, None, 0, room + 7, 7)


@pytest.fixture
def sim() -> SimulatedCluster:
    return build()


class TestPlaces:
    @pytest.mark.parametrize("verb", ["analyze", "compact"])
    @pytest.mark.parametrize(
        ("code", "tie"),
        [
            ("ENCRYPTION_ZONE_ROOT", {"zones": frozenset([LIVE])}),
            ("SNAPSHOTTABLE", {"snapshottable": frozenset([LIVE])}),
            ("QUOTA", {"quotas": {LIVE: named(LIVE, ROOM)}}),
        ],
    )
    def test_a_root_of_something_is_refused_before_anything_is_written(
        self, sim: SimulatedCluster, verb: str, code: str, tie: dict[str, Any]
    ) -> None:
        sim.tree.__dict__.update(tie)
        before = {path for path, _, _ in sim.tree.walk(WAREHOUSE)}
        assert refusal(sim, verb)[0] == code
        after = {path for path, _, _ in sim.tree.walk(WAREHOUSE)}
        assert {path for path in after - before if "/lease-" not in path} <= {f"{WAREHOUSE}/.lakekeeper-flat"}

    def test_a_table_whose_root_is_one_is_compacted_partition_by_partition(
        self, sim: SimulatedCluster
    ) -> None:
        """The home lies in the root: what is swapped stays in its zone, and below its snapshots and quotas."""
        root = f"{WAREHOUSE}/events"
        sim.tree.zones = sim.tree.snapshottable = frozenset([root])
        sim.tree.quotas = {root: named(root, ROOM)}
        assert [unit["outcome"] for unit in units(sim)] == ["compacted"] * 3

    def test_only_the_partition_that_is_one_is_left_alone(self, sim: SimulatedCluster) -> None:
        sim.tree.snapshottable = frozenset([f"{WAREHOUSE}/events/k=b"])
        assert codes(sim) == [None, "SNAPSHOTTABLE", None]

    def test_a_partition_that_is_dropped_meanwhile_is_not_failed(self, sim: SimulatedCluster) -> None:
        """The metastore forgets it, its directory goes: what remains of the run is for the others."""
        gone = f"{WAREHOUSE}/events/k=b"
        fault = Fault.hook(
            lambda point: point.op == "encryption_zone" and point.args[0] == gone,
            lambda: sim.tree.remove(gone, True),
        )
        (table,) = run(sim.client(fault), "analyze", "--table", EVENTS)["tables"]
        assert [unit["outcome"] for unit in table["units"]] == ["flagged"] * 3


class TestRoom:
    @pytest.mark.parametrize("quota", [named, spaced])
    def test_a_quota_above_that_is_too_small_is_named_with_what_is_missing(
        self, sim: SimulatedCluster, quota: Any
    ) -> None:
        sim.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3)}
        code, reason = refusal(sim)
        assert code == "QUOTA"
        wanted = int(reason.split("at worst ")[1].split(" ")[0])
        assert f"quota of {WAREHOUSE} is 10 " in reason
        assert f"7 are used, and at worst {wanted} more" in reason
        assert f"{wanted - 3} are missing" in reason

    @pytest.mark.parametrize("quota", [named, spaced])
    def test_what_was_missing_is_enough(self, sim: SimulatedCluster, quota: Any) -> None:
        """The number in the message is the truth of the check: so much more, and it goes through; one less does not."""
        sim.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3)}
        missing = int(refusal(sim)[1].split(" are missing")[0].rsplit(" ", 1)[1])
        sim.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3 + missing - 1)}
        assert refusal(sim)[0] == "QUOTA"
        sim.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3 + missing)}
        assert compacted(sim)

    def test_names_that_are_asked_for_are_enough_and_not_many_more(self, sim: SimulatedCluster) -> None:
        """Counted before, at the worst moment, and after a compaction and its rollback."""
        root = f"{WAREHOUSE}/events"

        def names() -> int:
            return sum(1 for _ in sim.tree.walk(root))

        before, most = names(), [0]
        fault = Fault.hook(lambda _: most.append(names()) is not None, lambda: None)
        run(sim.client(fault), "compact", "--table", EVENTS)
        run(sim.client(), "rollback", "--table", EVENTS)
        needed = max(*most, names()) - before
        for room, short in ((needed - 1, True), (needed + 60, False)):
            sim = build()
            sim.tree.quotas = {root: named(root, room)}
            assert ("QUOTA" in codes(sim)) is short

    @pytest.mark.parametrize("quota", [named, spaced])
    def test_units_below_one_quota_share_its_room(self, sim: SimulatedCluster, quota: Any) -> None:
        sim.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3)}
        wanted = int(units(sim)[0]["reason"].split("at worst ")[1].split(" ")[0])
        sim.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, wanted)}
        assert codes(sim) == [None, "QUOTA", None]

    def test_open_files_are_charged_a_whole_block_in_all_units_at_work(self, sim: SimulatedCluster) -> None:
        """As HDFS does: a few bytes are written, and the room for them is a block; another one is for a record."""
        block, at_once = 128 * 1024 * 1024, 4
        sim.tree.quotas = {WAREHOUSE: spaced(WAREHOUSE, at_once * block)}
        assert refusal(sim)[0] == "QUOTA"
        sim.tree.quotas = {WAREHOUSE: spaced(WAREHOUSE, at_once * 2 * block)}
        assert compacted(sim)

    def test_of_folders_without_a_name_nothing_is_asked(self, sim: SimulatedCluster) -> None:
        """HDFS would count all that is below them."""
        client = sim.client()
        run(client, "compact", "--table", EVENTS)
        asked = {point.args[0] for point in client.trace if point.op == "quota"}
        assert {f"{WAREHOUSE}/events", f"{WAREHOUSE}/events/k=a"} <= asked
        assert not {WAREHOUSE, "hdfs://model", "hdfs://model/"} & asked

    def test_a_quota_that_may_not_be_known_is_left_to_the_file_system(self, sim: SimulatedCluster) -> None:
        sim.tree.quotas = {WAREHOUSE: named(WAREHOUSE, 0)}
        fault = Fault.error_before(lambda point: point.op == "quota" and point.args[0] == WAREHOUSE)
        request = {"arguments": {"quota_folders": [WAREHOUSE]}}
        (table,) = run(sim.client(fault), "compact", "--table", FLAT, request=request)["tables"]
        assert table["outcome"] == "done"

"""Directories to which HDFS ties more than files, and room: what a compaction must know before it writes anything."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.core.quota import Quota
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.world import World

LIVE = f"{WAREHOUSE}/flat"
#: A quota that leaves so many names, or bytes, and no limit of the other kind.
ROOM = 10_000_000


def units(world: World, table: str = FLAT, verb: str = "compact") -> list[dict[str, Any]]:
    (found,) = run(world.client(), verb, "--table", table)["tables"]
    return found["units"]


def named(folder: str, room: int) -> Quota:
    return Quota(folder, room + 7, 7, None, 0)


def spaced(folder: str, room: int) -> Quota:
    return Quota(folder, None, 0, room + 7, 7)


@pytest.fixture
def world() -> World:
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
        self, world: World, verb: str, code: str, tie: dict[str, Any]
    ) -> None:
        world.tree.__dict__.update(tie)
        before = {path for path, _, _ in world.tree.walk(WAREHOUSE)}
        assert [(unit["outcome"], unit["code"]) for unit in units(world, verb=verb)] == [("skipped", code)]
        after = {path for path, _, _ in world.tree.walk(WAREHOUSE)}
        assert {path for path in after - before if "/lease-" not in path} <= {f"{WAREHOUSE}/.lakekeeper-flat"}

    def test_a_table_whose_root_is_one_is_compacted_partition_by_partition(self, world: World) -> None:
        """The home lies in the root: what is swapped stays in its zone, and below its snapshots and quotas."""
        root = f"{WAREHOUSE}/events"
        world.tree.zones = world.tree.snapshottable = frozenset([root])
        world.tree.quotas = {root: named(root, ROOM)}
        assert [unit["outcome"] for unit in units(world, EVENTS)] == ["compacted"] * 3

    def test_only_the_partition_that_is_one_is_left_alone(self, world: World) -> None:
        world.tree.snapshottable = frozenset([f"{WAREHOUSE}/events/k=b"])
        assert [unit["code"] for unit in units(world, EVENTS)] == [None, "SNAPSHOTTABLE", None]


class TestRoom:
    @pytest.mark.parametrize("quota", [named, spaced])
    @pytest.mark.parametrize("folder", [WAREHOUSE, "hdfs://model/"])
    def test_a_quota_above_that_is_too_small_is_named_with_what_is_missing(
        self, world: World, folder: str, quota: Any
    ) -> None:
        world.tree.quotas = {folder: quota(folder, 3)}
        (unit,) = units(world)
        assert unit["code"] == "QUOTA"
        wanted = int(unit["reason"].split(", and ")[1].split(" ")[0])
        assert f"quota of {folder} is 10 " in unit["reason"]
        assert f"7 are used, and {wanted} would be written: {wanted - 3} are missing" in unit["reason"]

    @pytest.mark.parametrize("quota", [named, spaced])
    def test_what_was_missing_is_enough(self, world: World, quota: Any) -> None:
        """The number in the message is the truth of the check: so much more, and it goes through; one less does not."""
        world.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3)}
        missing = int(units(world)[0]["reason"].split(" are missing")[0].rsplit(" ", 1)[1])
        world.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3 + missing - 1)}
        assert units(world)[0]["code"] == "QUOTA"
        world.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3 + missing)}
        assert units(world)[0]["outcome"] == "compacted"

    @pytest.mark.parametrize("quota", [named, spaced])
    def test_units_below_one_quota_share_its_room(self, world: World, quota: Any) -> None:
        """The third one lies elsewhere."""
        world.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, 3)}
        wanted = int(units(world, EVENTS)[0]["reason"].split(", and ")[1].split(" ")[0])
        world.tree.quotas = {WAREHOUSE: quota(WAREHOUSE, wanted)}
        assert [unit["code"] for unit in units(world, EVENTS)] == [None, "QUOTA", None]

    def test_an_open_file_is_charged_a_whole_block(self, world: World) -> None:
        """As HDFS does: a few bytes are written, and the room for them is a block; another one is for a record."""
        (found,) = run(world.client(), "analyze", "--table", FLAT)["tables"]
        block = 128 * 1024 * 1024
        assert found["units"][0]["bytes"] < block
        world.tree.quotas = {WAREHOUSE: spaced(WAREHOUSE, 2 * block - 1)}
        assert units(world)[0]["code"] == "QUOTA"
        world.tree.quotas = {WAREHOUSE: spaced(WAREHOUSE, 2 * block)}
        assert units(world)[0]["outcome"] == "compacted"

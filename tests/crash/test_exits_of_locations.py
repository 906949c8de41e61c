"""Ways out at the location of a dropped table, or of several tables: the named command ends the state.

Each state fails two jobs in a row. Tests of states of one table are in test_exits.py and test_exits_of_runs.py.
"""

from __future__ import annotations

import re

import pytest

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.exits import ROOT, ask, compacted, drop, killed, must_end, set_location, twice
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import AT_ONCE, HOME, LIVE, compact, into, only, originals
from tests.crash.oracle import check, live_rows
from tests.crash.planted_records import record_torn
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build
from tests.crash.simulated_cluster import SimulatedCluster

CLEAN = ("cleanup", "--location", LIVE, *AT_ONCE)
FORGET = ("forget", "--location", LIVE, "--run-id", "r1", "--yes")


def live_files(sim: SimulatedCluster) -> list[str]:
    found = sim.tree.walk(WAREHOUSE)
    return [path for path, _, inode in found if "/.lakekeeper" not in path and not inode.is_dir]


def old_directories(sim: SimulatedCluster) -> list[str]:
    """Return the directories of originals that have files, without the changing name of their run."""
    found = [
        path for path, _, inode in sim.tree.walk(WAREHOUSE) if "/__originals_" in path and not inode.is_dir
    ]
    return sorted({re.sub(r"/r1\.[0-9a-f]+/", "/r1/", path.rsplit("/", 1)[0]) for path in found})


class TestDropped:
    """A dropped table has no name any more: each command takes its location."""

    def test_damaged_originals_are_forgotten_by_location(self) -> None:
        sim = compacted()
        sim.tree.remove(originals(sim), recursive=True)
        drop(sim)
        assert f"lakekeeper forget --location '{LIVE}' --run-id r1" in twice(sim, *CLEAN)
        must_end(sim, *FORGET)
        must_end(sim, *CLEAN)
        assert sim.tree.find(HOME) is None

    def test_without_yes_nothing_is_forgotten(self) -> None:
        sim = compacted()
        sim.tree.remove(originals(sim), recursive=True)
        drop(sim)
        before = sim.tree.digest()
        (unit,) = only(ask(sim, *FORGET[:-1]))["units"]
        assert unit["outcome"] == "flagged"
        assert sim.tree.digest() == before

    def test_a_swap_that_no_rule_covers_is_forgotten_by_location(self) -> None:
        sim = killed(Fault.crash_after(into))
        sim.tree.remove(originals(sim), recursive=True)
        drop(sim)
        assert f"lakekeeper forget --location '{LIVE}'" in twice(sim, *CLEAN)
        must_end(sim, *FORGET)
        must_end(sim, *CLEAN)

    def test_what_its_writers_do_is_said_on_the_command_line(self) -> None:
        sim = build()
        recreate = Fault.hook(into, lambda: writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2)))
        compact(sim.client(recreate))
        drop(sim)
        text = twice(sim, *CLEAN)
        assert f"`lakekeeper cleanup --location '{LIVE}' --writers append`" in text
        assert "ALTER TABLE" not in text
        must_end(sim, *CLEAN, "--writers", "append")

    @pytest.mark.parametrize("which", [("--table", FLAT), ("--database", "sales")])
    def test_what_writers_do_is_said_by_a_property_of_a_table_that_exists(
        self, which: tuple[str, str]
    ) -> None:
        with pytest.raises(UsageError, match=r"lakekeeper\.writers"):
            parse("cleanup", [*which, "--writers", "append"], "")

    def test_a_run_that_cannot_be_read_is_checked_by_location(self) -> None:
        sim = compacted()
        record_torn(sim)
        drop(sim)
        assert f"lakekeeper check --location '{LIVE}'" in twice(sim, *CLEAN)
        report = ask(sim, "check", "--location", LIVE)
        assert (only(report)["outcome"], report["exit_code"]) == ("damaged", 1)
        assert [each["code"] for each in only(report)["findings"]] == ["JOURNAL_UNREADABLE"]

    def test_a_sound_one_has_no_damage_and_is_not_changed(self) -> None:
        sim = compacted(EVENTS)
        drop(sim, EVENTS)
        before = sim.tree.digest()
        report = ask(sim, "check", "--location", ROOT)
        assert (only(report)["table"], report["exit_code"]) == (EVENTS, 0)
        assert sim.tree.digest() == before

    def test_missing_originals_are_damage_that_names_the_location(self) -> None:
        sim = compacted()
        sim.tree.remove(originals(sim), recursive=True)
        drop(sim)
        (found,) = [
            f for f in only(ask(sim, "check", "--location", LIVE))["findings"] if f["severity"] == "damage"
        ]
        assert found["command"] == f"lakekeeper forget --location '{LIVE}' --run-id r1 --yes"

    @pytest.mark.parametrize("words", [("check",), FORGET[:1] + FORGET[3:]])
    def test_a_location_without_runs_is_named(self, words: tuple[str, ...]) -> None:
        report = ask(build(), words[0], "--location", f"{WAREHOUSE}/nowhere", *words[1:])
        assert "nowhere" in only(report)["reason"]


class TestUsedAgain:
    """A table of another layout, or another table, reads the directories of a dropped one."""

    @pytest.mark.parametrize(
        ("table", "place", "keys"), [(EVENTS, ROOT, ()), (EVENTS, f"{ROOT}/k=a", ()), (FLAT, LIVE, ("k",))]
    )
    def test_originals_go_when_the_live_directories_are_whole(
        self, table: str, place: str, keys: tuple[str, ...]
    ) -> None:
        sim = self.made_again(table, place, keys)
        before = live_files(sim)
        must_end(sim, "cleanup", "--location", ROOT if table == EVENTS else LIVE, *AT_ONCE)
        assert not old_directories(sim)
        assert live_files(sim) == before

    @pytest.mark.parametrize(("table", "place", "keys"), [(EVENTS, ROOT, ()), (FLAT, LIVE, ("k",))])
    def test_originals_stay_when_a_live_directory_has_lost_files(
        self, table: str, place: str, keys: tuple[str, ...]
    ) -> None:
        sim = self.made_again(table, place, keys)
        live = f"{ROOT}/k=a" if table == EVENTS else LIVE
        for name, _ in sim.tree.files(live):
            sim.tree.remove(f"{live}/{name}")
        unit = "k=a" if table == EVENTS else "flat"
        before = [path for path in old_directories(sim) if path.endswith(f"/{unit}")]
        report = ask(sim, "cleanup", "--location", place, *AT_ONCE)
        assert report["exit_code"] == 3
        (kept,) = [unit for unit in only(report)["units"] if unit["outcome"] == "quarantined"]
        assert "manual-restore" in kept["reason"]
        assert before == old_directories(sim)

    def made_again(self, table: str, place: str, keys: tuple[str, ...]) -> SimulatedCluster:
        sim = compacted(table)
        drop(sim, table)
        writers.create_table(sim, table, place, keys=keys)
        return sim

    @pytest.mark.parametrize("place", [WAREHOUSE, f"{LIVE}/below"])
    def test_a_table_above_or_below_is_no_obstacle(self, place: str) -> None:
        sim = compacted()
        drop(sim)
        writers.create_table(sim, "sales.other", place, keys=("d",))
        must_end(sim, *CLEAN)

    def test_partitions_that_stayed_when_the_root_was_moved_keep_their_only_copy(self) -> None:
        """ALTER TABLE SET LOCATION moves the root only. One of the partitions is lost then."""
        sim = compacted(EVENTS)
        sim.tree.make_dirs(f"{WAREHOUSE}/events_new")
        set_location(sim, EVENTS, f"{WAREHOUSE}/events_new")
        sim.tree.remove(f"{ROOT}/k=a", recursive=True)
        ask(sim, "cleanup", "--location", ROOT, *AT_ONCE)
        assert check(sim, journaled=True, repaired=False) == []

    def test_a_compaction_of_a_table_that_lost_its_partitions_names_the_cleanup(self) -> None:
        sim = self.made_again(EVENTS, ROOT, ())
        text = twice(sim, "compact", "--table", EVENTS, "--run-id", "r2")
        assert f"lakekeeper cleanup --location '{ROOT}'" in text

    def test_a_table_over_the_originals_is_named_with_what_to_do(self) -> None:
        sim = compacted()
        old = originals(sim)
        drop(sim)
        writers.create_table(sim, "sales.saved", old)
        assert "ALTER TABLE sales.saved SET LOCATION" in twice(sim, *CLEAN)
        set_location(sim, "sales.saved", f"{WAREHOUSE}/saved")
        must_end(sim, *CLEAN)


class TestShared:
    """Two tables have one location, and a run of the first one died between its renames."""

    @pytest.fixture
    def sim(self) -> SimulatedCluster:
        sim = build()
        writers.create_table(sim, "sales.twin", LIVE)
        return killed(Fault.crash_before(into), sim=sim)

    def test_a_compaction_of_the_other_one_names_the_table_that_recovers_it(
        self, sim: SimulatedCluster
    ) -> None:
        command = re.search(
            r"`lakekeeper (cleanup .+?)`", twice(sim, "compact", "--table", "sales.twin", "--run-id", "r2")
        )
        assert command is not None
        must_end(sim, *command[1].split())
        must_end(sim, "compact", "--table", "sales.twin", "--run-id", "r3")

    def test_a_check_of_the_other_one_does_not_advise_to_drop_it(self, sim: SimulatedCluster) -> None:
        report = ask(sim, "check", "--table", "sales.twin")
        (found,) = only(report)["findings"]
        assert (found["code"], report["exit_code"]) == ("RUN_UNFINISHED", 0)
        assert "lakekeeper cleanup --table sales.flat" in found["message"]
        assert sim.metastore.exists(TableName.parse("sales.twin"))
        assert not live_rows(sim, "sales.twin")

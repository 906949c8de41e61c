"""Each guard of a cleanup by itself: see test_guards_writers."""

from __future__ import annotations

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.flat_table import AT_ONCE, LIVE, clean_up, compact, only, originals, outcomes, roll_back
from tests.crash.model_metastore import forget_partitions
from tests.crash.model_spark import visible_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster


class TestCleanup:
    def test_a_file_that_came_to_the_originals_late_is_kept(self, done: SimulatedCluster) -> None:
        writers.append(done, originals(done), done.ledger.fresh(2))
        report = clean_up(done)
        assert (outcomes(report), report["exit_code"]) == (["quarantined"], 3)
        assert check(done, journaled=True) == []

    @pytest.mark.parametrize("words", [("--dry-run",), ("--config-file", f"{AUTHORITY}/lakekeeper.yaml")])
    def test_a_dry_run_changes_nothing(self, done: SimulatedCluster, words: tuple[str, ...]) -> None:
        done.tree.write(f"{AUTHORITY}/lakekeeper.yaml", b"dry_run: true\n", parents=True)
        before = dict(done.tree.inodes)
        report = run(done.client(), "cleanup", "--table", FLAT, "--older-than", "0s", *words)
        assert outcomes(report) == ["flagged"]
        assert done.tree.inodes == before

    def test_tables_that_only_a_file_names_need_a_retention(self, done: SimulatedCluster) -> None:
        """Nobody has named them when the originals are deleted."""
        file = f"{AUTHORITY}/lakekeeper.yaml"
        done.tree.write(file, f"table: {FLAT}\n".encode(), parents=True)
        before = done.digest()
        report = run(done.client(), "cleanup", "--config-file", file)
        assert (report["exit_code"], done.digest()) == (2, before)
        assert "the tables that the configuration file names needs a retention" in report["error"]
        section = f"table: {FLAT}\ntables: {{{FLAT}: {{keep_last: 1}}}}\n"
        done.tree.write(file, section.encode(), overwrite=True)
        assert run(done.client(), "cleanup", "--config-file", file)["exit_code"] == 0
        words = ("--config-file", file, "--older-than", "0s", "--keep-last", "0", "--skip-trash")
        assert outcomes(run(done.client(), "cleanup", *words)) == ["cleaned"]

    def test_a_directory_that_is_not_the_journaled_one_is_not_deleted(self, done: SimulatedCluster) -> None:
        """Somebody has put his own where the originals lay."""
        old = originals(done)
        done.tree.rename(old, f"{AUTHORITY}/moved")
        writers.append(done, old, done.ledger.fresh(2))
        assert outcomes(clean_up(done)) == ["quarantined"]
        assert check(done, journaled=True) == []

    @pytest.mark.parametrize("skew", [-8 * 86400, 8 * 86400])
    def test_the_retention_counts_by_the_clock_of_the_file_system(
        self, built: SimulatedCluster, skew: int
    ) -> None:
        """The driver that compacted was eight days behind, or the one that cleans up is eight days ahead."""
        compacts, cleans = built.client(skew=min(skew, 0)), built.client(skew=max(skew, 0))
        assert compact(compacts)["exit_code"] == 0
        report = run(cleans, "cleanup", "--table", FLAT, "--older-than", "7d")
        assert (only(report)["outcome"], outcomes(report)) == ("nothing", [])
        built.advance(7 * 86400)
        again = run(built.client(), "cleanup", "--table", FLAT, "--older-than", "7d")
        assert outcomes(again) == ["cleaned"]

    def test_originals_stay_while_the_live_directory_is_missing(self, done: SimulatedCluster) -> None:
        done.tree.rename(LIVE, f"{AUTHORITY}/moved")
        assert outcomes(clean_up(done)) == ["quarantined"]
        assert done.tree.find(originals(done))

    def test_originals_stay_while_the_live_directory_is_empty(self, done: SimulatedCluster) -> None:
        for name, _ in list(done.tree.files(LIVE)):
            done.tree.remove(f"{LIVE}/{name}")
        report = clean_up(done)
        assert (outcomes(report), report["exit_code"]) == (["quarantined"], 3)
        assert "only copy" in report["tables"][0]["units"][0]["reason"]
        assert outcomes(roll_back(done)) in (["restored"], ["failed"])
        assert check(done, journaled=True) == []

    def test_originals_stay_while_a_compacted_file_is_gone(self, done: SimulatedCluster) -> None:
        (name, _) = next(iter(done.tree.files(LIVE)))
        done.tree.remove(f"{LIVE}/{name}")
        writers.append(done, LIVE, done.ledger.fresh(2))
        report = clean_up(done)
        assert outcomes(report) == ["quarantined"]
        assert name in report["tables"][0]["units"][0]["reason"]
        assert check(done, journaled=True) == []

    def test_originals_stay_where_the_partition_has_another_value_now(self) -> None:
        """ALTER TABLE ... RENAME TO PARTITION leaves the files of an external table where they are."""
        sim = build()
        assert compact(sim.client(), EVENTS)["exit_code"] == 0
        place = writers.location_of(sim, EVENTS, "a")
        spec = writers.spec_of(sim, EVENTS, ["a"])
        forget_partitions(sim, TableName.parse(EVENTS), [spec])
        writers.add_partition(sim, EVENTS, "z", location=place)
        for name, _ in list(sim.tree.files(place)):
            sim.tree.remove(f"{place}/{name}")
        report = run(sim.client(), "cleanup", "--table", EVENTS, *AT_ONCE)
        found = {unit["unit"]["k"]: unit for unit in report["tables"][0]["units"]}
        assert (found["a"]["outcome"], found["b"]["outcome"]) == ("quarantined", "cleaned")
        assert "only copy" in found["a"]["reason"]

    def test_originals_stay_where_the_directory_was_moved_to_another_value(self) -> None:
        """hdfs dfs -mv, DROP PARTITION, ADD PARTITION; and then its files were lost."""
        sim = build()
        assert compact(sim.client(), EVENTS)["exit_code"] == 0
        forget_partitions(sim, TableName.parse(EVENTS), [writers.spec_of(sim, EVENTS, ["a"])])
        sim.tree.rename(f"{WAREHOUSE}/events/k=a", f"{WAREHOUSE}/events/k=z")
        place = writers.add_partition(sim, EVENTS, "z")
        for name, _ in list(sim.tree.files(place)):
            sim.tree.remove(f"{place}/{name}")
        run(sim.client(), "cleanup", "--table", EVENTS, *AT_ONCE)
        assert check(sim, journaled=True) == []

    @pytest.mark.parametrize("streamed", [False, True], ids=["task", "stream"])
    def test_originals_stay_while_the_live_directory_holds_only_an_empty_file(
        self, done: SimulatedCluster, streamed: bool
    ) -> None:
        """The directory was deleted by accident; a writer has made it again, and has just opened its next file."""
        done.tree.remove(LIVE, recursive=True)
        done.tree.make_dirs(LIVE)
        if streamed:
            writers.open_append(done, LIVE, done.ledger.fresh(2))
        else:
            done.tree.write(f"{LIVE}/part-00000-c000.snappy.parquet", b"")
        report = clean_up(done)
        assert (outcomes(report), report["exit_code"]) == (["quarantined"], 3)
        assert check(done, journaled=True) == []

    def test_leases_are_taken_also_of_what_is_due_by_the_clock_of_the_file_system_alone(self) -> None:
        """The driver is twelve hours behind, and the second run has a home of its own."""
        sim = build()
        assert compact(sim.client(), EVENTS, "r1")["exit_code"] == 0
        place = writers.add_partition(sim, EVENTS, "e", location=f"{AUTHORITY}/apart/e")
        for _ in range(4):
            writers.append(sim, place, sim.ledger.fresh(3))
        sim.advance(86400)
        assert compact(sim.client(), EVENTS, "r2")["exit_code"] == 0
        sim.advance(7 * 86400)
        report = run(sim.client(skew=-43200), "cleanup", "--table", EVENTS, "--older-than", "7d")
        assert (report["exit_code"], outcomes(report)) == (0, ["cleaned"] * 4)

    def test_originals_go_where_a_writer_has_overwritten_in_place_and_overwriters_are_announced(
        self, done: SimulatedCluster
    ) -> None:
        """Impala and Hive overwrite file by file, in the directory that is there."""
        done.ledger.overwritten.update(visible_rows(done.tree, LIVE))
        for name, _ in list(done.tree.files(LIVE)):
            done.tree.remove(f"{LIVE}/{name}")
        writers.append(done, LIVE, done.ledger.fresh(2))
        old, request = originals(done), {"arguments": {"writers": "overwrite"}}
        report = run(done.client(), "cleanup", "--table", FLAT, *AT_ONCE, request=request)
        assert (outcomes(report), done.tree.find(old)) == (["cleaned"], None)
        assert check(done) == []

"""Each guard of a rollback by itself, and of finding what one left unfinished: see test_guards_writers."""

from __future__ import annotations

import pytest

from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.swap.late_files import delete_own_files
from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import LIVE, clean_up, compact, only, originals, out, outcomes, roll_back
from tests.crash.model_spark import encode_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster


class TestUnfinished:
    def test_a_run_is_found_although_the_metastore_has_lost_its_only_partition(
        self, built: SimulatedCluster
    ) -> None:
        """The look reads one record of each run that has ended; that of the table's own home leads to the others."""
        only_outside = ("--partitions", '[{"k": "c"}]')
        assert compact(built.client(), EVENTS, "r1", *only_outside)["exit_code"] == 0
        away = writers.location_of(built, EVENTS, "c")
        in_the_gap = Fault.crash_before(lambda point: point.op == "rename" and point.args[1] == away)
        with pytest.raises(Killed):
            roll_back(built, EVENTS, in_the_gap)
        writers.msck(built, EVENTS, sync=True)
        (table,) = run(built.client(), "analyze", "--table", EVENTS)["tables"]
        assert [text for text in table["warnings"] if text.startswith("RUN_UNFINISHED: run r1 is unfinished")]


class TestRollback:
    def test_rows_appended_since_stay_in_the_table(self, done: SimulatedCluster) -> None:
        writers.append(done, LIVE, done.ledger.fresh(2))
        assert (outcomes(roll_back(done)), check(done)) == (["restored"], [])

    def test_rows_appended_in_the_last_moment_stay_in_the_table(self, done: SimulatedCluster) -> None:
        late = Fault.hook(out, lambda: writers.append(done, LIVE, done.ledger.fresh(2)))
        assert (outcomes(roll_back(done, FLAT, late)), check(done)) == (["restored"], [])

    @pytest.mark.parametrize("calls", [*range(1, 13), 24, 32, 48])
    def test_a_rename_that_a_server_carries_out_late_finds_no_way_any_more(
        self, done: SimulatedCluster, calls: int
    ) -> None:
        """Repeated at once it would succeed; what was moved aside is then deleted, and the live directory follows."""
        report = roll_back(done, FLAT, Fault.late(out, calls))
        assert outcomes(report) == ["restored"]
        done.catch_up()
        assert check(done) == []
        assert compact(done.client(), FLAT, "next")["exit_code"] == 0
        assert check(done) == []

    def test_a_partition_that_is_dropped_in_the_last_moment_does_not_come_back(
        self, built: SimulatedCluster
    ) -> None:
        assert compact(built.client(), EVENTS)["exit_code"] == 0
        place = writers.location_of(built, EVENTS, "a")

        def out(point: Point) -> bool:
            return point.op == "rename" and point.args[0] == place

        drop = Fault.hook(out, lambda: writers.drop_partition(built, EVENTS, "a", delete_data=True))
        roll_back(built, EVENTS, drop)
        writers.msck(built, EVENTS)
        assert [unit.spec for unit in built.units(EVENTS)] == [(("k", "b"),), (("k", "c"),)]

    def test_rows_that_were_overwritten_since_do_not_come_back(self, done: SimulatedCluster) -> None:
        writers.overwrite_in_place(done, LIVE, done.ledger.fresh(2))
        assert (outcomes(roll_back(done)), check(done, resurrected=True)) == (["failed"], [])

    def test_rows_that_were_overwritten_in_the_last_moment_do_not_come_back(
        self, done: SimulatedCluster
    ) -> None:
        def out(point: Point) -> bool:
            return point.op == "rename" and point.args[0] == LIVE

        late = Fault.hook(out, lambda: writers.overwrite_in_place(done, LIVE, done.ledger.fresh(2)))
        assert (outcomes(roll_back(done, FLAT, late)), check(done, resurrected=True)) == (["failed"], [])

    def test_what_others_put_into_a_folder_of_ours_is_not_deleted(self, done: SimulatedCluster) -> None:
        fs, folder = done.client().fs, f"{AUTHORITY}/aside"
        done.tree.write(f"{folder}/ours", encode_rows([1]), parents=True)
        ours: FileListing = fs.list_files(folder)
        done.tree.write(f"{folder}/theirs", encode_rows([2]))
        assert not delete_own_files(fs, ours, folder)
        assert [entry.name for entry in fs.list(folder)] == ["theirs"]

    def test_rows_appended_between_the_renames_stay_in_the_table_that_is_not_rolled_back(
        self, done: SimulatedCluster
    ) -> None:
        """One writer overwrites the rewritten files right before the renames, another appends between them."""
        old = originals(done)

        def out(point: Point) -> bool:
            return point.op == "rename" and point.args[0] == LIVE

        def back(point: Point) -> bool:
            return point.op == "rename" and point.args[0] == old

        late = Fault.hook(out, lambda: writers.overwrite_in_place(done, LIVE, done.ledger.fresh(2)))
        between = Fault.hook(back, lambda: writers.append(done, LIVE, done.ledger.fresh(2)))
        request = {"arguments": {"writers": "append"}}
        report = run(done.client(late, between), "rollback", "--table", FLAT, request=request)
        assert (outcomes(report), check(done, resurrected=True)) == (["failed"], [])

    def test_the_journal_and_not_the_metastore_leads_the_way_back(self) -> None:
        sim = build()
        before = live_rows(sim, FLAT)
        report = compact(sim.client(Fault.error_before(lambda point: point.op == "create_backup")))
        assert (report["exit_code"], only(report)["backup_table"]) == (0, None)
        assert outcomes(roll_back(sim)) == ["restored"]
        assert (live_rows(sim, FLAT), len(sim.tree.files(LIVE))) == (before, 6)

    @pytest.mark.parametrize("verb", ["rollback", "cleanup"])
    def test_a_table_whose_name_begins_like_another_s_leaves_its_runs_alone(self, verb: str) -> None:
        """Both have the partition that lies elsewhere, and so a home in common."""
        sim = build()
        longer, elsewhere = f"{EVENTS}_2p", f"{AUTHORITY}/elsewhere/c"
        writers.create_table(sim, longer, f"{WAREHOUSE}/events_2p", keys=("k",))
        writers.add_partition(sim, longer, "c", location=elsewhere)
        assert outcomes(compact(sim.client(), longer)) == ["compacted"]
        report = roll_back(sim, EVENTS) if verb == "rollback" else clean_up(sim, EVENTS)
        assert outcomes(report) == []
        assert outcomes(roll_back(sim, longer)) == ["restored"]

"""Each guard of a rollback and of a cleanup by itself, and of what is left alone: see test_guards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.footers import Footer
from spark_jobs.core.model import Manifest, TableName, name_of
from spark_jobs.shell.swap.leftovers import forget
from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.model_metastore import forget_partitions
from tests.crash.model_spark import ModelFooters, encode_rows, visible_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_guards import LIVE, compact, only, out, outcomes

AT_ONCE = ("--older-than", "0s", "--skip-trash")


@pytest.fixture
def done() -> SimulatedCluster:
    """The cluster after a compaction of the flat table."""
    sim = build()
    assert compact(sim.client())["exit_code"] == 0
    return sim


@pytest.fixture
def built() -> SimulatedCluster:
    """Tables that all need a compaction."""
    return build()


def _old(sim: SimulatedCluster) -> str:
    """Where the originals of the flat table lie."""
    (found,) = runs_of(sim, [FLAT])
    return found.path(next(iter(found.state.units.values())).swap.old)


def _rollback(sim: SimulatedCluster, table: str = FLAT, *faults: Fault) -> dict[str, Any]:
    return run(sim.client(*faults), "rollback", "--table", table)


def _cleanup(sim: SimulatedCluster, table: str = FLAT) -> dict[str, Any]:
    return run(sim.client(), "cleanup", "--table", table, *AT_ONCE)


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
            _rollback(built, EVENTS, in_the_gap)
        writers.msck(built, EVENTS, sync=True)
        (table,) = run(built.client(), "analyze", "--table", EVENTS)["tables"]
        assert [text for text in table["warnings"] if text.startswith("run r1 has not ended")]


class TestRollback:
    def test_rows_appended_since_stay_in_the_table(self, done: SimulatedCluster) -> None:
        writers.append(done, LIVE, done.ledger.fresh(2))
        assert (outcomes(_rollback(done)), check(done)) == (["restored"], [])

    def test_rows_appended_in_the_last_moment_stay_in_the_table(self, done: SimulatedCluster) -> None:
        late = Fault.hook(out, lambda: writers.append(done, LIVE, done.ledger.fresh(2)))
        assert (outcomes(_rollback(done, FLAT, late)), check(done)) == (["restored"], [])

    @pytest.mark.parametrize("calls", [*range(1, 13), 24, 32, 48])
    def test_a_rename_that_a_server_carries_out_late_finds_no_way_any_more(
        self, done: SimulatedCluster, calls: int
    ) -> None:
        """Repeated at once it would succeed; what was moved aside is then deleted, and the live directory follows."""
        report = _rollback(done, FLAT, Fault.late(out, calls))
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
        _rollback(built, EVENTS, drop)
        writers.msck(built, EVENTS)
        assert [unit.spec for unit in built.units(EVENTS)] == [(("k", "b"),), (("k", "c"),)]

    def test_rows_that_were_overwritten_since_do_not_come_back(self, done: SimulatedCluster) -> None:
        writers.overwrite_in_place(done, LIVE, done.ledger.fresh(2))
        assert (outcomes(_rollback(done)), check(done, resurrected=True)) == (["failed"], [])

    def test_rows_that_were_overwritten_in_the_last_moment_do_not_come_back(
        self, done: SimulatedCluster
    ) -> None:
        def out(point: Point) -> bool:
            return point.op == "rename" and point.args[0] == LIVE

        late = Fault.hook(out, lambda: writers.overwrite_in_place(done, LIVE, done.ledger.fresh(2)))
        assert (outcomes(_rollback(done, FLAT, late)), check(done, resurrected=True)) == (["failed"], [])

    def test_what_others_put_into_a_folder_of_ours_is_not_deleted(self, done: SimulatedCluster) -> None:
        fs, folder = done.client().fs, f"{AUTHORITY}/aside"
        done.tree.write(f"{folder}/ours", encode_rows([1]), parents=True)
        ours: Manifest = fs.manifest(folder)
        done.tree.write(f"{folder}/theirs", encode_rows([2]))
        assert not forget(fs, ours, folder)
        assert [entry.name for entry in fs.list(folder)] == ["theirs"]

    def test_rows_appended_between_the_renames_stay_in_the_table_that_is_not_rolled_back(
        self, done: SimulatedCluster
    ) -> None:
        """One writer overwrites the rewritten files right before the renames, another appends between them."""
        old = _old(done)

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
        assert outcomes(_rollback(sim)) == ["restored"]
        assert (live_rows(sim, FLAT), len(sim.tree.files(LIVE))) == (before, 6)

    @pytest.mark.parametrize("verb", ["rollback", "cleanup"])
    def test_a_table_whose_name_begins_like_another_s_leaves_its_runs_alone(self, verb: str) -> None:
        """Both have the partition that lies elsewhere, and so a home in common."""
        sim = build()
        longer, elsewhere = f"{EVENTS}_2p", f"{AUTHORITY}/elsewhere/c"
        writers.create_table(sim, longer, f"{WAREHOUSE}/events_2p", keys=("k",))
        writers.add_partition(sim, longer, "c", location=elsewhere)
        assert outcomes(compact(sim.client(), longer)) == ["compacted"]
        report = _rollback(sim, EVENTS) if verb == "rollback" else _cleanup(sim, EVENTS)
        assert outcomes(report) == []
        assert outcomes(_rollback(sim, longer)) == ["restored"]


class TestCleanup:
    def test_a_file_that_came_to_the_originals_late_is_kept(self, done: SimulatedCluster) -> None:
        writers.append(done, _old(done), done.ledger.fresh(2))
        report = _cleanup(done)
        assert (outcomes(report), report["exit_code"]) == (["quarantined"], 3)
        assert check(done, journaled=True) == []

    def test_a_directory_that_is_not_the_journaled_one_is_not_deleted(self, done: SimulatedCluster) -> None:
        """Somebody has put his own where the originals lay."""
        old = _old(done)
        done.tree.rename(old, f"{AUTHORITY}/moved")
        writers.append(done, old, done.ledger.fresh(2))
        assert outcomes(_cleanup(done)) == ["quarantined"]
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
        assert outcomes(_cleanup(done)) == ["quarantined"]
        assert done.tree.find(_old(done))

    def test_originals_stay_while_the_live_directory_is_empty(self, done: SimulatedCluster) -> None:
        for name, _ in list(done.tree.files(LIVE)):
            done.tree.remove(f"{LIVE}/{name}")
        report = _cleanup(done)
        assert (outcomes(report), report["exit_code"]) == (["quarantined"], 3)
        assert "only copy" in report["tables"][0]["units"][0]["reason"]
        assert outcomes(_rollback(done)) in (["restored"], ["failed"])
        assert check(done, journaled=True) == []

    def test_originals_stay_while_a_compacted_file_is_gone(self, done: SimulatedCluster) -> None:
        (name, _) = next(iter(done.tree.files(LIVE)))
        done.tree.remove(f"{LIVE}/{name}")
        writers.append(done, LIVE, done.ledger.fresh(2))
        report = _cleanup(done)
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

    def test_originals_go_where_a_writer_has_overwritten_in_place_and_overwriters_are_announced(
        self, done: SimulatedCluster
    ) -> None:
        """Impala and Hive overwrite file by file, in the directory that is there."""
        done.ledger.overwritten.update(visible_rows(done.tree, LIVE))
        for name, _ in list(done.tree.files(LIVE)):
            done.tree.remove(f"{LIVE}/{name}")
        writers.append(done, LIVE, done.ledger.fresh(2))
        old, request = _old(done), {"arguments": {"writers": "overwrite"}}
        report = run(done.client(), "cleanup", "--table", FLAT, *AT_ONCE, request=request)
        assert (outcomes(report), done.tree.find(old)) == (["cleaned"], None)
        assert check(done) == []


class TestLeftAlone:
    def test_no_table_of_the_originals_where_nobody_wants_one(self) -> None:
        sim = build()
        request = {"arguments": {"register_backup": False}}
        report = run(sim.client(), "compact", "--table", FLAT, request=request)
        assert (only(report)["backup_table"], outcomes(report)) == (None, ["compacted"])
        assert [str(name) for name, _ in sim.metastore.tables()] == [EVENTS, FLAT]

    def test_the_table_of_the_originals_goes_to_the_database_that_is_meant_for_it(self) -> None:
        sim = build()
        sim.metastore.databases["guarded"] = {}
        request = {"arguments": {"backup_database": "guarded"}}
        report = run(sim.client(), "compact", "--table", FLAT, request=request)
        assert only(report)["backup_table"].startswith("guarded.__bkp_flat_")

    @pytest.mark.parametrize(
        ("serde", "code"),
        [("hive.serde.Text", "SERDE"), ("org.apache.hadoop.hive.ql.io.orc.OrcSerde", "SERDE")],
    )
    def test_a_partition_of_another_format_than_its_table(
        self, monkeypatch: pytest.MonkeyPatch, serde: str, code: str
    ) -> None:
        sim = build()
        client = sim.client()
        units = client.metastore.units

        def mixed(facts: Any) -> Any:
            orc = "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"
            return [
                (unit, replace(storage, input_format=orc, serde=serde) if _is(unit, "a") else storage)
                for unit, storage in units(facts)
            ]

        monkeypatch.setattr(client.metastore, "units", mixed)
        found = {unit["unit"]["k"]: unit["code"] for unit in only(compact(client, EVENTS))["units"]}
        assert found == {"a": code, "b": None, "c": None}

    def test_partitions_that_share_a_directory(self) -> None:
        sim = build()
        writers.add_partition(sim, EVENTS, "twin", location=f"{AUTHORITY}/elsewhere/c")
        found = {unit["unit"]["k"]: unit["code"] for unit in only(compact(sim.client(), EVENTS))["units"]}
        assert found == {"a": None, "b": None, "c": "LOCATION_OVERLAP", "twin": "LOCATION_OVERLAP"}

    @pytest.mark.parametrize(("mark", "code"), [(".hoodie", "HUDI"), ("_delta_log", "DELTA")])
    def test_another_table_format_under_the_root(self, mark: str, code: str) -> None:
        sim = build()
        sim.tree.make_dirs(f"{WAREHOUSE}/events/{mark}")
        assert only(compact(sim.client(), EVENTS))["code"] == code


class TestFiles:
    def test_columns_by_position_need_files_of_one_schema(
        self, built: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place, footer = f"{AUTHORITY}/by_position", ModelFooters._footer
        writers.create_table(built, "sales.by_position", place, **{"parquet.column.index.access": "true"})
        first, *_ = [writers.append(built, place, built.ledger.fresh(1)) for _ in range(3)]

        def renamed(self: ModelFooters, file: str) -> Footer:
            found = footer(self, file)
            return replace(found, leaves={"_col0": "int64"}) if name_of(file) == first else found

        monkeypatch.setattr(ModelFooters, "_footer", renamed)
        (unit,) = only(compact(built.client(), "sales.by_position"))["units"]
        assert unit["code"] == "POSITIONAL"

    def test_files_of_no_length_are_dropped_and_recorded(self, built: SimulatedCluster) -> None:
        built.tree.write(f"{LIVE}/part-empty", b"")
        assert outcomes(compact(built.client())) == ["compacted"]
        (found,) = runs_of(built, [FLAT])
        swap = next(iter(found.state.units.values())).swap
        assert "part-empty" in [file.name for file in swap.originals.files]

    def test_statistics_are_not_touched_unless_asked_for(self, built: SimulatedCluster) -> None:
        client, asked = built.copy().client(), built.client()
        compact(client)
        compact(asked, FLAT, "r1", "--analyze-stats")
        assert [any(point.op == "analyze" for point in c.trace) for c in (client, asked)] == [False, True]


def _is(unit: Any, value: str) -> bool:
    return bool(dict(unit.spec).get("k") == value)

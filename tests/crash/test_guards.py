"""Each guard of a compaction by itself: what a writer, a second job or a fault does at the one moment that it is for.

The exhaustive tests find that something is wrong; these say which guard is missing, and tests/mutation removes each to
see them fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.errors import Held
from spark_jobs.core.footers import Footer
from spark_jobs.core.model import TableName, parent
from spark_jobs.core.options import Options
from spark_jobs.shell.stages.backup import project_backup
from spark_jobs.shell.state.journal_store import Journal
from spark_jobs.shell.state.lease import Custody, Terms
from spark_jobs.shell.state.runs import enter
from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.model_spark import ModelFooters, encode_rows, visible_rows
from tests.crash.oracle import check
from tests.crash.process import acting_as
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

LIVE = f"{WAREHOUSE}/flat"
HOME = f"{WAREHOUSE}/.lakekeeper-flat"


def out(point: Point) -> bool:
    """R1: the originals leave the live path."""
    return point.op == "rename" and point.args[0] == LIVE


def into(point: Point) -> bool:
    """R2: something becomes the live directory."""
    return point.op == "rename" and point.args[1] == LIVE


def writing(point: Point) -> bool:
    """In the middle of the rewrite: the originals have been read."""
    return point.op == "raw_rename"


def written(point: Point) -> bool:
    """The rewrite is verified, and nothing of it is journaled yet."""
    return point.op == "mkdirs" and "/__old_" in point.args[0]


def compact(client: Client, table: str = FLAT, run_id: str = "r1", *args: str) -> dict[str, Any]:
    return run(client, "compact", "--table", table, "--run-id", run_id, *args)


def outcomes(report: dict[str, Any]) -> list[str]:
    return [unit["outcome"] for table in report["tables"] for unit in table["units"]]


def only(report: dict[str, Any]) -> dict[str, Any]:
    (table,) = report["tables"]
    return table


@pytest.fixture
def flat() -> SimulatedCluster:
    return build()


def _written(sim: SimulatedCluster) -> str:
    """The directory with the rewritten files, before it goes live."""
    (new,) = {
        parent(path)
        for path, _, inode in sim.tree.walk(HOME)
        if "/__compact_tmp_" in path and not inode.is_dir
    }
    return new


def _append(sim: SimulatedCluster, place: str = LIVE) -> Callable[[], object]:
    return lambda: writers.append(sim, place, sim.ledger.fresh(2))


class TestWriters:
    def test_nothing_happens_between_the_two_renames(self, flat: SimulatedCluster) -> None:
        client = flat.client()
        compact(client)
        first = next(number for number, point in enumerate(client.trace) if out(point))
        assert into(client.trace[first + 1])

    def test_rows_appended_in_the_last_moment_are_carried(self, flat: SimulatedCluster) -> None:
        report = compact(flat.client(Fault.hook(out, _append(flat))))
        assert (outcomes(report), check(flat)) == (["compacted"], [])

    def test_rows_replaced_during_the_compaction_call_the_swap_off(self, flat: SimulatedCluster) -> None:
        client = flat.client(Fault.hook(written, lambda: writers.overwrite_in_place(flat, LIVE, [900])))
        report = compact(client)
        assert (outcomes(report), check(flat, resurrected=True)) == (["changed"], [])
        assert not any(out(point) for point in client.trace)

    def test_a_directory_made_anew_in_the_gap_is_carried_along(self, flat: SimulatedCluster) -> None:
        request = {"arguments": {"writers": "append"}}
        client = flat.client(Fault.hook(into, _append(flat)))
        report = run(client, "compact", "--table", FLAT, request=request)
        assert (outcomes(report), report["exit_code"], check(flat)) == (["compacted"], 0, [])

    def test_rows_replaced_while_they_are_read_are_no_failure(self, flat: SimulatedCluster) -> None:
        client = flat.client(Fault.hook(writing, lambda: writers.overwrite_in_place(flat, LIVE, [900])))
        report = compact(client)
        assert (outcomes(report), report["exit_code"], check(flat, resurrected=True)) == (["changed"], 0, [])

    def test_rows_replaced_in_the_last_moment_are_not_brought_back(self, flat: SimulatedCluster) -> None:
        client = flat.client(Fault.hook(out, lambda: writers.overwrite_in_place(flat, LIVE, [900])))
        assert (outcomes(compact(client)), check(flat, resurrected=True)) == (["changed"], [])

    @pytest.mark.parametrize("name", ["part-0._COPYING_", "_temporary", ".hive-staging_x"])
    def test_staging_in_a_unit_is_left_alone(self, flat: SimulatedCluster, name: str) -> None:
        flat.tree.write(f"{LIVE}/{name}", b"half a file")
        assert only(compact(flat.client()))["code"] == "ACTIVE_WRITER"

    def test_staging_above_a_unit_is_left_alone(self, flat: SimulatedCluster) -> None:
        flat.tree.make_dirs(f"{WAREHOUSE}/events/.spark-staging-1")
        codes = [unit["code"] for unit in only(compact(flat.client(), EVENTS))["units"]]
        assert codes == ["ACTIVE_WRITER", "ACTIVE_WRITER", None]

    def test_a_unit_with_an_open_file_is_left_alone(self, flat: SimulatedCluster) -> None:
        stream = writers.open_append(flat, LIVE, flat.ledger.fresh(2))
        assert only(compact(flat.client()))["code"] == "ACTIVE_WRITER"
        assert stream.close()
        assert check(flat) == []

    def test_a_job_that_stages_as_the_swap_begins_gets_through(self, flat: SimulatedCluster) -> None:
        job = writers.staged_append(flat, LIVE, flat.ledger.fresh(2))
        report = compact(flat.client(Fault.hook(out, job.stage)))
        assert outcomes(report) == ["changed"]
        assert (job.publish(), job.finish(), check(flat)) == (True, True, [])

    def test_a_directory_made_anew_in_the_gap_is_nobodys_to_judge(self, flat: SimulatedCluster) -> None:
        """Its rows, and both copies of ours, stay until somebody says what writers of this table do."""
        report = compact(flat.client(Fault.hook(into, _append(flat))))
        assert (outcomes(report), report["exit_code"]) == (["quarantined"], 3)
        assert check(flat, journaled=True) == []

    def test_folders_in_a_unit_are_refused(self, flat: SimulatedCluster) -> None:
        flat.tree.write(f"{LIVE}/HIVE_UNION_SUBDIR_1/000000_0", b"rows", parents=True)
        before = flat.tree.digest()
        assert only(compact(flat.client()))["code"] == "SUBDIRECTORIES"
        assert flat.tree.find(LIVE)
        assert before == flat.tree.digest()


class TestOtherJobs:
    def test_a_living_owner_is_waited_for_and_not_taken_over(self, flat: SimulatedCluster) -> None:
        reports: list[dict[str, Any]] = []
        second = Fault.hook(writing, lambda: reports.append(compact(flat.client(), FLAT, "r2")))
        assert outcomes(compact(flat.client(second))) == ["compacted"]
        assert only(reports[0])["outcome"] == "busy"

    @pytest.mark.parametrize("moment", [out, into])
    def test_who_slept_at_a_rename_is_fenced_off(
        self, flat: SimulatedCluster, moment: Callable[[Point], bool]
    ) -> None:
        """It wakes up, fails, and has not changed a thing."""
        left: list[str] = []

        def meanwhile() -> None:
            assert compact(flat.client(), FLAT, "r2")["exit_code"] == 0
            _append(flat)()
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
        with acting_as(first), Custody(first.cluster, Terms("rollback")) as custody:
            custody.take([HOME])
            first.injector.paused = True
            with acting_as(second), Custody(second.cluster, Terms("cleanup")) as other:
                other.take([HOME])
            first.injector.paused = False
            with pytest.raises(Held):
                enter(replace(found, journal=Journal(first.fs, found.folder)), custody, "rollback")

    def test_the_metastore_is_not_told_of_a_folder_that_was_taken_over(self, flat: SimulatedCluster) -> None:
        """It would make the directories, and a zombie could rename into them again."""
        compact(flat.client())
        (found,) = runs_of(flat, [FLAT])
        flat.tree.rename(found.folder, f"{parent(found.folder)}/r1.ffffffffffff")
        client = flat.client()
        with acting_as(client):
            facts = client.metastore.table(TableName.parse(FLAT))
            cluster = client.cluster
            backup, warnings = project_backup(cluster, facts, Options(), [found], fresh=True)
        assert (backup, flat.tree.find(found.folder)) == (None, None)
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
            project_backup(client.cluster, facts, Options(), [found])
        swap = next(iter(found.state.units.values())).swap
        assert flat.tree.find(found.path(swap.old)) is None


class TestFaults:
    @pytest.mark.parametrize("moment", [out, into])
    def test_whoever_comes_next_settles_what_a_death_left(
        self, flat: SimulatedCluster, moment: Callable[[Point], bool]
    ) -> None:
        with pytest.raises(Killed):
            compact(flat.client(Fault.crash_after(moment)))
        assert compact(flat.client(), FLAT, "r2")["exit_code"] == 0
        assert check(flat, journaled=False) == []

    def test_what_is_not_whole_any_more_does_not_go_live(self, flat: SimulatedCluster) -> None:
        with pytest.raises(Killed):
            compact(flat.client(Fault.crash_after(out)))
        new = next(
            path for path, _, inode in flat.tree.walk(HOME) if "/__compact_tmp_" in path and not inode.is_dir
        )
        flat.tree.remove(new)
        compact(flat.client())
        assert check(flat) == []

    @pytest.mark.parametrize("moment", [out, into])
    @pytest.mark.parametrize("fault", [Fault.error_before, Fault.error_after])
    def test_an_answer_of_a_rename_is_not_believed(
        self, flat: SimulatedCluster, moment: Callable[[Point], bool], fault: Callable[..., Fault]
    ) -> None:
        """What has not begun is called off; what is in the middle goes on."""
        report = compact(flat.client(fault(moment)))
        called_off = fault == Fault.error_before and moment == out
        assert outcomes(report) == ["failed" if called_off else "compacted"]
        assert check(flat) == []

    @pytest.mark.parametrize("moment", [out, into])
    @pytest.mark.parametrize("calls", [*range(1, 13), 24, 48])
    def test_a_rename_that_a_server_carries_out_late_finds_no_way_any_more(
        self, flat: SimulatedCluster, moment: Callable[[Point], bool], calls: int
    ) -> None:
        report = compact(flat.client(Fault.late(moment, calls)))
        assert outcomes(report)[0] in ("failed", "compacted")
        flat.catch_up()
        assert check(flat) == []
        assert compact(flat.client(), FLAT, "next")["exit_code"] == 0
        assert check(flat) == []

    def test_a_file_of_a_task_that_ends_late_is_not_taken_for_a_writers(self, flat: SimulatedCluster) -> None:
        """Spark gives a task up, and its executor commits the file all the same: rows that are in the others too."""
        seen: list[str] = []

        def commit(point: Point) -> bool:
            """As the swap is journaled; it is called off then, for the directory is not what was verified."""
            return point.op == "rename" and point.args[1].endswith("/000002.json")

        def late() -> None:
            row = next(iter(visible_rows(flat.tree, LIVE)))
            seen.append(f"{_written(flat)}/part-late.parquet")
            flat.tree.write(seen[0], encode_rows([row]))

        report = compact(flat.client(Fault.hook(commit, late)))
        assert seen
        assert outcomes(report) == ["changed"]
        assert check(flat) == []

    def test_a_file_of_a_task_that_ends_late_does_not_go_live_with_the_others(
        self, flat: SimulatedCluster
    ) -> None:
        row = next(iter(visible_rows(flat.tree, LIVE)))
        with pytest.raises(Killed):
            compact(flat.client(Fault.crash_after(out)))
        flat.tree.write(f"{_written(flat)}/part-late.parquet", encode_rows([row]))
        assert compact(flat.client(), FLAT, "r2")["exit_code"] == 0
        assert check(flat) == []

    def test_a_permission_that_expires_in_the_gap_leaves_the_intent_open(
        self, flat: SimulatedCluster
    ) -> None:
        root = f"{WAREHOUSE}/hourly"
        writers.create_table(flat, "sales.hourly", root, keys=("d", "h"))
        live = writers.add_partition(flat, "sales.hourly", "1", "2")
        for _ in range(4):
            _append(flat, live)()

        def expire() -> None:
            flat.tree.readonly = frozenset({parent(live)})

        client = flat.client(Fault.hook(lambda p: p.op == "rename" and p.args[1] == live, expire))
        assert outcomes(compact(client, "sales.hourly")) == ["failed"]
        flat.tree.readonly = frozenset()
        assert compact(flat.client(), "sales.hourly", "r2")["exit_code"] == 0
        assert check(flat) == []

    def test_a_table_beside_which_nothing_can_be_written_is_refused_before_any_work(
        self, flat: SimulatedCluster
    ) -> None:
        flat.tree.readonly = frozenset({WAREHOUSE})
        client = flat.client()
        assert only(compact(client))["code"] == "NOT_WRITABLE"
        assert not any(point.op in ("footers", "raw_rename") for point in client.trace)

    def test_one_odd_table_does_not_stop_the_others(
        self, flat: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = flat.client()
        read = client.metastore.table

        def odd(name: TableName) -> Any:
            if str(name) == EVENTS:
                raise ValueError("a type that nobody has heard of")
            return read(name)

        monkeypatch.setattr(client.metastore, "table", odd)
        report = run(client, "compact", "--database", "sales")
        assert {t["table"]: t["outcome"] for t in report["tables"]} == {EVENTS: "failed", FLAT: "done"}

    @pytest.mark.parametrize("verb", ["analyze", "compact", "rollback", "cleanup"])
    @pytest.mark.parametrize("name", ["older_than", "target_file_size"])
    def test_a_property_that_cannot_be_read_stops_its_own_table_alone(
        self, flat: SimulatedCluster, verb: str, name: str
    ) -> None:
        root = f"{WAREHOUSE}/odd"
        writers.create_table(flat, "sales.odd", root, **{f"lakekeeper.{name}": "7 days"})
        report = run(flat.client(), verb, "--tables", f"sales.odd,{FLAT}")
        odd, other = report["tables"]
        assert (odd["outcome"], odd["code"]) == ("refused", "USAGE")
        assert all(text in odd["reason"] for text in (name, "'7 days'", "the properties of table sales.odd"))
        assert other["outcome"] in ("done", "nothing")
        assert report["exit_code"] == 1

    def test_one_odd_unit_does_not_stop_the_others(
        self, flat: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        footer = ModelFooters._footer

        def odd(self: ModelFooters, file: str) -> Footer:
            if "/k=a/" in file:
                raise ValueError("a footer that no parser expects")
            return footer(self, file)

        monkeypatch.setattr(ModelFooters, "_footer", odd)
        assert outcomes(compact(flat.client(), EVENTS)) == ["failed", "compacted", "compacted"]

"""What goes wrong half-way: no row is lost, nothing of others is deleted, and no report is green that should not be."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.core.arguments import parse
from spark_jobs.core.wire import Report
from spark_jobs.shell import job
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.files.rewrite import Rewriter
from spark_jobs.shell.hadoop.fs import HadoopFileSystem
from spark_jobs.shell.hadoop.metastore import Metastore, MetastoreError
from spark_jobs.shell.state.lease import Lease
from spark_jobs.shell.swap.returning import Returning
from spark_jobs.shell.swap.swapping import Swapping
from tests.harness.fixtures import Database
from tests.spark.meanwhile import Killed, after_moves, driven_clock, full_disk, killed_after_moves
from tests.spark.toolbox import VERBS, Jobs, data_files, local, many, only, outcomes, rows, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What happens after an accident is decided by the driver, from the journal and the directories.
pytestmark = pytest.mark.one_version


@pytest.fixture
def flat(spark: SparkSession, database: Database) -> str:
    many(spark, database.location("flat"), "SELECT id FROM range(60)", 6)
    location = database.location("flat")
    spark.sql(f"CREATE EXTERNAL TABLE {database}.flat (id BIGINT) STORED AS PARQUET LOCATION '{location}'")
    return f"{database}.flat"


@pytest.fixture
def pair(spark: SparkSession, database: Database) -> str:
    """Two partitions, `good` and `bad`, of 4 files each."""
    table, location = f"{database}.pair", database.location("pair")
    for key in ("good", "bad"):
        many(spark, f"{location}/k={key}", "SELECT id FROM range(40)", 4)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING) STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    return table


def _ids(spark: SparkSession, table: str) -> set[int]:
    spark.catalog.refreshTable(table)
    return {row.id for row in spark.table(table).collect()}


def _kill_rollback_in_its_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_: str, target: str) -> None:
        if "/__undone_" in target:
            raise Killed

    after_moves(monkeypatch, die)


def test_an_undo_that_fails_is_never_called_settled(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _ids(spark, flat)
    rename = HadoopFileSystem.rename

    def safe_mode(self: HadoopFileSystem, source: str, target: str) -> None:
        if target.endswith("/flat") and "/.lakekeeper-" not in target:
            raise OSError("the NameNode is in safe mode")
        rename(self, source, target)

    monkeypatch.setattr(HadoopFileSystem, "rename", safe_mode)
    first = jobs("compact", "--table", flat, "--run-id", "r1")
    assert (first["exit_code"], outcomes(first)) == (1, ["failed"])
    monkeypatch.undo()
    other = only(jobs("analyze", "--table", flat))
    assert [unit["outcome"] for unit in other["units"]] == ["flagged"]
    assert "run r1 was interrupted" in other["units"][0]["reason"]
    assert "run r1 has not ended" in other["warnings"][0]

    again = jobs("compact", "--table", flat, "--run-id", "r1")

    assert (again["exit_code"], outcomes(again)) == (0, ["compacted"])
    assert _ids(spark, flat) == before


@pytest.mark.parametrize(("replaced", "outcome"), [(False, "compacted"), (True, "changed")])
def test_rows_added_in_the_middle_of_a_swap_are_kept(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    flat: str,
    monkeypatch: pytest.MonkeyPatch,
    replaced: bool,
    outcome: str,
) -> None:
    """A slow writer closes a file in the originals while another appends to the directory that replaced them; a third
    may even have replaced one of the originals, and then the swap is undone."""
    sweep = Swapping._sweep

    def sweeping(self: Swapping, places: Any, problem: Any) -> Any:
        monkeypatch.undo()
        original = next(local(places.old).glob("part-*"))
        many(spark, places.old, "SELECT 777L AS id", 1)
        many(spark, places.live, "SELECT 888L AS id", 1)
        if replaced:
            os.utime(original, (1, 1))
        return sweep(self, places, problem)

    monkeypatch.setattr(Swapping, "_sweep", sweeping)
    report = jobs("compact", "--table", flat)
    assert outcomes(report) == [outcome]
    assert sorted(row.id for row in spark.table(flat).collect()) == [*range(60), 777, 888]


def test_rows_added_between_a_kill_and_its_retry_are_kept(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_after_moves(monkeypatch, 2)
    with pytest.raises(Killed):
        jobs("compact", "--table", flat, "--run-id", "r1")
    monkeypatch.undo()
    old = next((database.path / ".lakekeeper-flat").glob("r1.*/__old_*/flat"))
    many(spark, old.as_uri(), "SELECT 777L AS id", 1)
    many(spark, database.location("flat"), "SELECT 888L AS id", 1)

    report = jobs("compact", "--table", flat, "--run-id", "r1")

    assert (report["exit_code"], outcomes(report)) == (0, ["compacted"])
    assert sorted(row.id for row in spark.table(flat).collect()) == [*range(60), 777, 888]


@pytest.mark.parametrize("renames", [1, 2])
def test_a_killed_run_can_be_rolled_back(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    flat: str,
    monkeypatch: pytest.MonkeyPatch,
    renames: int,
) -> None:
    originals = data_files(database.path / "flat")
    killed_after_moves(monkeypatch, renames)
    with pytest.raises(Killed):
        jobs("compact", "--table", flat, "--run-id", "r1")
    monkeypatch.undo()
    report = jobs("rollback", "--table", flat, request={"runs": {flat: ["r1"]}})
    assert report["exit_code"] == 0
    assert data_files(database.path / "flat") == originals
    assert jobs("rollback", "--table", flat, "--run-id", "r1")["outcome"] == "nothing"


def test_a_retry_leaves_units_alone_that_its_run_has_swapped(
    spark: SparkSession, jobs: Jobs, database: Database, pair: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files that came since are for the next run: compacted again, the real originals would be forgotten."""
    originals = tree(database.path / "pair")
    full_disk(monkeypatch, "k=bad")
    assert jobs("compact", "--table", pair, "--run-id", "r1")["outcome"] == "partial"
    monkeypatch.undo()
    many(spark, f"{database.location('pair')}/k=good", "SELECT 900 + id AS id FROM range(6)", 3)

    report = jobs("compact", "--table", pair, "--run-id", "r1")

    assert (report["outcome"], outcomes(report)) == ("done", ["compacted"] * 2)
    assert outcomes(jobs("rollback", "--table", pair, "--run-id", "r1")) == ["restored"] * 2
    now = tree(database.path / "pair")
    assert {path: now.get(path) for path in originals} == originals
    assert len(now) == len(originals) + 3
    assert not list(database.path.rglob("__old_*"))


def test_a_rollback_that_was_killed_is_finished_by_the_retry(
    spark: SparkSession, jobs: Jobs, database: Database, pair: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(spark, pair)
    full_disk(monkeypatch, "k=bad")
    _kill_rollback_in_its_gap(monkeypatch)
    undo = {"arguments": {"on_failure": "undo"}}
    with pytest.raises(Killed):
        jobs("compact", "--table", pair, "--run-id", "r1", request=undo)
    monkeypatch.undo()
    interrupted = only(jobs("analyze", "--table", pair))["units"]
    assert {u["unit"]["k"]: "was interrupted" in (u["reason"] or "") for u in interrupted} == {
        "good": True,
        "bad": False,
    }

    report = jobs("compact", "--table", pair, "--run-id", "r1", request=undo)

    assert (report["outcome"], outcomes(report)) == ("done", ["compacted"] * 2)
    assert rows(spark, pair) == before


def test_on_failure_undo_says_what_it_could_not_put_back(
    jobs: Jobs, pair: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise OSError("denied")

    full_disk(monkeypatch, "k=bad")
    monkeypatch.setattr(Returning, "_out", denied)
    report = only(jobs("compact", "--table", pair, request={"arguments": {"on_failure": "undo"}}))
    assert "k=good could not be put back" in report["reason"]


def test_a_directory_made_anew_during_a_rollback_is_quarantined(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs("compact", "--table", flat, "--run-id", "r1")
    _kill_rollback_in_its_gap(monkeypatch)
    with pytest.raises(Killed):
        jobs("rollback", "--table", flat)
    monkeypatch.undo()
    many(spark, database.location("flat"), "SELECT 999L AS id", 1)
    report = jobs("rollback", "--table", flat)
    unit = only(report)["units"][0]
    assert (report["exit_code"], unit["outcome"]) == (3, "quarantined")
    assert "__undone_" in unit["reason"]
    assert "__old_" in unit["reason"]


def test_a_cleanup_that_stopped_short_neither_ages_nor_ends_the_run(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = only(jobs("compact", "--table", flat, "--run-id", "r1"))["backup_table"]
    many(spark, database.location("flat"), "SELECT 100 + id AS id FROM range(10)", 5)
    second = only(jobs("compact", "--table", flat, "--run-id", "r2"))["backup_table"]

    def denied(*_: object) -> None:
        raise OSError("denied")

    monkeypatch.setattr(HadoopFileSystem, "delete_tree", denied)
    stopped = jobs("cleanup", "--table", flat, "--keep-last", "1", "--skip-trash")
    assert (stopped["outcome"], outcomes(stopped)) == ("failed", ["failed"])
    assert spark.catalog.tableExists(second)
    monkeypatch.undo()

    cleaned = only(jobs("cleanup", "--table", flat, "--keep-last", "1", "--skip-trash"))

    assert (cleaned["run_id"], spark.catalog.tableExists(first)) == ("r1", False)
    assert spark.table(second).count() == 70
    assert outcomes(jobs("rollback", "--table", flat, "--run-id", "r2")) == ["restored"]


def test_what_a_cleanup_claimed_and_kept_can_still_be_rolled_back(
    jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals = data_files(database.path / "flat")
    jobs("compact", "--table", flat, "--run-id", "r1")

    def denied(*_: object) -> None:
        raise OSError("denied")

    monkeypatch.setattr(HadoopFileSystem, "delete_tree", denied)
    jobs("cleanup", "--table", flat, "--skip-trash")
    monkeypatch.undo()
    assert outcomes(jobs("rollback", "--table", flat, "--run-id", "r1")) == ["restored"]
    assert data_files(database.path / "flat") == originals


def test_cleanup_keeps_originals_that_the_metastore_reads(
    spark: SparkSession, jobs: Jobs, database: Database, pair: str
) -> None:
    jobs("compact", "--table", pair)
    old = next((database.path / "pair" / ".lakekeeper").glob("*.*/__old_*/k=good"))
    spark.sql(f"ALTER TABLE {pair} PARTITION (k='good') SET LOCATION 'file://{old}'")
    before = rows(spark, pair)
    report = jobs("cleanup", "--table", pair, "--skip-trash")
    assert (report["exit_code"], sorted(outcomes(report))) == (3, ["cleaned", "quarantined"])
    assert rows(spark, pair) == before
    units = {u["unit"]["k"]: u["code"] for u in only(jobs("analyze", "--table", pair))["units"]}
    assert units == {"good": "BACKUP", "bad": None}


def test_a_zombie_that_was_fenced_changes_nothing_and_breaks_nothing(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt stands still while it writes, without a heartbeat; the second takes its run over."""
    before = _ids(spark, flat)
    write, reports = Rewriter.write, []

    def slow(self: Rewriter, plan: Any) -> Any:
        monkeypatch.setattr(Rewriter, "write", write)
        reports.append(jobs("compact", "--table", flat, "--run-id", "r1"))
        return write(self, plan)

    monkeypatch.setattr(Rewriter, "write", slow)
    monkeypatch.setattr(Lease, "beat", lambda _: None)
    driven_clock(monkeypatch)
    zombie = jobs("compact", "--table", flat, "--run-id", "r1")
    monkeypatch.undo()

    assert outcomes(reports[0]) == ["compacted"]
    assert zombie["exit_code"] != 0
    assert _ids(spark, flat) == before
    assert outcomes(jobs("rollback", "--table", flat)) == ["restored"]
    assert _ids(spark, flat) == before
    assert jobs("compact", "--table", flat, "--run-id", "r2")["exit_code"] == 0
    assert jobs("cleanup", "--table", flat, "--skip-trash")["exit_code"] == 0
    assert _ids(spark, flat) == before


def test_a_table_that_another_job_works_on_is_busy(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, reports = Rewriter.write, []

    def slow(self: Rewriter, plan: Any) -> Any:
        monkeypatch.setattr(Rewriter, "write", write)
        reports.append(jobs("compact", "--table", flat, request={"arguments": {"lease_wait": "3s"}}))
        return write(self, plan)

    monkeypatch.setattr(Rewriter, "write", slow)
    driven_clock(monkeypatch)
    first = jobs("compact", "--table", flat)

    assert outcomes(first) == ["compacted"]
    busy = only(reports[0])
    assert (busy["outcome"], reports[0]["exit_code"]) == ("busy", 1)
    assert f"compact on {socket.gethostname()}, process {os.getpid()}" in busy["reason"]
    assert outcomes(jobs("rollback", "--table", flat)) == ["restored"]


def test_hidden_files_stay_hidden_when_they_are_carried(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str
) -> None:
    jobs("compact", "--table", flat)
    (database.path / "flat" / ".part.inprogress").write_bytes(b"not parquet yet")
    assert outcomes(jobs("rollback", "--table", flat)) == ["restored"]
    assert _ids(spark, flat) == set(range(60))
    assert (database.path / "flat" / ".part.inprogress").read_bytes() == b"not parquet yet"


def test_a_success_marker_that_was_renewed_does_not_stop_a_rollback(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location = database.location("marked")
    spark.range(60).repartition(6).write.parquet(location)
    table = f"{database}.marked"
    spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{location}'")
    jobs("compact", "--table", table)
    marker = database.path / "marked" / "_SUCCESS"
    before = marker.stat().st_mtime_ns
    spark.range(100, 105).write.mode("append").parquet(location)
    # A later second on every clock, however soon the second writer came.
    os.utime(marker, ns=(before + 10**9, before + 10**9))
    assert outcomes(jobs("rollback", "--table", table)) == ["restored"]
    assert _ids(spark, table) == {*range(60), *range(100, 105)}
    assert not list(database.path.rglob("__undone_*"))


def test_a_metastore_that_is_down_is_no_empty_database(
    spark: SparkSession, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> None:
        raise MetastoreError("cannot look up the database: connection refused")

    monkeypatch.setattr(Metastore, "database_exists", down)
    report = Report("compact", "0.1.0")
    job.run(Cluster.of(spark), parse("compact", ["--database", str(database)], ""), VERBS["compact"], report)
    assert (report.outcome, report.exit_code) == ("failed", 1)
    assert "connection refused" in (report.error or "")


def test_units_of_a_request_are_taken_whole_or_not_at_all(
    spark: SparkSession, jobs: Jobs, database: Database, pair: str
) -> None:
    before = tree(database.path)
    bad = jobs("compact", "--table", pair, request={"units": {pair: [{"zzz": "x"}]}})
    assert (bad["exit_code"], tree(database.path)) == (2, before)
    upper = jobs(
        "compact", "--table", pair, "--run-id", "r5", request={"units": {pair.upper(): [{"K": "good"}]}}
    )
    assert outcomes(upper) == ["compacted"]
    assert outcomes(jobs("rollback", "--table", pair, request={"runs": {pair.title(): ["r5"]}})) == [
        "restored"
    ]


def test_a_table_that_was_renamed_keeps_its_way_back(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str
) -> None:
    originals = data_files(database.path / "flat")
    jobs("compact", "--table", flat, "--run-id", "r1")
    spark.sql(f"ALTER TABLE {flat} RENAME TO {database}.renamed")
    report = jobs("rollback", "--table", f"{database}.renamed", "--run-id", "r1")
    assert outcomes(report) == ["restored"]
    assert data_files(database.path / "flat") == originals
    assert Path(database.path / "flat").exists()


def test_a_spark_table_with_an_upper_case_key_goes_through(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table, location = f"{database}.upper", database.location("upper")
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, Day STRING) USING parquet PARTITIONED BY (Day) LOCATION '{location}'"
    )
    for start in range(3):
        spark.sql(f"INSERT INTO {table} SELECT id, IF(id = 0, NULL, 'd') FROM range({start}, {start} + 5)")
    before = rows(spark, table)
    report = only(jobs("compact", "--table", table, "--sort-columns", "day,id"))
    assert {u["outcome"] for u in report["units"]} <= {"compacted", "healthy"}
    assert "compacted" in {u["outcome"] for u in report["units"]}
    assert rows(spark, table) == before
    assert set(outcomes(jobs("rollback", "--table", table))) == {"restored"}
    assert rows(spark, table) == before
    assert not spark.catalog.tableExists(report["backup_table"])

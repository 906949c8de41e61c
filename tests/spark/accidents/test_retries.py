"""What a killed or failed attempt left half-way, and the next attempt or the rollback that settles it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.protocol.swap.reverse import ReverseSwap
from tests.harness.fixtures import Database
from tests.spark.meanwhile import Killed, after_moves, full_disk, killed_after_moves
from tests.spark.toolbox import Jobs, data_files, ids, many, only, outcomes, rows, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What happens after an accident is decided by the driver, from the journal and the directories.
pytestmark = pytest.mark.one_version


def _kill_rollback_in_its_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_: str, target: str) -> None:
        if "/__aside_" in target:
            raise Killed

    after_moves(monkeypatch, die)


def test_an_undo_that_fails_is_never_called_settled(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ids(spark, flat)
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
    assert "RUN_UNFINISHED: run r1 is unfinished" in other["warnings"][0]

    again = jobs("compact", "--table", flat, "--run-id", "r1")

    assert (again["exit_code"], outcomes(again)) == (0, ["compacted"])
    assert ids(spark, flat) == before


def test_rows_added_between_a_kill_and_its_retry_are_kept(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_after_moves(monkeypatch, 2)
    with pytest.raises(Killed):
        jobs("compact", "--table", flat, "--run-id", "r1")
    monkeypatch.undo()
    old = next((database.path / ".lakekeeper-flat").glob("r1.*/__originals_*/flat"))
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
    assert not list(database.path.rglob("__originals_*"))


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
    assert "__aside_" in unit["reason"]
    assert "__originals_" in unit["reason"]


def test_on_failure_undo_says_what_it_could_not_put_back(
    jobs: Jobs, pair: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise OSError("denied")

    full_disk(monkeypatch, "k=bad")
    monkeypatch.setattr(ReverseSwap, "_swap_back", denied)
    report = only(jobs("compact", "--table", pair, request={"arguments": {"on_failure": "undo"}}))
    assert "k=good could not be restored" in report["reason"]

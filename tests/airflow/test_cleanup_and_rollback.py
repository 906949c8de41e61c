"""What the cleanup and the rollback operator submit, and which runs a rollback undoes."""

from __future__ import annotations

import pytest

from lakekeeper_provider.compat import AirflowException, AirflowFailException
from lakekeeper_provider.operators.cleanup import CleanupOperator
from lakekeeper_provider.operators.rollback import RecordCompactionOperator, RollbackOperator
from tests.airflow.support import after, context
from tests.airflow.tasks import compact


class TestCleanupAndRollback:
    def test_cleanup_passes_its_retention(self, spark):
        compact().execute(context())
        CleanupOperator(
            task_id="cleanup", database="sales", older_than="7d", keep_last="2", dry_run="true"
        ).execute(context())
        assert spark.calls[-1]["request"]["arguments"] == {
            "older_than": "7d",
            "keep_last": 2,
            "dry_run": True,
        }

    def test_rollback_undoes_the_runs_of_a_compaction(self, spark):
        value = compact().execute(context())
        undone = RollbackOperator(task_id="rollback", compaction=value).execute(context())
        assert spark.calls[-1]["request"]["runs"] == {"sales.events": [value["run_id"]]}
        assert undone["outcome"] == "done"
        assert spark.tables == {"sales.events": []}

    def test_rollback_again_finds_nothing_and_is_green(self, spark):
        value = compact().execute(context())
        for expected in ("done", "nothing"):
            result = RollbackOperator(task_id="rollback", compaction=[value, None]).execute(context())
            assert result["outcome"] == expected

    def test_rollback_of_a_table_takes_the_newest_run_or_the_named_one(self, spark):
        RollbackOperator(task_id="rollback", table="sales.events").execute(context())
        assert "--run-id" not in spark.calls[-1]["argv"]
        RollbackOperator(task_id="rollback", table="sales.events", run_id="r1").execute(context())
        assert after(spark.calls[-1]["argv"], "--run-id") == "r1"

    def test_rollback_after_a_compaction_that_died_before_its_report(self, spark):
        spark.plan(compact={"report": "none", "exit": 137})
        now = context()
        with pytest.raises(AirflowException):
            compact().execute(now)
        left = now["ti"].pushed["return_value"]
        assert RollbackOperator(task_id="r", compaction=left).execute(context())["outcome"] == "done"

    def test_rollback_of_a_database_that_died_before_its_report(self, spark):
        spark.plan(compact={"report": "none", "exit": 137})
        now = context()
        with pytest.raises(AirflowException):
            compact(table=None, database="sales").execute(now)
        RollbackOperator(task_id="r", compaction=now["ti"].pushed["return_value"]).execute(context())
        argv = spark.calls[-1]["argv"]
        assert after(argv, "--database") == "sales"
        # As a request, it is the newest generation of the run, whichever table has which.
        assert spark.calls[-1]["request"]["runs"] == {"*": [now["ti"].pushed["return_value"]["run_id"]]}
        assert "--run-id" not in argv

    def test_databases_that_died_before_their_reports_are_undone_one_by_one(self, spark):
        """One task has one job, and a job has one database: none must be left out in silence."""
        spark.plan(compact={"report": "none", "exit": 137})
        died = []
        for database in ("sales", "web"):
            now = context()
            with pytest.raises(AirflowException):
                compact(table=None, database=database).execute(now)
            died.append(now["ti"].pushed["return_value"])
        spark.plan()
        named = compact(table="other.events").execute(context())
        for compactions in (died, [died[0], named]):
            with pytest.raises(AirflowFailException, match="lakekeeper rollback --database sales --run-id"):
                RollbackOperator(task_id="r", compaction=compactions).execute(context())
        records = RecordCompactionOperator(task_id="record", compaction=[*died, named], by_table=True)
        for record in records.execute(context()):
            RollbackOperator(task_id="r", compaction=record).execute(context())
        undone = [call for call in spark.calls if "runs" in call["request"]]
        assert [call["request"]["runs"] for call in undone] == [
            {"other.events": [named["run_id"]]},
            {"*": [died[0]["run_id"]]},
            {"*": [died[1]["run_id"]]},
        ]

    def test_a_compaction_of_many_tables_with_many_warnings_is_undone_whole(self, spark):
        """Its summary is too long for XCom, and has no tables; the names of those that were asked for are put back."""
        spark.plan(compact={"table": {"warnings": ["ATTRIBUTE_NOT_KEPT: x", "REFRESH_FAILED: x"]}})
        tables = [f"sales.{'x' * 81}_{number:03}" for number in range(200)]
        done = compact(table=None, tables=tables).execute(context())
        assert [table["table"] for table in done["tables"]] == tables
        RollbackOperator(task_id="r", compaction=done).execute(context())
        assert sorted(spark.calls[-1]["request"]["runs"]) == tables

    def test_rollback_with_nothing_to_undo_submits_nothing(self, spark):
        result = RollbackOperator(task_id="rollback", compaction=[]).execute(context())
        assert result["outcome"] == "nothing"
        assert spark.calls == []

"""What the cleanup and the rollback operator submit, and which runs a rollback undoes."""

from __future__ import annotations

import pytest

from lakekeeper_provider.compat import AirflowException
from lakekeeper_provider.operators.cleanup import CleanupOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
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
        assert after(argv, "--run-id") == now["ti"].pushed["return_value"]["run_id"]

    def test_rollback_with_nothing_to_undo_submits_nothing(self, spark):
        result = RollbackOperator(task_id="rollback", compaction=[]).execute(context())
        assert result["outcome"] == "nothing"
        assert spark.calls == []

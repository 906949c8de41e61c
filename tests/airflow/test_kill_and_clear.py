"""A task that is killed, and one that is cleared after its success."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lakekeeper_provider.compat import AirflowException
from tests.airflow.support import context, wait_for
from tests.airflow.tasks import analyze, compact


class TestKill:
    def test_a_killed_task_fails_and_submits_nothing_more(self, spark):
        spark.plan(compact={"sleep": 120})
        operator, started = compact(), spark.home / "started"

        def kill():
            wait_for("spark-submit", started.exists, patience=100)
            operator.on_kill()

        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(kill)
            with pytest.raises(AirflowException, match="was killed"):
                operator.execute(context())
            killing.result()
        assert len(spark.calls) == 1

    def test_a_task_that_was_killed_before_it_submitted_does_not_submit(self, spark):
        operator = analyze()
        operator.on_kill()
        with pytest.raises(AirflowException, match="was killed"):
            operator.execute(context())
        assert spark.calls == []

    def test_a_kill_before_anything_was_submitted_is_quiet(self, monkeypatch):
        """Nobody is asked to kill a job that there is not: the user would see that fail, not the kill."""
        operator, hooks = analyze(conn_id="spark_missing"), []
        monkeypatch.setattr(operator, "_get_hook", lambda: hooks.append("asked"))
        operator.on_kill()
        assert hooks == []


def test_a_cleared_success_submits_again_because_the_parent_is_not_durable():
    assert getattr(analyze(), "durable", False) is False

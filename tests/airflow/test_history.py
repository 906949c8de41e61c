"""What the history operator submits, and what it shows."""

from __future__ import annotations

import logging

import pytest

from lakekeeper_provider.compat import AirflowFailException
from lakekeeper_provider.operators.history import HistoryOperator
from tests.airflow.support import after, context
from tests.airflow.tasks import compact


def history(**kwargs) -> HistoryOperator:
    return HistoryOperator(task_id="history", **{"table": "sales.events", **kwargs})


def test_the_rows_are_in_the_xcom_and_in_the_log(spark, capsys, caplog):
    caplog.set_level(logging.INFO)
    run_id = compact().execute(context())["run_id"]
    [found] = history().execute(context())["tables"]
    assert [(row["run_id"], row["rollback"]) for row in found["history"]] == [(run_id, "possible")]
    text = capsys.readouterr().out + caplog.text
    done = f"  2026-02-24T01:03:10Z  compact  {run_id}  etl  1           600 -> 3  "
    row = f"{done}307.2 KB -> 283.2 KB  190.2    possible"
    assert row in text


def test_a_table_without_runs_is_green(spark):
    assert history().execute(context())["outcome"] == "nothing"


def test_it_submits_its_limit_and_only_that(spark):
    history(limit="5", table=None, database="sales").execute(context())
    [call] = spark.calls
    assert after(call["argv"], "--limit") == "5"
    assert call["request"] == {"schema_version": 1}


def test_a_wrong_limit_is_refused_before_anything_is_submitted(spark):
    with pytest.raises(
        AirflowFailException, match="limit: expected a whole number from 1 to 1000000000, got '0'"
    ):
        history(limit="0").execute(context())
    assert spark.calls == []

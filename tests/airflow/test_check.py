"""What the check operator submits, and what it makes of the findings."""

from __future__ import annotations

import json

import pytest

from lakekeeper_provider.compat import AirflowFailException
from lakekeeper_provider.operators.check import CheckOperator
from tests.airflow.support import context
from tests.airflow.tasks import compact

DAMAGE = {
    "code": "ORIGINALS_MISSING",
    "severity": "damage",
    "run_id": "r1",
    "unit": {"date": "2026-02-23"},
    "path": "hdfs://nn/old",
    "message": "hdfs://nn/old does not exist",
    "command": "lakekeeper forget --table sales.a --run-id r1 --yes",
}
NOTICE = {
    **DAMAGE,
    "code": "LEASE_STALE",
    "severity": "notice",
    "message": "its job has died",
    "command": None,
}


def check(**kwargs) -> CheckOperator:
    return CheckOperator(task_id="check", **{"table": "sales.events", **kwargs})


class TestCheck:
    def test_it_submits_its_options(self, spark):
        check(table=None, database="sales", exclude="tmp_*", parallelism="8", read_data="true").execute(
            context()
        )
        [call] = spark.calls
        assert call["request"]["arguments"] == {"exclude": "tmp_*", "parallelism": 8}
        assert "--read-data" in call["argv"]

    @pytest.mark.parametrize("read_data", [None, False, "false"])
    def test_rows_are_read_only_where_asked(self, spark, read_data):
        check(read_data=read_data).execute(context())
        assert "--read-data" not in spark.calls[-1]["argv"]

    def test_a_boolean_that_is_none_is_refused(self, spark):
        with pytest.raises(AirflowFailException, match="read_data: expected true or false, got 'maybe'"):
            check(read_data="maybe").execute(context())
        assert spark.calls == []

    def test_a_table_without_runs_is_green(self, spark):
        assert check().execute(context())["outcome"] == "nothing"

    def test_notices_are_green_and_in_the_xcom(self, spark):
        compact().execute(context())
        spark.plan(check={"table": {"findings": [NOTICE]}})
        (table,) = check().execute(context())["tables"]
        assert (table["damage"], table["notices"], table["codes"]) == (0, 1, {"LEASE_STALE": 1})

    def test_damage_fails_without_a_retry_and_is_in_the_xcom(self, spark):
        damaged = {
            "outcome": "damaged",
            "reason": "damage was found: ORIGINALS_MISSING (2)",
            "findings": [NOTICE, DAMAGE, DAMAGE],
        }
        plan = {"outcome": "partial", "exit": 1, "tables": {"sales.a": damaged}}
        spark.plan(check=plan)
        now = context()
        with pytest.raises(AirflowFailException, match=r"sales.a damaged .*ORIGINALS_MISSING \(2\)"):
            check(table=None, database="sales").execute(now)
        first, second = now["ti"].pushed["return_value"]["tables"]
        assert (first["damage"], first["notices"]) == (2, 1)
        assert first["codes"] == {"LEASE_STALE": 1, "ORIGINALS_MISSING": 2}
        assert (second["damage"], second["codes"]) == (0, {})
        json.dumps(now["ti"].pushed)

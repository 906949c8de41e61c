"""Mistakes in an operator's arguments are found before anything is submitted."""

from __future__ import annotations

import pytest

from lakekeeper_provider.compat import AirflowFailException
from lakekeeper_provider.exceptions import UsageError
from tests.airflow.support import context
from tests.airflow.tasks import analyze, compact


class TestMistakesAreFoundBeforeSubmitting:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"table": None}, "give exactly one of table, tables and database"),
            ({"database": "sales"}, "table='sales.events' and database='sales'"),
            ({"table": "events"}, "expected a table as db.table, got 'events'"),
            ({"block_size_mb": "big"}, "block_size_mb: expected a whole number from 1 to 16384, got 'big'"),
            ({"dry_run": "maybe"}, "dry_run: expected true or false, got 'maybe'"),
            ({"use_krb5ccache": "maybe"}, "use_krb5ccache: expected true or false, got 'maybe'"),
            ({"config_file": "/nowhere.yaml"}, "cannot read the configuration file /nowhere.yaml"),
            ({"deploy_mode": "cluster"}, "set report_dir"),
            ({"report_dir": "relative/path"}, "expected a URI such as webhdfs://"),
            ({"report_dir": "nosuch://host/path"}, "this worker cannot reach nosuch://host/path"),
            ({"table": None, "tables": [f"a.t{n}" for n in range(201)]}, "201 tables are more than the 200"),
            ({"conn_id": "spark_missing"}, "the Spark connection 'spark_missing' does not exist"),
            ({"spark_binary": "spark9-submit"}, "'spark9-submit' was not found on this worker"),
            ({"window": "nightly"}, "window: 'nightly' is not under windows"),
        ],
    )
    def test_wrong_arguments(self, spark, airflow_db, arguments, message):
        operator = compact() if "table" not in arguments else compact(table="a.b")
        for name, value in arguments.items():  # as a rendered template sets them
            setattr(operator, name, value)
        with pytest.raises(AirflowFailException) as error:
            operator.execute(context())
        assert message in str(error.value)
        assert spark.calls == []

    def test_a_master_in_the_file_that_is_not_the_connections(self, spark, tmp_path):
        config = tmp_path / "lakekeeper.yaml"
        config.write_text("spark_submit: {master: yarn}")
        with pytest.raises(AirflowFailException, match=r"'yarn'.*'spark_default' says 'local\[2\]'"):
            analyze(config_file=str(config)).execute(context())
        assert spark.calls == []

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"partitions": [{"a": "b"}], "where": "a = 'b'"}, "mutually exclusive"),
            ({"idle_for": "7d", "where": "a = 'b'"}, "where and idle_for are mutually exclusive"),
            ({"on_closed": "wat"}, "did you mean 'wait'"),
            ({"application_args": ["x"]}, "application_args"),
            ({"analysis": {}}, "analysis already says which tables"),
            ({"table": None}, "give analysis, or one of table"),
        ],
    )
    def test_what_no_template_can_mend_fails_when_the_dag_is_parsed(self, arguments, message):
        with pytest.raises(UsageError, match=message):
            compact(**arguments)

"""What docs/guides/engines.md adds to the maintenance DAG for Impala: with it the DAG runs and sends what it should."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

from tests.airflow.conftest import ROOT
from tests.airflow.support import dags_in
from tests.airflow.test_dags import EXAMPLES, maintenance, only

LAST_LINES = "    record >> rollback\n"
GUIDE = ROOT / "docs" / "guides" / "engines.md"


def with_recipe(dag: str) -> str:
    """The DAG as somebody would have it who follows the guide: imports on top, the rest at the end of its function."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)
    imports, body = (block for block in blocks if "SQLExecuteQueryOperator" in block)
    future = "from __future__ import annotations\n"
    assert dag.count(LAST_LINES) == dag.count(future) == 1
    return dag.replace(future, f"{future}{imports}\n").replace(LAST_LINES, f"{LAST_LINES}{body}\n")


@pytest.fixture(scope="module")
def dagbag(airflow_db, tmp_path_factory):
    folder, name = tmp_path_factory.mktemp("dags"), "lakekeeper_maintenance.py"
    (folder / name).write_text(with_recipe((EXAMPLES / name).read_text()))
    found = dags_in(folder)
    for task in found.dags["lakekeeper_maintenance"].tasks:
        getattr(task, "partial_kwargs", task.__dict__)["retries"] = 0
    return found


class Impala:
    """In place of the hook of a connection: what it was sent."""

    descriptions: tuple[()] = ()

    def __init__(self) -> None:
        self.sent: list[str] = []

    def run(self, sql: list[str], **_: Any) -> list[None]:
        self.sent += sql
        return []


@pytest.fixture
def impala(monkeypatch) -> Impala:
    server = Impala()
    monkeypatch.setattr(SQLExecuteQueryOperator, "get_db_hook", lambda _: server)
    return server


def test_after_a_compaction_impala_is_told_of_the_tables_that_were_touched(dagbag, spark, impala):
    (spark.home / "tables.json").write_text(json.dumps({"sales.b": ["earlier"]}))
    state, states, _ = maintenance(dagbag)
    assert state == "success"
    assert impala.sent == ["REFRESH `sales`.`a`", "REFRESH `sales`.`c`"]
    assert only(states, "refresh_undone") == "skipped"


def test_a_table_whose_compaction_failed_is_refreshed_too_and_the_night_is_red(dagbag, spark, impala):
    spark.plan(
        compact={"tables": {"sales.b": {"outcome": "failed", "reason": "disk full"}}, "outcome": "done"}
    )
    state, _, _ = maintenance(dagbag)
    assert state == "failed"
    assert impala.sent == ["REFRESH `sales`.`a`", "REFRESH `sales`.`b`", "REFRESH `sales`.`c`"]


def test_a_healthy_night_sends_nothing(dagbag, spark, impala):
    (spark.home / "tables.json").write_text(json.dumps({f"sales.{t}": ["r"] for t in "abc"}))
    state, states, _ = maintenance(dagbag)
    assert state == "success"
    assert impala.sent == []
    assert only(states, "refresh") == "skipped"

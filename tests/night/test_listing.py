"""Which tables of a database the maintenance DAG analyses, where the metastore lists them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.airflow.conftest import ROOT
from tests.airflow.support import dags_in
from tests.night.conftest import DAG

PAIMON = {"storage_handler": "org.apache.paimon.hive.PaimonStorageHandler"}
#: Type and properties of each table, as the metastore has them.
KNOWN = {
    "orders": ("EXTERNAL_TABLE", {}),
    "carts": ("EXTERNAL_TABLE", {"table_type": "ICEBERG"}),
    "events": ("MANAGED_TABLE", PAIMON),
    "managed": ("MANAGED_TABLE", None),
    "in_hbase": ("MANAGED_TABLE", {"storage_handler": "org.apache.hadoop.hive.hbase.HBaseStorageHandler"}),
    "a_view": ("VIRTUAL_VIEW", None),
    "orders_backup": ("EXTERNAL_TABLE", {"lakekeeper.run_id": "r1"}),
}


class Hook:
    """Airflow's hook, with a metastore that knows these tables."""

    def __init__(self, metastore_conn_id: str) -> None:
        assert metastore_conn_id == "metastore_default"

    def get_databases(self, pattern: str) -> list[str]:
        return [pattern]

    def get_tables(self, database: str) -> list[Any]:
        return [
            SimpleNamespace(dbName=database, tableName=name, tableType=kind, parameters=properties)
            for name, (kind, properties) in KNOWN.items()
        ]


def test_paimons_managed_tables_are_listed_with_the_external_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airflow.providers.apache.hive.hooks.hive.HiveMetastoreHook", Hook)
    list_tables = dags_in(ROOT / "example_dags").dags[DAG].get_task("list_tables").python_callable
    found = list_tables(params={"database": "lake", "tables": None, "listing": "metastore"})
    assert found == [{"table": "lake.carts"}, {"table": "lake.events"}, {"table": "lake.orders"}]

"""Runs the maintenance DAG's `list_tables` for one `port:database` after the other, as its task would; prints JSON.

Needs Airflow. The metastores are on this machine; each is the connection `metastore_default` in its turn.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

from demo.services.ports import HOST

DAG = Path(__file__).resolve().parents[2] / "example_dags" / "lakekeeper_maintenance.py"


def main(places: list[str]) -> None:
    dag = runpy.run_path(str(DAG))["lakekeeper_maintenance"]()
    list_tables = dag.get_task("list_tables").python_callable
    print(json.dumps([_listed(list_tables, *place.split(":")) for place in places]))


def _listed(list_tables: Any, port: str, database: str) -> Any:
    """What the task returns, or the text of its error."""
    connection = {"conn_type": "hive_metastore", "host": HOST, "port": int(port)}
    os.environ["AIRFLOW_CONN_METASTORE_DEFAULT"] = json.dumps(connection)
    try:
        return list_tables(params={"database": database, "tables": None, "listing": "metastore"})
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(sys.argv[1:])

"""Runs the maintenance DAG's `list_tables` for one database after the other, as its task would; prints JSON.

Needs Airflow; the connection `metastore_default` is in the environment.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

DAG = Path(__file__).resolve().parents[2] / "example_dags" / "lakekeeper_maintenance.py"


def main(databases: list[str]) -> None:
    dag = runpy.run_path(str(DAG))["lakekeeper_maintenance"]()
    list_tables = dag.get_task("list_tables").python_callable
    print(json.dumps([_listed(list_tables, database) for database in databases]))


def _listed(list_tables: Any, database: str) -> Any:
    """What the task returns, or the text of its error."""
    try:
        return list_tables(params={"database": database, "tables": None, "listing": "metastore"})
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(sys.argv[1:])

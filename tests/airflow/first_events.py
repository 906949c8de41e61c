"""The first events of a new Airflow: two mapped tasks end at once, and each is recorded while the other one is.

Run by a test, on an empty database; it prints the ends of both as JSON, and the events that the database has then.
"""

from __future__ import annotations

import json
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from airflow import settings
from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
from airflow.models.asset import AssetEvent
from airflow.models.dagbundle import DagBundleModel
from airflow.models.taskinstance import TaskInstance
from airflow.sdk.execution_time import task_runner
from airflow.sdk.execution_time.context import OutletEventAccessors
from airflow.utils.session import create_session
from sqlalchemy import select, text

from tests.airflow import support

DAG = """
from airflow.sdk import DAG
from lakekeeper_provider.operators.analyze import AnalyzeOperator

with DAG("nightly"):
    AnalyzeOperator.partial(task_id="analyze").expand(table=["sales.a", "sales.b"])
"""
#: The second task waits for the first one if both write the same row; the first one then goes on.
HELD = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
PATIENCE = 10


def parsed(folder: Path) -> Any:
    """Return the mapped task, after Airflow has stored its DAG."""
    (folder / "nightly.py").write_text(DAG)
    bag = DagBag(str(folder))
    with create_session() as session:
        session.add(DagBundleModel(name="dags"))
        session.flush()
        sync_bag_to_db(bag, "dags", None, session=session)
    return bag.dags["nightly"].get_task("analyze")


def ended(mapped: Any, index: int, table: str) -> dict[str, Any]:
    """Run a task as a worker does; return what it tells Airflow at its end."""
    task, accessors = mapped.unmap({"table": table}), OutletEventAccessors()
    task.execute(support.context(outlet_events=accessors, ti=support.TaskInstance()))
    run = SimpleNamespace(partition_key=None, partition_date=None)
    place = {"task_id": "analyze", "dag_id": "nightly", "run_id": "r", "map_index": index}
    return {
        "ti": SimpleNamespace(dag_run=run, log=logging.getLogger("airflow.task"), **place),
        "task_outlets": list(task_runner._build_asset_profiles(task.outlets)),
        "outlet_events": list(task_runner._serialize_outlet_events(accessors)),
    }


def record(session: Any, told: dict[str, Any]) -> None:
    """Record the events of a task, as the API server does at its end; what it does is not committed."""
    TaskInstance.register_asset_changes_in_db(**told, session=session)
    session.flush()


def at_once(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """Record both, the second one before the first one is committed; return their errors."""
    errors = []
    session, other = settings.Session.session_factory(), settings.Session.session_factory()
    with session, other, ThreadPoolExecutor() as pool:
        record(session, first)
        beside = pool.submit(record, other, second)
        support.wait_for("the second", lambda: beside.done() or _held(), PATIENCE)
        session.commit()
        if error := beside.exception(PATIENCE):
            errors.append(str(error))
        else:
            other.commit()
    return errors


def _held() -> bool:
    with create_session() as session:
        return bool(session.scalar(text(HELD)))


def main() -> None:
    mapped = parsed(Path(sys.argv[1]))
    told = [ended(mapped, index, table) for index, table in enumerate(("sales.a", "sales.b"))]
    errors = at_once(*told)
    with create_session() as session:
        events = session.scalars(select(AssetEvent)).all()
        seen = [
            (each.source_map_index, record["table"])
            for each in events
            for record in json.loads(each.extra.get("tables", "[]"))
        ]
        names = sorted({each.uri for each in events})
    print(json.dumps({"errors": errors, "seen": sorted(seen), "assets": names}))


if __name__ == "__main__":
    main()

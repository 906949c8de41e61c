"""Fill the database of an Airflow with FAB's auth manager: users with rights per DAG, and what two DAGs have found.

python -m tests.airflow.page.fab_users
"""

from __future__ import annotations

from airflow.models.asset import AssetEvent, AssetModel
from airflow.models.dagrun import DagRun
from airflow.providers.fab.auth_manager.cli_commands.utils import get_application_builder
from airflow.utils.session import create_session
from airflow.utils.types import DagRunTriggeredByType, DagRunType

from lakekeeper_provider.report import health
from tests.airflow.page.conftest import NOW, add_dags, event

PASSWORD = "only-for-this-test"
#: By role, what it may do: of the DAGs by their names, of their parts for all DAGs together, as FAB has it.
_PARTS = ("DAG Runs", "Task Instances", "XComs")
_READ = [("can_read", part) for part in _PARTS]
ROLES = {
    "reader": [*_READ, ("can_read", "DAG:nightly"), ("can_read", "DAG:lakekeeper_on_demand")],
    "team_b": [*_READ, ("can_read", "DAG:team_b")],
    "without_tasks": [("can_read", "DAG:nightly")],
    "nobody": [],
}


def main() -> None:
    """Fill the database."""
    _make_users()
    with create_session() as session:
        add_dags(session)
        asset = AssetModel(name=health.URI, uri=health.URI, group="asset", extra={})
        session.add(asset)
        session.flush()
        record = {"outcome": "failed", "files": 1_000, "bytes": 1_000, "partitions": 9}
        for dag_id, table in (("nightly", "sales.events"), ("team_b", "secret.b")):
            found = event({**record, "table": table}, dag_id=dag_id)
            session.add(AssetEvent(asset_id=asset.id, **found))
            session.add(_run_of(dag_id))


def _run_of(dag_id: str) -> DagRun:
    return DagRun(
        dag_id=dag_id,
        run_id="scheduled__1",
        run_type=DagRunType.SCHEDULED,
        logical_date=NOW,
        run_after=NOW,
        triggered_by=DagRunTriggeredByType.TEST,
    )


def _make_users() -> None:
    with get_application_builder() as builder:
        manager = builder.sm
        for name, permissions in ROLES.items():
            role = manager.add_role(name)
            for action, resource in permissions:
                manager.add_permission_to_role(role, manager.create_permission(action, resource))
            manager.add_user(name, name, name, f"{name}@example.com", role, password=PASSWORD)
        manager.add_user(
            "admin", "a", "b", "admin@example.com", manager.find_role("Admin"), password=PASSWORD
        )


if __name__ == "__main__":
    main()

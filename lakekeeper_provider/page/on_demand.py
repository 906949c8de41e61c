"""The DAG by which a person acts from a page, and whether it can be triggered."""

from __future__ import annotations

from typing import Any

from airflow.configuration import conf
from airflow.models.dag import DagModel
from airflow.utils.session import create_session
from sqlalchemy import select

from lakekeeper_provider.page import access

_DAG = "lakekeeper_on_demand"


def dag_id() -> str:
    """Return the id of the DAG."""
    return str(conf.get("lakekeeper", "on_demand_dag", fallback=_DAG))


def acts(user: Any) -> dict[str, Any]:
    """Return the id of the DAG, and why no button is shown; None if the user may trigger it."""
    return {"dag_id": dag_id(), "why_not": _why_not(user, dag_id())}


def _why_not(user: Any, dag: str) -> str | None:
    # Nobody learns here of a DAG that he may not read.
    if not access.may_trigger(user, dag):
        return f"You may not trigger the DAG {dag}."
    with create_session() as session:
        query = select(DagModel.is_paused, DagModel.is_stale).where(DagModel.dag_id == dag)
        found = session.execute(query).first()
    if found is None or found.is_stale:
        return f"There is no DAG {dag}: `lakekeeper init-dags DIRECTORY` writes it into the dags_folder."
    if found.is_paused:
        return f"The DAG {dag} is paused: unpause it first."
    return None

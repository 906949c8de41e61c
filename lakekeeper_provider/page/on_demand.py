"""The DAG by which a person acts from a page, and whether it can be triggered."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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


def acts(user: Any, server: str | None, servers: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """Return the id of the DAG, and why no button is shown; None if the user may trigger it.

    Args:
        server: the Hive server of the table that it would work on; None for none
        servers: by Hive server, the DAGs that have worked on it
    """
    dag = dag_id()
    return {"dag_id": dag, "why_not": _why_not(user, dag) or _elsewhere(dag, server, servers)}


def _elsewhere(dag: str, server: str | None, servers: Mapping[str, Collection[str]]) -> str | None:
    """Return why the DAG would work on another table of the same name: it works on the Hive of its own connection."""
    own = {each for each, dags in servers.items() if dag in dags}
    if server is None or len(servers) < 2 or own == {server}:
        return None
    return f"There are tables of several Hive servers, and {dag} is not known to work on {server} only."


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

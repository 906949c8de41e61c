"""The DAG by which a person acts from a page, and whether it can be triggered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.configuration import conf
from airflow.models.dag import DagModel
from airflow.utils.session import create_session
from sqlalchemy import select

from lakekeeper_provider.page import access

_DAG = "lakekeeper_on_demand"
#: A Hive server of which nothing was told for so long before the last result has another name now, or is gone.
_USED_SECONDS = 7 * 86_400


def dag_id() -> str:
    """Return the id of the DAG."""
    return str(conf.get("lakekeeper", "on_demand_dag", fallback=_DAG))


def acts(user: Any) -> dict[str, Any]:
    """Return the id of the DAG, and why no button is shown; None if the user may trigger it."""
    dag = dag_id()
    return {"dag_id": dag, "why_not": _why_not(user, dag)}


def works_on(server: str, servers: Mapping[str, Mapping[str, float]]) -> bool:
    """Tell whether the DAG works on the tables of a Hive server, and not on those of the same names of another one.

    Args:
        servers: by Hive server, the DAGs that have worked on it, with when they did the last time
    """
    last = {each: max(dags.values()) for each, dags in servers.items()}
    used = {each for each, at in last.items() if at > max(last.values()) - _USED_SECONDS}
    own = {each: dags[dag_id()] for each, dags in servers.items() if dag_id() in dags}
    return used == {server} or max(own, key=lambda each: own[each], default=None) == server


def elsewhere() -> str:
    """Return why there is no button on the page of a table of another Hive server."""
    return f"It is not known that the DAG {dag_id()} works on the Hive server of this table: trigger it there once."


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

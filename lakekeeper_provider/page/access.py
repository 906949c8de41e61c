"""Who may see what. An app of a plugin inherits nothing of Airflow's: each route depends on one of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import get_user
from airflow.models.dag import DagModel
from fastapi import Depends, HTTPException, status

#: A dependency: the user of the request's token or cookie; 401 without one.
User = Annotated[Any, Depends(get_user)]


def readable(user: Any, dags: Iterable[str]) -> frozenset[str]:
    """Return of which of these DAGs a user may read what tasks have found."""
    allowed = frozenset(get_auth_manager().get_authorized_dag_ids(user=user, method="GET"))
    return permitted(user, allowed.intersection(dags))  # guard: readable_dags_only


def require(user: Any, dag_id: str, entity: DagAccessEntity) -> None:
    """Raise 403 unless a user may read this part of a DAG."""
    if not _may(user, dag_id, "GET", entity):  # guard: dag_of_the_address_is_checked
        raise HTTPException(status.HTTP_403_FORBIDDEN, "Forbidden")


def permitted(user: Any, dags: Iterable[str]) -> frozenset[str]:
    """Return of which of these DAGs a user may read what tasks have found, by asking for each."""
    asked = DagAccessEntity.TASK_INSTANCE
    return frozenset(dag for dag in dags if _may(user, dag, "GET", asked))  # guard: permitted_dags_only


def readable_of(user: Any, servers: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the Hive servers on which DAGs have worked that a user may read."""
    dags = readable(user, {dag for worked in servers.values() for dag in worked})
    return {server for server, worked in servers.items() if dags.intersection(worked)}


def may_trigger(user: Any, dag_id: str) -> bool:
    """Tell whether a user may trigger a DAG; Airflow checks it again when that is done."""
    return _may(user, dag_id, "POST", DagAccessEntity.RUN)


def _may(user: Any, dag_id: str, method: Any, entity: DagAccessEntity) -> bool:
    team = getattr(DagModel, "get_team_name", lambda _: None)(dag_id)
    details = DagDetails(id=dag_id, team_name=team) if team is not None else DagDetails(id=dag_id)
    return bool(
        get_auth_manager().is_authorized_dag(method=method, access_entity=entity, details=details, user=user)
    )

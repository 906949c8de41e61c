"""An auth manager whose users have rights per DAG, as FAB's has: the name of a user says which."""

from __future__ import annotations

from typing import Any

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager

#: By user: the DAGs that he may read, and those that he may trigger.
RIGHTS: dict[str, tuple[set[str], set[str]]] = {
    "admin": ({"nightly", "team_b", "lakekeeper_on_demand"}, {"nightly", "team_b", "lakekeeper_on_demand"}),
    "reader": ({"nightly", "lakekeeper_on_demand"}, set()),
    "team_b": ({"team_b"}, {"team_b"}),
    "nobody": (set(), set()),
}


class PerDagAuthManager(SimpleAuthManager):
    """Rights per DAG by the table above; all else as the simple auth manager has it."""

    def is_authorized_dag(
        self, *, method: Any, user: Any, access_entity: Any = None, details: Any = None
    ) -> bool:
        read, trigger = RIGHTS[user.get_name()]
        allowed = read if method == "GET" else trigger
        return bool(allowed) if details is None or details.id is None else details.id in allowed

    def filter_authorized_dag_ids(
        self, *, dag_ids: set[str], user: Any, method: Any = "GET", team_name: str | None = None
    ) -> set[str]:
        read, trigger = RIGHTS[user.get_name()]
        return dag_ids & (read if method == "GET" else trigger)

"""The operators of the provider, by verb."""

from __future__ import annotations

import importlib
from typing import Any

from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.provider_info import get_provider_info


def _operators() -> dict[str, type[LakekeeperOperator]]:
    """Return the operator of each verb, as the provider tells Airflow where they are."""
    modules = [name for each in get_provider_info()["operators"] for name in each["python-modules"]]
    classes = [
        found
        for name in modules
        for found in vars(importlib.import_module(name)).values()
        if isinstance(found, type) and issubclass(found, LakekeeperOperator) and found.__module__ == name
    ]
    return {found.verb: found for found in classes if "verb" in vars(found)}


OPERATORS = _operators()
VERBS = tuple(sorted(OPERATORS))
#: What some operators need or take besides.
_MORE: dict[str, dict[str, Any]] = {
    "compact": {"refresh": [{"conn_id": "engine", "attempts": 1}]},
    "rollback": {"refresh": [{"conn_id": "engine", "engine": "trino", "attempts": 1}]},
    "cleanup": {"older_than": "2d"},
}


def operator_of(verb: str, **arguments: Any) -> LakekeeperOperator:
    return OPERATORS[verb](**{**_MORE.get(verb, {}), **arguments})

"""Public names of Airflow that this package uses, for Airflow 2.11 and 3."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any, cast
from urllib.request import urlopen

from airflow.configuration import conf
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import (
    AirflowException,
    AirflowFailException,
    AirflowNotFoundException,
    AirflowSkipException,
    Asset,
    AssetAlias,
    BaseHook,
    BaseOperator,
    BaseOperatorLink,
    BaseSensorOperator,
    Context,
    ObjectStoragePath,
    PokeReturnValue,
    XCom,
)
from airflow.providers.common.compat.version_compat import AIRFLOW_V_3_0_PLUS, AIRFLOW_V_3_1_PLUS
from airflow.triggers.base import BaseTrigger, TriggerEvent

from lakekeeper_provider.exceptions import UsageError

try:
    from airflow.providers.common.compat.sdk import Stats
except ImportError:  # an older common.compat, on Airflow 2
    from airflow.stats import Stats
try:
    from airflow.providers.common.compat.sdk import redact
except ImportError:  # likewise
    from airflow.utils.log.secrets_masker import redact  # type: ignore[no-redef]

__all__ = [
    "AIRFLOW_V_3_0_PLUS",
    "AIRFLOW_V_3_1_PLUS",
    "AirflowException",
    "AirflowFailException",
    "AirflowNotFoundException",
    "AirflowSkipException",
    "Asset",
    "AssetAlias",
    "BaseHook",
    "BaseOperator",
    "BaseOperatorLink",
    "BaseSensorOperator",
    "BaseTrigger",
    "Context",
    "ObjectStoragePath",
    "PokeReturnValue",
    "SparkSubmitOperator",
    "Stats",
    "TriggerEvent",
    "XCom",
    "airflow_health",
    "fail_on_usage_error",
    "has_failed",
    "pull_xcom",
    "redact",
    "utcnow",
    "was_skipped",
]

#: The page of Airflow 3 with the health of its components, and for how long it is waited for.
_HEALTH, _SECONDS = "/api/v2/monitor/health", 10


def has_failed(context: Context, task_id: str) -> bool:
    """Return whether a task of this DAG run failed, or did not run because an upstream task failed."""
    return any(state in ("failed", "upstream_failed") for state in _states(context, task_id))


def was_skipped(context: Context, task_id: str) -> bool:
    """Return whether a task of this DAG run was skipped, all of its mapped ones."""
    return set(_states(context, task_id)) == {"skipped"}


def _states(context: Context, task_id: str) -> list[str]:
    instance, run = context["ti"], cast(Any, context["dag_run"])
    if hasattr(instance, "get_task_states"):
        outcome = instance.get_task_states(dag_id=instance.dag_id, task_ids=[task_id], run_ids=[run.run_id])
        states = list(outcome.get(run.run_id, {}).values())
    else:  # Airflow 2
        states = [other.state for other in run.get_task_instances() if other.task_id == task_id]
    return [str(getattr(state, "value", state)) for state in states]


def pull_xcom(ti: Any, key: str, source: Mapping[str, Any]) -> Any:
    """Return an XCom of another task, or None if there is none.

    Args:
        source: the task that pushed it: ``dag_id``, ``run_id``, ``task_id`` and ``map_index``
    """
    dag_id, task_id, map_index = source["dag_id"], source["task_id"], source["map_index"]
    if source["run_id"] == ti.run_id:
        return ti.xcom_pull(key=key, dag_id=dag_id, task_ids=task_id, map_indexes=map_index)
    # Of another DAG run: in Airflow 2, a task instance only pulls from its own.
    return XCom.get_one(key=key, dag_id=dag_id, task_id=task_id, run_id=source["run_id"], map_index=map_index)


def utcnow() -> datetime:
    """Return the current instant."""
    return datetime.now(timezone.utc)


def airflow_health() -> dict[str, Any]:
    """Return the health of Airflow's components, by their names.

    Airflow 3 tells it by a page that asks for no login, on the server of the tasks; Airflow 2 by its database.

    Raises:
        OSError: nothing answers
    """
    if not AIRFLOW_V_3_0_PLUS:
        from airflow.api.common.airflow_health import get_airflow_health

        return get_airflow_health()
    base = (conf.get("api", "base_url", fallback="") or "http://localhost:8080").rstrip("/")
    server = conf.get("core", "execution_api_server_url", fallback="") or f"{base}/execution/"
    address = re.sub(r"/execution/?$", _HEALTH, server)
    with urlopen(address, timeout=_SECONDS) as answer:  # noqa: S310 (the address is Airflow's own configuration)
        return cast(dict[str, Any], json.load(answer))


@contextmanager
def fail_on_usage_error() -> Iterator[None]:
    """Raise AirflowFailException, which prevents retries, for a UsageError."""
    try:
        yield
    except UsageError as error:
        raise AirflowFailException(str(error)) from None

"""The names of Airflow that this package uses, the same for 2.11 and 3."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import (
    AirflowException,
    AirflowFailException,
    AirflowNotFoundException,
    AirflowSkipException,
    BaseHook,
    BaseOperator,
    BaseSensorOperator,
    Context,
    ObjectStoragePath,
    PokeReturnValue,
)
from airflow.triggers.base import BaseTrigger, TriggerEvent

from lakekeeper_provider.exceptions import UsageError

__all__ = [
    "AirflowException",
    "AirflowFailException",
    "AirflowNotFoundException",
    "AirflowSkipException",
    "BaseHook",
    "BaseOperator",
    "BaseSensorOperator",
    "BaseTrigger",
    "Context",
    "ObjectStoragePath",
    "PokeReturnValue",
    "SparkSubmitOperator",
    "TriggerEvent",
    "execute_spark_submit",
    "fail_on_usage_error",
    "has_failed",
    "utcnow",
]


def execute_spark_submit(operator: SparkSubmitOperator, context: Context) -> Any:
    """
    Run ``SparkSubmitOperator.execute`` from a subclass.

    Without its guard against calls from outside the task runner: after a deferral, and from a sensor, the
    guard takes the subclass for an outsider.
    """
    return inspect.unwrap(SparkSubmitOperator.execute)(operator, context)


def has_failed(context: Context, task_id: str) -> bool:
    """Tell whether a task of this DAG run failed, or never ran because one before it failed."""
    instance, run = context["ti"], context["dag_run"]
    if hasattr(instance, "get_task_states"):
        found = instance.get_task_states(dag_id=instance.dag_id, task_ids=[task_id], run_ids=[run.run_id])
        states = list(found.get(run.run_id, {}).values())
    else:  # Airflow 2
        states = [other.state for other in run.get_task_instances() if other.task_id == task_id]
    return any(getattr(state, "value", state) in ("failed", "upstream_failed") for state in states)


def utcnow() -> datetime:
    """Return the current instant."""
    return datetime.now(timezone.utc)


@contextmanager
def fail_on_usage_error() -> Iterator[None]:
    """Turn an error that no retry can mend into a failure without retries."""
    try:
        yield
    except UsageError as error:
        raise AirflowFailException(str(error)) from None

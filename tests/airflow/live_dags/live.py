"""DAGs for the live tests. Files in the folder of the recording spark-submit steer them: ``<table>.<word>``."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.common.compat.sdk import AirflowException, dag, task

from example_dags.lakekeeper_after_load import LOADED
from example_dags.lakekeeper_cleanup import PARAMS, lakekeeper_cleanup
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RecordCompactionOperator, RollbackOperator

#: The examples that are imported below stay paused: their schedules would add runs.
COMMON: dict[str, Any] = {
    "schedule": None,
    "start_date": datetime(2026, 1, 1),
    "catchup": False,
    "is_paused_upon_creation": False,
}
TABLE = "{{ params.table }}"
#: Seconds after which a test that failed has forgotten its file.
LIMIT = 600


def flag(context: Any, word: str) -> Path:
    return Path(os.environ["FAKE_SPARK"]) / f"{context['params']['table']}.{word}"


def die_once(context: Any) -> None:
    """A worker that dies on the first try of a pass, before the operator begins."""
    path = flag(context, "die")
    if path.exists():
        path.unlink()
        raise AirflowException("the worker died")


def compact_and_rollback() -> CompactOperator:
    """A compaction with its rollback task."""
    again: dict[str, Any] = {"retries": 1, "retry_delay": timedelta(seconds=1), "pre_execute": die_once}
    compact = CompactOperator(task_id="compact", table=TABLE, **again)
    record = RecordCompactionOperator(task_id="record", compaction=compact.output)
    RollbackOperator(task_id="rollback", compaction=record.output, only_when_cleared=True, **again)
    return compact


@dag(dag_id="live_rollback", params={"table": "sales.events"}, **COMMON)
def live_rollback() -> None:
    compact_and_rollback()


@dag(dag_id="live_gated", params={"table": "sales.events"}, **COMMON)
def live_gated() -> None:
    @task
    def gate(**context: Any) -> None:
        """Fail while the file says so: the compaction then does not run."""
        if flag(context, "closed").exists():
            raise AirflowException("closed")

    @task
    def slow(**context: Any) -> None:
        """Keep the DAG run going while the file is there."""
        deadline = time.monotonic() + LIMIT
        while flag(context, "hold").exists():
            if time.monotonic() > deadline:
                raise AirflowException(f"nobody removed {flag(context, 'hold')} within {LIMIT} s")
            time.sleep(0.1)

    gate() >> compact_and_rollback() >> slow()


@dag(dag_id="live_mapped", params={"table": "sales"}, **COMMON)
def live_mapped() -> None:
    @task
    def tables(params: dict[str, Any] | None = None) -> list[str]:
        return [f"{(params or {})['table']}.{name}" for name in ("a", "b")]

    compact = CompactOperator.partial(task_id="compact").expand(table=tables())
    record = RecordCompactionOperator(task_id="record", compaction=compact.output)
    RollbackOperator(task_id="rollback", compaction=record.output, only_when_cleared=True)


@dag(dag_id="live_window", params={"table": "sales.events", "start": "00:00", "end": "24:00"}, **COMMON)
def live_window() -> None:
    CompactOperator(
        task_id="compact", table=TABLE, window={"start": "{{ params.start }}", "end": "{{ params.end }}"}
    )


@dag(dag_id="live_load", params={"partitions": []}, **COMMON)
def live_load() -> None:
    @task(outlets=[LOADED])
    def load(*, outlet_events: Any, params: dict[str, Any] | None = None) -> None:
        """Announce what was loaded, as a producer of the table of lakekeeper_after_load does."""
        outlet_events[LOADED].extra = {"partitions": json.dumps((params or {})["partitions"])}

    load()


# The example, without its limit of one run: one that waits for a person must not keep another from starting.
live_cleanup = dag(dag_id="live_cleanup", params=PARAMS, **COMMON)(lakekeeper_cleanup.__wrapped__)

live_rollback()
live_gated()
live_load()
live_cleanup()
live_mapped()
live_window()

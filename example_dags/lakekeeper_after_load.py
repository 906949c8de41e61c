"""
### After a load: compact just the partitions that were loaded

1. The DAG that loads `sales.events` emits an asset event, which starts this DAG
2. `loaded_partitions`: the partitions that the event names
3. `compact`: these partitions only

The DAG that loads names the partitions in the extra of its asset event:

    EVENTS = Asset("hive://hs2.example.com:10000/sales/events")

    @task(outlets=[EVENTS])
    def load(*, outlet_events):
        ...
        outlet_events[EVENTS].extra = {"partitions": '[{"date": "2026-02-23"}]'}

Each run of this DAG takes all events since the run before. The compaction emits an event of its own, for
`hive://hs2.example.com:10000/sales/events?lakekeeper=compact`: it does not start this DAG again.

Change the URI and the table. It needs a Spark connection `spark_default`, and `spark-submit` on the workers.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from airflow.providers.common.compat.sdk import AirflowSkipException, Asset, dag, task

from lakekeeper_provider.operators.compact import CompactOperator

TABLE = "sales.events"
LOADED = Asset("hive://hs2.example.com:10000/sales/events")


@dag(
    dag_id="lakekeeper_after_load",
    schedule=[LOADED],
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=5)},
    doc_md=__doc__,
    tags=["lakekeeper"],
)
def lakekeeper_after_load() -> None:
    @task
    def loaded_partitions(**context: Any) -> list[dict[str, str | None]]:
        """Return the partitions that the events name, each once."""
        # Airflow 2 calls assets datasets.
        events = context.get("triggering_asset_events") or context.get("triggering_dataset_events") or {}
        named = [event.extra.get("partitions") or "[]" for found in events.values() for event in found]
        partitions = [spec for text in named for spec in json.loads(text)]
        if not partitions:
            raise AirflowSkipException("the asset events name no partitions")
        return [spec for n, spec in enumerate(partitions) if spec not in partitions[:n]]

    CompactOperator(task_id="compact", table=TABLE, partitions=loaded_partitions())


lakekeeper_after_load()

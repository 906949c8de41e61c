"""
### One table, by hand: analyse it, compact it, or roll back the newest compaction

Trigger it by hand and fill in the form. `analyze` changes nothing; `compact` keeps the originals; `rollback` restores
them. Choose *Dry run* to see what a compaction would do.

To undo a compaction of this DAG, trigger it again with the action *Roll back*: clearing the task `rollback` of a run
with another action does nothing.

It needs a Spark connection `spark_default`, and `spark-submit` on the workers.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from airflow.providers.common.compat.sdk import Param, dag, task

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator

PARAMS = {
    "table": Param(
        "default.events",
        type="string",
        pattern=r"^[^.\s]+\.[^.\s]+$",
        title="Table",
        description="As `database.table`.",
    ),
    "action": Param(
        "analyze",
        enum=["analyze", "compact", "rollback"],
        title="Action",
        values_display={
            "analyze": "Analyze: report, write nothing",
            "compact": "Compact what is flagged",
            "rollback": "Roll back the newest compaction",
        },
    ),
    "dry_run": Param(
        True,
        type="boolean",
        title="Dry run",
        description="For the action compact: decide and report, write nothing.",
    ),
    "partitions": Param(
        None,
        type=["null", "array"],
        items={"type": "object"},
        title="Only these partitions",
        description='JSON, such as `[{"date": "2026-02-23"}]`; a spec may name only some of the keys.',
    ),
    "config_file": Param(
        None,
        type=["null", "string"],
        title="Configuration file",
        description="A lakekeeper.yaml on the workers.",
        section="Spark",
    ),
}


@dag(
    dag_id="lakekeeper_on_demand",
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    params=PARAMS,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=5)},
    doc_md=__doc__,
    tags=["lakekeeper"],
)
def lakekeeper_on_demand() -> None:
    common = {"table": "{{ params.table }}", "config_file": "{{ params.config_file }}"}
    partitions = "{{ params.partitions | tojson }}"

    @task.branch
    def choose(params: dict[str, Any] | None = None) -> str:
        """Return the task of the action in the form."""
        return str((params or {})["action"])

    choose() >> [
        AnalyzeOperator(task_id="analyze", partitions=partitions, **common),
        CompactOperator(task_id="compact", partitions=partitions, dry_run="{{ params.dry_run }}", **common),
        RollbackOperator(task_id="rollback", **common),
    ]


lakekeeper_on_demand()

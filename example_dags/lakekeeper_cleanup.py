"""
### Delete the originals of old compactions, after a person has approved it

1. `preview`: a dry run
2. `describe`: what it has found, in words
3. `approve`: waits for a person
4. `delete`

Compactions keep the original files, so that they can be rolled back. This DAG deletes those that are older than the
retention. *After that, these compactions cannot be rolled back*; the files are moved to the HDFS trash.

`approve` asks in the Airflow UI (*Required Actions*). Airflow before 3.1 does not support this, so that a scheduled run
only shows what it would delete: look at the result of `preview`, and then trigger the DAG with *Delete without asking*.

**Every week:** set `DATABASE` in a copy of this file. Until then it has no schedule.

It needs a Spark connection `spark_default`, and `spark-submit` on the workers.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from airflow.providers.common.compat.sdk import AirflowException, AirflowSkipException, Param, dag, task

from lakekeeper_provider.operators.cleanup import CleanupOperator

try:
    from airflow.providers.standard.operators.hitl import ApprovalOperator
except (ImportError, AirflowException):  # before Airflow 3.1
    ApprovalOperator = None

#: The database that is cleaned up, and the name of this DAG: one copy of this file for each database.
DATABASE: str | None = None
DAG_ID = "lakekeeper_cleanup"
#: When it begins (UTC): every Monday.
SCHEDULE = "0 8 * * 1"
#: What stays: runs that are younger, and the newest runs of each table, however old they are.
OLDER_THAN, KEEP_LAST = "7d", 1
#: A lakekeeper.yaml on the workers.
CONFIG_PATH: str | None = None
PARAMS = {
    "database": Param(DATABASE or "", type="string", minLength=1, title="Database"),
    "older_than": Param(
        OLDER_THAN,
        type="string",
        pattern=r"^\d+[dhms]$",
        title="Older than",
        description="Keep younger runs. Choose more than the duration of your longest query or writer. Less than a day"
        " is refused, unless the configuration file has allow_short_retention: true.",
        examples=["1d", "7d", "30d"],
    ),
    "keep_last": Param(
        KEEP_LAST,
        type="integer",
        minimum=0,
        title="Keep the newest",
        description="So many runs of each table stay, however old they are.",
    ),
    "delete_without_asking": Param(
        False, type="boolean", title="Delete without asking", description="Only needed before Airflow 3.1."
    ),
    "config_file": Param(
        CONFIG_PATH,
        type=["null", "string"],
        title="Configuration file",
        description="A lakekeeper.yaml on the workers.",
        section="Spark",
    ),
}


@dag(
    dag_id=DAG_ID,
    schedule=SCHEDULE if DATABASE else None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    params=PARAMS,
    doc_md=__doc__,
    tags=["lakekeeper", "maintenance"],
)
def lakekeeper_cleanup() -> None:
    retention = {
        "database": "{{ params.database }}",
        "older_than": "{{ params.older_than }}",
        "keep_last": "{{ params.keep_last }}",
        "config_file": "{{ params.config_file }}",
        # Only for these tasks: a retry of `approve` would ask again.
        "retries": 2,
        "retry_delay": timedelta(minutes=5),
    }
    preview = CleanupOperator(task_id="preview", dry_run=True, **retention)

    @task
    def describe(found: dict[str, Any], params: dict[str, Any] | None = None) -> str:
        """Describe what would be deleted. Skip the approval if there is nothing to delete."""
        chosen, tables = params or {}, [table for table in found["tables"] if table["outcome"] == "done"]
        # XCom has no room for the names of thousands of tables.
        unnamed = (found.get("left_out") or {}).get("done")
        more = [f"- {unnamed} more: see the log of the task `preview`"] if unnamed else []
        if not tables and not more:
            reason = f"nothing to delete: no run is older than {chosen['older_than']}, but for the newest"
            reason = f"{reason} {chosen['keep_last']} of each table"
            print(reason)
            raise AirflowSkipException(reason)
        return "\n".join(
            [
                f"The originals of runs that are older than {chosen['older_than']} will be deleted, of these tables:",
                "",
                *(f"- {table['table']}" for table in tables),
                *more,
                "",
                "After that, these compactions cannot be rolled back.",
            ]
        )

    described = describe(preview.output)
    if ApprovalOperator is not None:
        approve = ApprovalOperator(
            task_id="approve",
            subject="Delete the originals of compacted tables in {{ params.database }}?",
            body="{{ ti.xcom_pull(task_ids='describe') }}",
            response_timeout=timedelta(days=2),
            defaults=ApprovalOperator.REJECT,
        )
    else:

        @task.short_circuit(task_id="approve")
        def approved(params: dict[str, Any] | None = None) -> bool:
            """Continue only if the form says so."""
            return bool((params or {})["delete_without_asking"])

        approve = approved()
    described >> approve >> CleanupOperator(task_id="delete", **retention)


lakekeeper_cleanup()

"""
### The first night: a few units, a person's approval, then the rest

1. `analyze`: what is flagged
2. `first_units`: compacts three units of it
3. `approve`: waits for a person
4. `the_rest`: compacts what is left
5. `record_...`, and `rollback_...`, which are skipped until you clear them

`first_units` compacts three units (*First units*) with `verify=hash`, which compares every value, and keeps the
originals as always. Then the DAG run waits in `approve`: look at the tables in Hive, Impala or Spark, and

- on Airflow 3.1 and later, choose **Approve** or **Reject** under *Required actions*;
- before, the task `approve` fails and says so: mark it as *success* to go on.

`the_rest` compacts what else the analysis has flagged, within *Read at most*; what does not fit is deferred, and goes
first when you trigger the DAG again. It stops after *Failures*.

**To undo it**, clear the tasks `rollback_first` or `rollback_rest` of the finished run, each alone.

Without an approval, `CompactOperator(canary=3)` does the same in one task. It needs a Spark connection `spark_default`,
and `spark-submit` on the workers.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, Param, dag, task

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RecordCompactionOperator, RollbackOperator

try:
    from airflow.providers.standard.operators.hitl import ApprovalOperator
except (ImportError, AirflowException):  # before Airflow 3.1
    ApprovalOperator = None

CONFIG_FILE = "{{ params.config_file }}"
QUESTION = "Compact the rest?"
PARAMS = {
    "database": Param(
        "", type="string", minLength=1, title="Database", description="Its tables are compacted."
    ),
    "first_units": Param(
        3,
        type="integer",
        minimum=1,
        title="First units",
        description="Partitions, or tables without partitions, that are compacted before the approval.",
    ),
    "max_bytes": Param(
        None,
        type=["null", "string"],
        title="Read at most",
        description="Such as 500gb; the rest is deferred.",
    ),
    "max_failures": Param(
        3,
        type="integer",
        minimum=0,
        title="Failures",
        description="No more units are begun after so many have failed.",
    ),
    "config_file": Param(
        None,
        type=["null", "string"],
        title="Configuration file",
        description="A lakekeeper.yaml on the workers; lakekeeper generate-config writes one.",
    ),
}


@dag(
    dag_id="lakekeeper_first_night",
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    params=PARAMS,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=5)},
    doc_md=__doc__,
    tags=["lakekeeper"],
)
def lakekeeper_first_night() -> None:
    analyze = AnalyzeOperator(
        task_id="analyze", database="{{ params.database }}", config_file=CONFIG_FILE, on_refused="skip"
    )
    first_units = CompactOperator(
        task_id="first_units",
        analysis=analyze.output,
        verify="hash",
        max_units="{{ params.first_units }}",
        max_failures="1",
        config_file=CONFIG_FILE,
        # A retry would begin with a failure count of 0, and with other units than those that are to be looked at.
        retries=0,
    )
    the_rest = CompactOperator(
        task_id="the_rest",
        analysis=analyze.output,
        max_bytes="{{ params.max_bytes }}",
        max_failures="{{ params.max_failures }}",
        config_file=CONFIG_FILE,
    )
    first_units >> _approval() >> the_rest
    for name, compaction in (("first", first_units), ("rest", the_rest)):
        record = RecordCompactionOperator(task_id=f"record_{name}", compaction=compaction.output)
        record >> RollbackOperator(
            task_id=f"rollback_{name}",
            compaction=record.output,
            only_when_cleared=True,
            config_file=CONFIG_FILE,
        )


def _approval():
    """Return the task in which a person decides whether to go on."""
    if ApprovalOperator is not None:
        return ApprovalOperator(task_id="approve", subject=QUESTION, retries=0)

    @task(retries=0)
    def approve() -> None:
        """Wait for a person: fail until somebody marks this task as success."""
        raise AirflowFailException(
            f"{QUESTION} If the first units are as they should be, mark this task as success"
        )

    return approve()


lakekeeper_first_night()

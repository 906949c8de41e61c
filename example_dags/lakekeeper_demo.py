"""
### The demo: three tables of small files, compacted and checked

1. `analyze`, `compact`, `verify`: one task for each table
2. `nothing_left`: fails if a table still has small files
3. `record`, and `rollback`, which is skipped until you clear it

`make demo` creates the tables and runs this DAG. To see a rollback, clear only the task `rollback` in the finished
DAG run. To compact again, clear `compact`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from airflow.providers.common.compat.sdk import AirflowFailException, dag, task

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RecordCompactionOperator, RollbackOperator

TABLES = ["demo.lakekeeper_flat", "demo.lakekeeper_events", "demo.lakekeeper_events_2p"]


@dag(
    dag_id="lakekeeper_demo",
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_tasks=2,
    doc_md=__doc__,
    tags=["lakekeeper", "demo"],
)
def lakekeeper_demo() -> None:
    analyze = AnalyzeOperator.partial(task_id="analyze", map_index_template="{{ task.table }}").expand(
        table=TABLES
    )
    compact = CompactOperator.partial(
        task_id="compact", map_index_template="{{ task.analysis['tables'][0]['table'] }}"
    ).expand(analysis=analyze.output)
    # none_failed: if a table needed no compaction, its task is skipped, and the table is verified nevertheless.
    verify = AnalyzeOperator.partial(
        task_id="verify", map_index_template="{{ task.table }}", trigger_rule="none_failed"
    ).expand(table=TABLES)

    @task
    def nothing_left(analyses: Any) -> None:
        """Fail if a table still has small files."""
        left = [table["table"] for value in analyses for table in value["tables"] if table["flagged"] != []]
        if left:
            raise AirflowFailException(f"still too many small files in {', '.join(left)}")

    record = RecordCompactionOperator(task_id="record", compaction=compact.output)
    RollbackOperator(task_id="rollback", compaction=record.output, only_when_cleared=True)
    compact >> verify
    nothing_left(verify.output)


lakekeeper_demo()

"""
### When needed: compact a table as soon as it is worth it

1. `small_files`: a sensor, which analyses every hour until the conditions hold
2. `compact`: what the analysis has flagged

The conditions are in the parameters. As the form comes, a table is compacted when 10,000 small files have accumulated,
or 2,000 files were added since its last compaction, or a week after it; and only partitions that nobody has written
for two hours. Leave a condition empty to do without it. A table that was never compacted is compacted at once.

An analysis does not list partitions that have not changed since the analysis before (in a table that was compacted
before, or has 1,000 partitions or more), and reads no footers of partitions that are not due. So it is cheap if
nothing has changed: what remains is the start of a Spark application.

One run waits for 23 hours at most. If the conditions do not hold until then, its tasks are skipped, and the run of the
next day goes on. It needs a Spark connection `spark_default`, and `spark-submit` on the workers.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.common.compat.sdk import Param, dag

from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.sensors.small_files import SmallFilesSensor

DURATION = r"^\s*\d+\s*[smhdw]\s*$"
#: The table that is watched, as `database.table`. Without one, the DAG has no schedule, and its form requires one.
TABLE: str | None = None
PARAMS = {
    "table": Param(
        TABLE or "",
        type="string",
        minLength=3,
        pattern=r"^[^.\s]+\.[^.\s]+$",
        title="Table",
        description="As database.table.",
    ),
    "idle_for": Param(
        "2h",
        type=["null", "string"],
        pattern=DURATION,
        title="Only idle for",
        description="Only partitions whose newest file is at least this old.",
    ),
    "trigger": Param(
        "any",
        enum=["any", "all"],
        title="Which conditions",
        values_display={"any": "One of the conditions is enough", "all": "All conditions must hold"},
        section="Conditions",
    ),
    "trigger_small_files": Param(
        10_000,
        type=["null", "integer"],
        minimum=1,
        title="Small files",
        description="So many small files in the flagged partitions of the table.",
        section="Conditions",
    ),
    "trigger_growth": Param(
        2_000,
        type=["null", "integer"],
        minimum=1,
        title="Growth",
        description="So many files that were added since the last compaction.",
        section="Conditions",
    ),
    "trigger_interval": Param(
        "7d",
        type=["null", "string"],
        pattern=DURATION,
        title="Interval",
        description="So much time since the last compaction.",
        section="Conditions",
    ),
    "config_file": Param(
        None,
        type=["null", "string"],
        title="Configuration file",
        description="A lakekeeper.yaml on the workers.",
        section="Spark",
    ),
}
CONDITIONS = ("trigger", "trigger_small_files", "trigger_growth", "trigger_interval")


@dag(
    dag_id="lakekeeper_when_needed",
    schedule="@daily" if TABLE else None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    params=PARAMS,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=5)},
    doc_md=__doc__,
    tags=["lakekeeper"],
)
def lakekeeper_when_needed() -> None:
    common = {"idle_for": "{{ params.idle_for }}", "config_file": "{{ params.config_file }}"}
    small_files = SmallFilesSensor(
        task_id="small_files",
        table="{{ params.table }}",
        poke_interval=3600,
        timeout=23 * 3600,
        soft_fail=True,
        **{name: f"{{{{ params.{name} }}}}" for name in CONDITIONS},
        **common,
    )
    # The analysis has judged the conditions. A partition that was written since is left to the next compaction.
    CompactOperator(task_id="compact", analysis=small_files.output, **common)


lakekeeper_when_needed()

"""
### One table, by hand: analyse, compact, roll back, clean up, show its history, check it, ask what is wrong

Trigger it by hand and fill in the form. `analyze`, `history`, `check` and `doctor` change nothing; `compact` keeps the
originals; `rollback` restores them; `cleanup` deletes them. With *Dry run* the last three only say what they would
do. What is left empty in the form comes from the configuration file and from the properties of the table.

To undo a compaction of this DAG, trigger it again with the action *Roll back*, without *Dry run*: clearing the task
`rollback` of a run with another action does nothing.

It needs a Spark connection `spark_default`, and `spark-submit` on the workers.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from airflow.providers.common.compat.sdk import Param, dag, task

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.check import CheckOperator
from lakekeeper_provider.operators.cleanup import CleanupOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.doctor import DoctorOperator
from lakekeeper_provider.operators.history import HistoryOperator
from lakekeeper_provider.operators.rollback import RollbackOperator

#: A lakekeeper.yaml on the workers.
CONFIG_PATH: str | None = None
#: What a list in the form says until something is chosen. The form of Airflow 2 sends no null from a list.
CONFIGURED = "configured"
PARAMS = {
    "table": Param(
        "",
        type="string",
        minLength=3,
        pattern=r"^[^.\s]+\.[^.\s]+$",
        title="Table",
        description="As database.table.",
    ),
    "action": Param(
        "analyze",
        enum=["analyze", "compact", "rollback", "cleanup", "history", "check", "doctor"],
        title="Action",
        values_display={
            "analyze": "Analyze: report, write nothing",
            "compact": "Compact what is flagged",
            "rollback": "Roll back the newest compaction",
            "cleanup": "Clean up: delete kept originals",
            "history": "History: what was done, and what can be rolled back",
            "check": "Check: compare journals with what is there",
            "doctor": "Doctor: what is wrong between here and the table",
        },
    ),
    "run_id": Param(
        None,
        type=["null", "string"],
        title="Run to roll back",
        description="For the action rollback: the run that is undone, instead of the newest.",
    ),
    "dry_run": Param(
        True,
        type="boolean",
        title="Dry run",
        description="For the actions compact, rollback and cleanup: decide and report, write and delete nothing.",
    ),
    "partitions": Param(
        None,
        type=["null", "array"],
        items={"type": "object"},
        title="Only these partitions",
        description='JSON, such as [{"date": "2026-02-23"}]; a spec may name only some of the keys.',
        section="Partitions",
    ),
    "where": Param(
        None,
        type=["null", "string"],
        title="Only where",
        description="A condition on the partition keys, such as date >= '2026-02-01'; instead of a list of them.",
        section="Partitions",
    ),
    "idle_for": Param(
        None,
        type=["null", "string"],
        pattern=r"^\s*\d+\s*[smhdw]\s*$",
        title="Only idle for",
        description="Only partitions whose newest file is at least this old, such as 7d; instead of the two above.",
        section="Partitions",
    ),
    "min_input_files": Param(
        None,
        type=["null", "integer"],
        minimum=2,
        title="Smallest number of files",
        description="Directories with fewer files are left alone (2).",
        section="Thresholds",
    ),
    "compaction_ratio_threshold": Param(
        None,
        type=["null", "number"],
        minimum=1,
        title="Ratio",
        description="Compact where the average or median file is smaller than a block divided by this (10).",
        section="Thresholds",
    ),
    "target_file_size": Param(
        None,
        type=["null", "string"],
        title="Target file size",
        description="Such as 512mb; the block size by default.",
        section="Thresholds",
    ),
    "strategy": Param(
        CONFIGURED,
        type="string",
        enum=[CONFIGURED, "full", "minor"],
        title="Strategy",
        values_display={
            CONFIGURED: "As configured",
            "full": "Rewrite all files of a directory",
            "minor": "Rewrite small files, copy large ones byte by byte",
        },
        section="Rewrite",
    ),
    "sort_columns": Param(
        None,
        type=["null", "string"],
        title="Sort by",
        description="Columns, separated by commas. Sorting costs a shuffle.",
        section="Rewrite",
    ),
    "analyze_after_compaction": Param(
        False,
        type="boolean",
        title="Compute statistics",
        description="Run ANALYZE TABLE on what was compacted.",
        section="Rewrite",
    ),
    "order": Param(
        CONFIGURED,
        type="string",
        enum=[CONFIGURED, "score", "none", "bytes-asc", "bytes-desc", "files-asc", "files-desc"],
        title="Order",
        values_display={
            CONFIGURED: "As configured",
            "score": "Most files removed for each byte first",
            "none": "As they are listed",
            "bytes-asc": "Fewest bytes first",
            "bytes-desc": "Most bytes first",
            "files-asc": "Fewest files first",
            "files-desc": "Most files first",
        },
        description="Partitions that an earlier run has deferred come before all others.",
        section="Limits",
    ),
    "max_bytes": Param(
        None,
        type=["null", "string"],
        title="Read at most",
        description="Such as 100gb; the rest is deferred to the next run.",
        section="Limits",
    ),
    "max_files": Param(None, type=["null", "integer"], minimum=0, title="Files at most", section="Limits"),
    "max_units": Param(
        None, type=["null", "integer"], minimum=0, title="Partitions at most", section="Limits"
    ),
    "canary": Param(
        None,
        type=["null", "integer"],
        minimum=0,
        title="Canary",
        description="Compact so many partitions first, compare every value, and go on only if all succeed.",
        section="Limits",
    ),
    "max_failures": Param(
        None,
        type=["null", "integer"],
        minimum=0,
        title="Failures",
        description="Begin no more partitions after so many have failed.",
        section="Limits",
    ),
    "max_held_bytes": Param(
        None,
        type=["null", "string"],
        title="Originals at most",
        description="Such as 1tb: the rest is deferred until a cleanup has deleted originals of the table.",
        section="Limits",
    ),
    "max_calls_per_second": Param(
        None,
        type=["null", "integer"],
        minimum=1,
        title="NameNode calls per second",
        description="Of the driver, at most.",
        section="Limits",
    ),
    "trigger": Param(
        CONFIGURED,
        type="string",
        enum=[CONFIGURED, "any", "all"],
        title="Conditions",
        values_display={CONFIGURED: "As configured", "any": "Any of them", "all": "All of them"},
        description="Compact only if any or all of the conditions hold that are given below.",
        section="Trigger conditions",
    ),
    "trigger_unit_files": Param(
        None, type=["null", "integer"], minimum=1, title="Files of a partition", section="Trigger conditions"
    ),
    "trigger_small_files": Param(
        None,
        type=["null", "integer"],
        minimum=1,
        title="Small files of the table",
        section="Trigger conditions",
    ),
    "trigger_growth": Param(
        None,
        type=["null", "integer"],
        minimum=1,
        title="New files",
        description="Files that were added to the table since the last compaction.",
        section="Trigger conditions",
    ),
    "trigger_interval": Param(
        None,
        type=["null", "string"],
        title="Time since the last compaction",
        description="Such as 7d.",
        section="Trigger conditions",
    ),
    "trigger_average_size": Param(
        None,
        type=["null", "string"],
        title="Average size of files",
        description="Such as 16mb: that of a partition is less.",
        section="Trigger conditions",
    ),
    "older_than": Param(
        "7d",
        type="string",
        title="Older than",
        description="For the action cleanup: delete only the originals of runs that are older. Less than a day is"
        " refused, unless the configuration file has allow_short_retention: true.",
        section="Cleanup",
    ),
    "keep_last": Param(
        1,
        type="integer",
        minimum=0,
        title="Keep the newest runs",
        description="For the action cleanup: the originals of so many runs stay, however old they are.",
        section="Cleanup",
    ),
    "window": Param(
        None,
        type=["null", "object"],
        title="Maintenance window",
        description='JSON, such as {"start": "22:00", "end": "05:00", "timezone": "Europe/Paris"}: a compaction,'
        " rollback or cleanup waits until it opens. Without one it starts at once.",
        section="Maintenance window",
    ),
    "config_file": Param(
        CONFIG_PATH,
        type=["null", "string"],
        title="Configuration file",
        description="A lakekeeper.yaml on the workers.",
        section="Spark",
    ),
}


def _from_form(*names: str) -> dict[str, str]:
    """Return the templates of fields of the form, by the arguments of the same names; empty if nothing was chosen."""
    return {name: f"{{{{ params.{name} if params.{name} != '{CONFIGURED}' }}}}" for name in names}


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
    planning = {
        "partitions": "{{ params.partitions | tojson }}",
        **_from_form(
            *("where", "idle_for", "max_calls_per_second"),
            *("min_input_files", "compaction_ratio_threshold", "target_file_size", "strategy"),
            *("trigger", "trigger_unit_files", "trigger_small_files", "trigger_growth"),
            *("trigger_interval", "trigger_average_size"),
        ),
    }
    limits = _from_form(
        *("order", "max_bytes", "max_files", "max_units", "max_held_bytes", "canary", "max_failures")
    )
    window = "{{ params.window | tojson }}"

    @task.branch
    def choose(params: dict[str, Any] | None = None) -> str:
        """Return the task of the action in the form."""
        return str((params or {})["action"])

    choose() >> [
        AnalyzeOperator(task_id="analyze", **planning, **common),
        CompactOperator(
            task_id="compact",
            dry_run="{{ params.dry_run }}",
            sort_columns="{{ params.sort_columns }}",
            analyze_after_compaction="{{ params.analyze_after_compaction or None }}",
            window=window,
            **limits,
            **planning,
            **common,
        ),
        RollbackOperator(
            task_id="rollback",
            run_id="{{ params.run_id }}",
            dry_run="{{ params.dry_run }}",
            window=window,
            **_from_form("max_calls_per_second"),
            **common,
        ),
        CleanupOperator(
            task_id="cleanup",
            dry_run="{{ params.dry_run }}",
            older_than="{{ params.older_than }}",
            keep_last="{{ params.keep_last }}",
            window=window,
            **_from_form("max_calls_per_second"),
            **common,
        ),
        HistoryOperator(task_id="history", limit=20, units=True, **common),
        CheckOperator(task_id="check", **_from_form("max_calls_per_second"), **common),
        DoctorOperator(task_id="doctor", **common),
    ]


lakekeeper_on_demand()

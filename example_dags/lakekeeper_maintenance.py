"""
### Nightly maintenance: find small files, compact them in the maintenance window, undo on request

1. `wait_for_window`: deferred until the window opens
2. `list_tables`: the external tables of the database, and those of Iceberg and Paimon
3. `analyze`: one task for each table
4. `only_flagged`: the tables that are worth a compaction
5. `compact`: one task for each of them
6. `summary`: what was done, what was not and why, and what can be undone
7. `record`, and `rollback`: one task for each compacted table; skipped until you clear it

**Before the first run:** a Spark connection `spark_default`, `spark-submit` on the workers, and a triggerer. A Hive
Metastore connection `metastore_default` too, unless *List the tables by* is `spark`.

**Every night:** set `DATABASE`, and the other constants at the top, in a copy of this file. Until then it has no
schedule. What you enter in the form holds for that run only.

**To undo last night's compaction:** open the finished DAG run, and clear *only* the task `rollback`. **To undo one
table:** open the task `rollback`, and clear only the mapped task with the name of the table. To compact again, clear
`compact`.

**To run now**, outside the window: trigger the DAG by hand with *Run now*. Then neither the start waits for the window,
nor does its end stop the compaction.

**To limit how many tables are processed at the same time:** create a pool with
`airflow pools set lakekeeper 2 "Tables compacted in parallel"`, and set the environment variable
`LAKEKEEPER_POOL=lakekeeper` for the DAG processor, the scheduler and the workers.

**If the metastore requires Kerberos**, choose `spark` in the parameter *List the tables by*: then one job analyses the
whole database. Airflow's `HiveMetastoreHook` supports Kerberos only with libraries that are not installed with it.

**Limits of the listing:**

- `HiveMetastoreHook` reads the definitions of all tables of the database into the worker. It has no time limit, so the
  task has one.
- `metastore_default` may name several hosts with one port; the first one that is reachable is used.
- Partitions are not listed here, because the hook's `get_partitions` stops at 32,767 without a message. The analysis
  lists them in Spark.
- Airflow maps over at most `[core] max_map_length` tables, 1,024 by default. For more tables, split the database with
  the parameter `tables`, or list by `spark`.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import Any

from airflow.providers.common.compat.sdk import AirflowFailException, AirflowSkipException, Param, dag, task

from lakekeeper_provider.compat import has_failed, was_skipped
from lakekeeper_provider.events import night, notify
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RecordCompactionOperator, RollbackOperator
from lakekeeper_provider.sensors.maintenance_window import MaintenanceWindowSensor

#: The database that is maintained, and the name of this DAG: one copy of this file for each database.
DATABASE: str | None = None
DAG_ID = "lakekeeper_maintenance"
#: When a run begins (UTC), and the window in which it may compact. It must begin before the window opens.
SCHEDULE = "0 21 * * *"
OPENS, CLOSES, TIMEZONE = "22:00", "05:00", "UTC"
#: `metastore` or `spark`; see below. With Kerberos: `spark`.
LISTING = "metastore"
#: A lakekeeper.yaml on the workers.
CONFIG_PATH: str | None = None
#: Who is told in the morning, if a person can do something: any notifier of Airflow, such as SmtpNotifier, whose
#: templates find `{{ lakekeeper.subject }}` and `{{ lakekeeper.text }}`.
NOTIFY: Any = None
#: Also tell if the originals of the tables take more than this, such as "10tb".
HELD_OVER: str | None = None
HELD_LIMIT = notify.limit(HELD_OVER)
POOL = os.environ.get("LAKEKEEPER_POOL", "default_pool")
CONFIG_FILE = "{{ params.config_file }}"
WINDOW = {
    "start": "{{ '00:00' if params.run_now else params.window_start }}",
    "end": "{{ '24:00' if params.run_now else params.window_end }}",
    "timezone": "{{ params.timezone }}",
}
PARAMS = {
    "database": Param(
        DATABASE,
        type=["null", "string"],
        title="Database",
        description="Its external tables are analysed. Required, unless tables are named below.",
    ),
    "tables": Param(
        None,
        type=["null", "array"],
        items={"type": "string", "pattern": r"^[^.\s]+\.[^.\s]+$"},
        title="Only these tables",
        description="One database.table a line, instead of a whole database.",
    ),
    "listing": Param(
        LISTING,
        type="string",
        enum=["metastore", "spark"],
        title="List the tables by",
        description="metastore: by the connection metastore_default, and an analysis for each table."
        " spark: one analysis of the whole database, which needs no such connection.",
    ),
    "run_now": Param(
        False,
        type="boolean",
        title="Run now",
        description="Do not wait for the window, and do not stop at its end.",
    ),
    "window_start": Param(
        OPENS, type="string", title="Opens at", pattern=r"^\d\d?:\d\d$", section="Maintenance window"
    ),
    "window_end": Param(
        CLOSES,
        type="string",
        title="Closes at",
        description="No swap is made, and no procedure of another format begun, after this time.",
        pattern=r"^\d\d?:\d\d$",
        section="Maintenance window",
    ),
    "timezone": Param(
        TIMEZONE,
        type="string",
        title="Time zone",
        examples=["UTC", "Europe/Paris"],
        section="Maintenance window",
    ),
    "config_file": Param(
        CONFIG_PATH,
        type=["null", "string"],
        title="Configuration file",
        description="A lakekeeper.yaml on the workers; lakekeeper generate-config writes one.",
        section="Spark",
    ),
}


@task(execution_timeout=timedelta(minutes=10))
def list_tables(params: dict[str, Any] | None = None) -> list[dict[str, str]]:
    """List the tables to analyse. The analysis then skips those that cannot be compacted safely."""
    from airflow.providers.apache.hive.hooks.hive import HiveMetastoreHook

    settings = params or {}
    if settings["tables"]:
        return [{"table": name} for name in settings["tables"]]
    if not settings["database"]:
        raise AirflowFailException(
            "no database: set DATABASE in the file of this DAG, or the parameter 'database' when you trigger it"
        )
    if settings["listing"] == "spark":
        return [{"database": settings["database"]}]
    hook, database = HiveMetastoreHook(metastore_conn_id="metastore_default"), settings["database"]
    try:
        known = hook.get_databases(database)
    except Exception as error:
        hint = "if it requires Kerberos, set the parameter 'listing' to 'spark'"
        raise RuntimeError(f"metastore_default does not answer ({error}); {hint}") from error
    # The metastore lists no tables for a database that does not exist: a wrong name must not look like success.
    if database.lower() not in known:
        raise ValueError(f"the metastore has no database '{database}'")
    found = hook.get_tables(database)
    names = sorted(f"{table.dbName}.{table.tableName}" for table in found if _may_be_compacted(table))
    return [{"table": name} for name in names]


def _may_be_compacted(table: Any) -> bool:
    """Return whether a table is worth an analysis: an external one, or one of Paimon or Iceberg; no backup."""
    properties = table.parameters or {}
    handler = properties.get("storage_handler", "").lower()
    listed = table.tableType == "EXTERNAL_TABLE" or "paimon" in handler or "iceberg" in handler
    return listed and "lakekeeper.run_id" not in properties


@dag(
    dag_id=DAG_ID,
    schedule=SCHEDULE if DATABASE else None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # One that waits for its window does not hold up one that is triggered with *Run now*.
    max_active_runs=2,
    params=PARAMS,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=5)},
    doc_md=__doc__,
    tags=["lakekeeper", "maintenance"],
)
def lakekeeper_maintenance() -> None:
    wait_for_window = MaintenanceWindowSensor(
        task_id="wait_for_window",
        window=WINDOW,
        config_file=CONFIG_FILE,
        timeout=timedelta(hours=23),
        # Longer than from the schedule to the opening of the window, and not longer than to its end.
        skip_after=timedelta(hours=8),
    )

    tables = list_tables()
    analyze = AnalyzeOperator.partial(
        task_id="analyze",
        config_file=CONFIG_FILE,
        on_refused="skip",
        pool=POOL,
        map_index_template="{{ task.table or task.database }}",
    ).expand_kwargs(tables)

    # all_done: if one table cannot be analysed, the others are compacted nevertheless.
    @task(trigger_rule="all_done")
    def only_flagged(analyses: Any, **context: Any) -> list[dict[str, Any]]:
        """Return the flagged tables, one in each analysis: deferred ones first, then those with the highest score."""
        from lakekeeper_provider.operators.chunks import by_table

        if was_skipped(context, "wait_for_window"):
            raise AirflowSkipException("this run came too late")
        tables = by_table(analyses, ti=context["ti"])
        return [found for found in tables if found["tables"][0]["outcome"] == "done"]

    flagged = only_flagged(analyze.output)
    compact = CompactOperator.partial(
        task_id="compact",
        config_file=CONFIG_FILE,
        window=WINDOW,
        on_closed="skip",
        pool=POOL,
        map_index_template="{{ task.analysis['tables'][0]['table'] }}",
    ).expand(analysis=flagged)

    @task(trigger_rule="all_done")
    def summary(analyses: Any, compactions: Any, **context: Any) -> dict[str, Any]:
        """Say what was compacted, and what was not and why. It fails with the others, so that the DAG run is red."""
        from lakekeeper_provider.report.overview import Overview

        if was_skipped(context, "wait_for_window"):
            raise AirflowSkipException("this run came too late")
        params, names = context["params"], ("list_tables", "analyze", "only_flagged", "compact")
        failed = [name for name in names if has_failed(context, name)]
        # A night of the whole database, in its window, of which all analyses are known.
        whole = DATABASE is not None and params["database"] == DATABASE and not params["tables"]
        counts = whole and not params["run_now"] and not {"list_tables", "analyze"} & set(failed)
        overview = Overview.of(analyses, compactions)
        figures = night.conclude(overview, context, NOTIFY, HELD_LIMIT, counts=counts, failed=failed)
        if failed:
            raise AirflowFailException(f"{', '.join(failed)} failed; {figures['summary']}")
        return figures

    record = RecordCompactionOperator(task_id="record", compaction=compact.output, by_table=True)
    rollback = RollbackOperator.partial(
        task_id="rollback",
        only_when_cleared=True,
        config_file=CONFIG_FILE,
        pool=POOL,
        map_index_template="{{ task.compaction['name'] }}",
    ).expand(compaction=record.output)
    wait_for_window >> tables
    summary(analyze.output, compact.output)
    record >> rollback


lakekeeper_maintenance()

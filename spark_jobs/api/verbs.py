"""The functions of the API, one for each verb."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spark_jobs.api.calls import call
from spark_jobs.core.options.calls import invocation
from spark_jobs.core.wire.report import Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Tables = Sequence[str]


def analyze(
    spark: SparkSession,
    *,
    table: str | None = None,
    tables: Tables | None = None,
    database: str | None = None,
    config_file: str | None = None,
    **options: Any,
) -> Report:
    """Find tables and partitions that are full of small files. Changes nothing.

    Args:
        spark: a session with Hive support; it stays as it is.
        table: `db.table`. Exactly one of `table`, `tables` and `database` is given.
        tables: several of them.
        database: all tables of a database.
        config_file: path or URI of a YAML or JSON file.
        options: those of the command `analyze`, by their names in the YAML file.

    Returns:
        The report: `report.tables[i].units[j]` has `unit` (the partition values), `outcome` (`flagged`, `healthy`,
        `skipped`), `files`, `bytes` and `target_files` (both before a compaction), and `score`.

    Raises:
        UsageError: (a ValueError) an argument is wrong.
        JobFailed: (a RuntimeError) a table failed, or was refused although it was named; it has the report.
    """
    line = invocation("analyze", table, tables, database, options, config_file=config_file)
    return call(spark, line)


def plan(
    spark: SparkSession,
    *,
    table: str | None = None,
    tables: Tables | None = None,
    database: str | None = None,
    config_file: str | None = None,
    **options: Any,
) -> Report:
    """List what a compaction would do, in its order and within its limits. Changes nothing.

    It takes the arguments of `analyze` and raises its errors; the options belong to the command `plan`.

    Returns:
        The report: the tables and their units in the order of their compaction. Units have `outcome` (`flagged`,
        `deferred` where a limit leaves them out), `files`, `bytes`, `engine`, `strategy`, and `estimated_seconds` where
        the table was compacted before. `compact(plan=report)` does exactly that; `report.to_json()` is what to keep.
    """
    line = invocation("plan", table, tables, database, options, config_file=config_file)
    return call(spark, line)


def compact(
    spark: SparkSession,
    *,
    table: str | None = None,
    tables: Tables | None = None,
    database: str | None = None,
    plan: Report | str | None = None,
    run_id: str | None = None,
    config_file: str | None = None,
    **options: Any,
) -> Report:
    """Rewrite the small files of tables, and keep the originals for a rollback.

    Args:
        table: as in `analyze`. Exactly one of `table`, `tables`, `database` and `plan` is given.
        tables: as in `analyze`.
        database: as in `analyze`.
        plan: what `plan` has returned, or the path or URI of its JSON.
        run_id: a name of 1 to 64 letters, digits, `_` and `-`, to which a rollback can refer. A call with the run id of
            a run that was interrupted goes on with it. By default it is made up.
        options: those of the command `compact`, by their names in the YAML file.

    Returns:
        The report: `report.run_id`, and of each unit `files` and `bytes` before, `files_after`, `bytes_after`, `rows`
        and `seconds`. Units that were `changed` by a writer or `deferred` are no failure.

    Raises:
        UsageError: (a ValueError) an argument is wrong; nothing was changed.
        JobFailed: (a RuntimeError) a unit or a table failed, was busy, or was refused although it was named. What was
            swapped before stays, unless `on_failure="undo"`.
    """
    planned = json.dumps(plan.to_json()) if isinstance(plan, Report) else plan
    line = invocation(
        "compact", table, tables, database, options, plan=planned, run_id=run_id, config_file=config_file
    )
    return call(spark, line)


def rollback(
    spark: SparkSession,
    *,
    table: str | None = None,
    tables: Tables | None = None,
    database: str | None = None,
    run_id: str | None = None,
    config_file: str | None = None,
    **options: Any,
) -> Report:
    """Put the originals of a compaction back.

    Args:
        run_id: the run to roll back; by default the newest of each table.
        options: those of the command `rollback`. The other arguments and errors are those of `compact`.

    Returns:
        The report: of each unit `outcome` (`restored`), and the `files` and `bytes` that are live again.
    """
    line = invocation("rollback", table, tables, database, options, run_id=run_id, config_file=config_file)
    return call(spark, line)


def cleanup(
    spark: SparkSession,
    *,
    table: str | None = None,
    tables: Tables | None = None,
    database: str | None = None,
    location: str | None = None,
    writers: str | None = None,
    config_file: str | None = None,
    **options: Any,
) -> Report:
    """Delete kept originals, after which their runs cannot be rolled back.

    Args:
        location: instead of tables: the location that a dropped table had.
        writers: with `location`, what writers did (`append` or `overwrite`).
        options: those of the command `cleanup`, such as `older_than="7d"` and `keep_last=1`. The other arguments and
            errors are those of `compact`.

    Returns:
        The report: of each table `freed_bytes` and `trashed_bytes`, and its units with `outcome` (`cleaned`).
    """
    line = invocation(
        "cleanup",
        table,
        tables,
        database,
        options,
        location=location,
        writers=writers,
        config_file=config_file,
    )
    return call(spark, line)


def history(
    spark: SparkSession,
    *,
    table: str | None = None,
    tables: Tables | None = None,
    database: str | None = None,
    limit: int | None = None,
    units: bool = False,
    snapshots: bool = False,
    config_file: str | None = None,
    **options: Any,
) -> Report:
    """Return what was done to tables. Writes nothing.

    Args:
        limit: only the newest rows of each table.
        units: also what was done to each partition.
        snapshots: also the snapshots of the commit log, as `report.tables[i].snapshots`.

    Returns:
        The report: `report.tables[i].history` is a list of rows, newest first (docs/wire.md, "History").
    """
    line = invocation(
        "history",
        table,
        tables,
        database,
        options,
        limit=limit,
        units=units,
        snapshots=snapshots,
        config_file=config_file,
    )
    return call(spark, line)


def check(
    spark: SparkSession,
    *,
    table: str | None = None,
    tables: Tables | None = None,
    database: str | None = None,
    location: str | None = None,
    read_data: bool = False,
    config_file: str | None = None,
    **options: Any,
) -> Report:
    """Compare journals, originals, rewritten files and backup tables. Writes nothing.

    Args:
        read_data: compare the rows of originals and rewritten files too; reads all of both.

    Returns:
        The report: `report.tables[i].findings`, each with `severity`, `code`, `message` and `command`; none is damage.

    Raises:
        JobFailed: (a RuntimeError) there is damage: `error.report.tables[i].findings` names it.
    """
    line = invocation(
        "check",
        table,
        tables,
        database,
        options,
        location=location,
        read_data=read_data,
        config_file=config_file,
    )
    return call(spark, line)


def forget(
    spark: SparkSession,
    *,
    run_id: str,
    table: str | None = None,
    tables: Tables | None = None,
    database: str | None = None,
    location: str | None = None,
    yes: bool = False,
    config_file: str | None = None,
    **options: Any,
) -> Report:
    """End the record of originals that somebody deleted or changed. Deletes nothing.

    Args:
        run_id: the run whose damaged originals are forgotten.
        yes: do it; without it the report says what would be done.

    Returns:
        The report: the units that were or would be forgotten.
    """
    line = invocation(
        "forget",
        table,
        tables,
        database,
        options,
        location=location,
        run_id=run_id,
        yes=yes,
        config_file=config_file,
    )
    return call(spark, line)

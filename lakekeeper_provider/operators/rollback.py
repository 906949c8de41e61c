"""Undo a compaction, immediately or when the task is cleared."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from lakekeeper_provider.compat import (
    AirflowFailException,
    AirflowSkipException,
    BaseOperator,
    Context,
    has_failed,
)
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch import request
from lakekeeper_provider.operators import xcom
from lakekeeper_provider.operators.report_arguments import ReportArguments
from lakekeeper_provider.operators.writing import SwappingOperator
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import documented
from lakekeeper_provider.options.option import COMPACT, ROLLBACK
from lakekeeper_provider.options.parsers import given
from lakekeeper_provider.options.selection import Selection, check_source
from lakekeeper_provider.report.report import Report, was_dry_run
from lakekeeper_provider.submission.submission import Submission

RECORD = "record"
_NEEDS_RECORD = "only_when_cleared needs compaction=record.output, with record a RecordCompactionOperator"
_NEEDS_MAPPING = "a record by table needs a rollback for each table: .expand(compaction=record.output)"
_SHOWN = 20
_KEYS = ("dry_run", "on_new_data", "parallelism", "max_calls_per_second")


class RecordCompactionOperator(ReportArguments, BaseOperator):
    """Record in which pass of the DAG run a compaction ended; a task between ``compact`` and ``rollback``.

    Clearing the compaction, or a task before it, clears this task too; clearing the rollback alone does not.
    ``RollbackOperator(only_when_cleared=True)`` uses that to distinguish the two. The task runs whether the
    compaction succeeded or failed.

    Args:
        compaction: the output of a ``CompactOperator``, mapped or not
        by_table: return a list with a record for each table, for a rollback that is mapped over it: then the tables
            of one DAG run can be undone one by one, by clearing one task of the mapped rollback
    """

    template_fields: Sequence[str] = ("compaction",)
    ui_color = "#eef1e6"

    def __init__(
        self, *, compaction: Any, by_table: bool = False, trigger_rule: str = "all_done", **kwargs: Any
    ) -> None:
        super().__init__(trigger_rule=trigger_rule, **kwargs)
        self.compaction = compaction
        self.by_table = by_table

    def execute(self, context: Context) -> dict[str, Any] | list[dict[str, Any]]:
        """Return the runs of the compaction, the pass of the DAG run, and failed tasks that nothing else reports."""
        record = self._record(context)
        return _by_table(record) if self.by_table else record

    def _record(self, context: Context) -> dict[str, Any]:
        # A compaction that was skipped, or has failed at once, has pushed nothing: there is nothing to undo.
        tables = xcom.entries("compaction", self.compaction, COMPACT, required=False)
        return {
            "schema_version": 1,
            "verb": RECORD,
            "pass": xcom.current_pass(context),
            "compactions": [_brief(entry) for entry in tables],
            "failed": [task for task in sorted(self.upstream_task_ids) if self._hides_failure(task, context)],
        }

    def _hides_failure(self, task_id: str, context: Context) -> bool:
        """Return whether a task failed and this one is its only downstream task.

        The last tasks decide the state of a DAG run: a skipped rollback would make the run a success.
        """
        alone = self.dag.get_task(task_id).downstream_task_ids == {self.task_id}
        return alone and has_failed(context, task_id)


def _brief(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what rollback needs of a summary; a refused table has no run."""
    tables = [
        {
            "table": t["table"],
            "outcome": t["outcome"],
            **{f"files_{when}": (t.get(when) or {}).get("files") for when in ("before", "after")},
        }
        for t in entry["tables"]
        if t["outcome"] != "refused"
    ]
    keep = {key: entry.get(key) for key in ("schema_version", "verb", "run_id", "database")}
    return {**keep, "tables": tables, "unnamed": _is_unnamed(entry)}


def _by_table(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the record as one for each table; those of a database whose tables are not known stay together.

    There is at least one, even without any table: a rollback that is mapped over none could not report failed tasks.
    """
    runs: dict[str, list[dict[str, Any]]] = {}
    for entry in record["compactions"]:
        for table in entry["tables"]:
            runs.setdefault(table["table"], []).append({**entry, "tables": [table]})
        if _is_unnamed(entry):
            runs.setdefault(entry["database"], []).append(entry)
    return [{**record, "name": name, "compactions": entries} for name, entries in sorted(runs.items())] or [
        {**record, "name": "no table"}
    ]


@documented
class RollbackOperator(SwappingOperator):
    """Restore the original files of a compaction; succeeds without doing anything if they are already restored.

    Immediately: ``RollbackOperator(table="sales.events")`` undoes the newest run, or the one that ``run_id``
    names.

    From the UI: ``RollbackOperator(compaction=record.output, only_when_cleared=True)``, where ``record`` is a
    ``RecordCompactionOperator``. The task is skipped in a regular DAG run; it fails if the compaction failed
    and no other task follows it, because the DAG run would be a success otherwise. Clear this task alone, after
    the DAG run has finished, to undo the compaction of that DAG run. Clear the compaction to compact again; the
    rollback is then skipped again. A retry never undoes anything. Mapped over the output of a
    ``RecordCompactionOperator(by_table=True)``, it has one task for each table, and clearing one of them undoes that
    table alone. See ``SwappingOperator``, ``WritingOperator`` and
    ``LakekeeperOperator`` for the other arguments.

    Args:
        compaction: the output of a ``RecordCompactionOperator`` or of a ``CompactOperator``: exactly its
            runs are undone
        run_id: the run to undo
        only_when_cleared: skip unless this task was cleared alone; requires the output of a
            ``RecordCompactionOperator``

    Raises:
        UsageError: ``compaction`` and tables are both given or both missing, or ``only_when_cleared`` is given
            without a record
    """

    verb = ROLLBACK
    option_keys: ClassVar[tuple[str, ...]] = (*SwappingOperator.option_keys, *_KEYS)
    template_fields: Sequence[str] = (*SwappingOperator.template_fields, *_KEYS, "compaction", "run_id")

    def __init__(
        self,
        *,
        compaction: Any = None,
        run_id: str | None = None,
        only_when_cleared: bool = False,
        dry_run: bool | str | None = None,
        on_new_data: str | None = None,
        parallelism: int | str | None = None,
        max_calls_per_second: int | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._from_compaction = check_source("compaction", compaction, self.table, self.tables, self.database)
        if only_when_cleared and (compaction is None or _comes_from_another(compaction)):
            raise UsageError(_NEEDS_RECORD)
        self.compaction = compaction
        self.run_id = run_id
        self.only_when_cleared = only_when_cleared
        self.dry_run = dry_run  # type: ignore[assignment, method-assign]  # the option has the name of a method
        self.on_new_data = on_new_data
        self.parallelism = parallelism
        self.max_calls_per_second = max_calls_per_second

    def run_job(self, context: Context) -> Any:
        """Skip before the window is checked: a rollback that was not requested must not wait for the window."""
        if self.only_when_cleared:
            self._skip_unless_cleared(context)
        return super().run_job(context)

    def _skip_unless_cleared(self, context: Context) -> None:
        record = given(self.compaction)
        if record is None:
            raise AirflowSkipException("no compaction was recorded in this DAG run: there is nothing to undo")
        if not _is_record(record):
            by_table = isinstance(record, Sequence) and any(map(_is_record, record))
            raise AirflowFailException(_NEEDS_MAPPING if by_table else _NEEDS_RECORD)
        if record["pass"] is None or record["pass"] == xcom.current_pass(context):
            how = "after this DAG run has finished, clear this task alone to undo its compaction"
            if record.get("failed"):
                raise AirflowFailException(
                    f"{', '.join(record['failed'])} failed; {how}, which may be incomplete"
                )
            # Airflow 3 shows the reason of a skip only below the log, in a part that is folded.
            self.log.info("Skipped. %s: %s", how[0].upper() + how[1:], _would_undo(record))
            raise AirflowSkipException(f"not cleared alone: {how}")
        if context["ti"].try_number < 2:
            raise AirflowSkipException(
                "this task runs for the first time in this DAG run; clear it once more to undo the compaction"
            )

    def told(self, settings: Config) -> dict[str, Any]:
        """Return what the events say of this job: it looks at the partitions that it restores."""
        return {"whole": False}

    def skips(self, report: Report) -> bool:
        """Skip after a dry run: a green rollback has restored something, or there was nothing to restore."""
        return was_dry_run(report)

    def prepare(
        self, settings: Config, deadline: str | None, context: Context
    ) -> Submission | dict[str, Any]:
        """Return the submission for the runs to undo, or the result if there are none."""
        arguments = self.arguments()
        if not self._from_compaction:
            return Submission(
                self.selection(), request.build_request(settings, arguments), {}, given(self.run_id)
            )
        entries = self._compactions()
        runs, unnamed = _runs(entries), _unnamed(entries)
        if len(unnamed) > 1 or (runs and unnamed):
            raise AirflowFailException(_separately(unnamed))
        if runs:
            selection = Selection(tables=tuple(sorted(runs)))
            return Submission(selection, request.build_request(settings, arguments, runs=runs), {})
        for database, run_ids in unnamed.items():
            selection = Selection(database=database)
            built = request.build_request(settings, arguments, runs={request.EVERY_TABLE: run_ids})
            return Submission(selection, built, {})
        self.log.info("The compaction worked on no table: there is nothing to undo.")
        return {"schema_version": 1, "verb": ROLLBACK, "outcome": "nothing", "tables": []}

    def _compactions(self) -> list[Mapping[str, Any]]:
        value = self.compaction
        if _is_record(value):
            value = value["compactions"]
        return xcom.entries("compaction", value, COMPACT)


def _would_undo(record: Mapping[str, Any]) -> str:
    """Return which runs of which tables a rollback would undo, and how many files would come back."""
    tables = [
        (entry["run_id"], table)
        for entry in record["compactions"]
        for table in entry["tables"]
        if table.get("outcome") != "nothing"
    ]
    texts = [f"{table['table']}{_files(table)} of run {run_id}" for run_id, table in tables[:_SHOWN]]
    more = [f"{len(tables) - _SHOWN} more tables"] if len(tables) > _SHOWN else []
    return ", ".join([*texts, *more]) or "nothing was compacted"


def _files(table: Mapping[str, Any]) -> str:
    before, after = table.get("files_before"), table.get("files_after")
    return f" ({after} -> {before} files)" if before and after else ""


def _is_record(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("verb") == RECORD


def _unnamed(entries: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the run ids of the compactions of a database that ended before they named its tables, by database."""
    runs: dict[str, list[str]] = {}
    for entry in entries:
        if _is_unnamed(entry):
            runs.setdefault(entry["database"], []).append(entry["run_id"])
    return runs


def _is_unnamed(entry: Mapping[str, Any]) -> bool:
    """Tell whether a compaction may have worked on tables that its summary, or its record, does not name."""
    unnamed = entry.get("unnamed", not entry["tables"] and entry.get("outcome") != "nothing")
    return bool(entry.get("database")) and bool(unnamed)


def _separately(unnamed: Mapping[str, Sequence[str]]) -> str:
    # guard: words_of_commands
    commands = [
        shlex.join(["lakekeeper", "rollback", "--database", database, "--run-id", run_id])
        for database, run_ids in unnamed.items()
        for run_id in run_ids
    ]
    return (
        f"the compactions of {', '.join(unnamed)} ended before they named their tables, and one task can undo one"
        " database, or tables, but not both: map the rollback over RecordCompactionOperator(by_table=True), or run"
        f" {'; '.join(commands)}"
    )


def _comes_from_another(compaction: Any) -> bool:
    """Return whether this is the output of another task than a record.

    A DAG is parsed before there is any output, so only the operator of an XComArg can be checked.
    """
    source = getattr(compaction, "operator", None)
    kind = getattr(source, "operator_class", type(source))
    return source is not None and isinstance(kind, type) and not issubclass(kind, RecordCompactionOperator)


def _runs(entries: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the run ids to undo by table."""
    runs: dict[str, list[str]] = {}
    for entry in entries:
        for table in entry["tables"]:
            if table.get("outcome") != "refused" and entry["run_id"] not in runs.get(table["table"], []):
                runs.setdefault(table["table"], []).append(entry["run_id"])
    return runs

"""Compact the flagged units of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from lakekeeper_provider.compat import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
    Context,
    utcnow,
)
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch import request
from lakekeeper_provider.operators import xcom
from lakekeeper_provider.operators.analyze import PlanningOperator
from lakekeeper_provider.operators.base import instant
from lakekeeper_provider.operators.writing import WRITING_KEYS, SwappingOperator
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import documented
from lakekeeper_provider.options.option import COMPACT
from lakekeeper_provider.options.selection import Selection, check_source
from lakekeeper_provider.submission.submission import Submission

MAX_TABLES = 200  # their names and run ids still fit into an XCom
_KEYS = (
    *("dry_run", "sort_columns", "engine", "analyze_after_compaction", "file_stats", "parallelism", "verify"),
    *("on_failure", "attributes", "quota_folders"),
    *("order", "max_bytes", "max_files", "max_units", "max_held_bytes", "canary", "max_failures"),
)


@documented
class CompactOperator(PlanningOperator, SwappingOperator):
    """Rewrite small files of Hive external tables and swap them in by rename; the originals are kept.

    The task is skipped if nothing is flagged. A retry resumes the run of the previous try; a cleared task starts
    another run. No swap is made after the end of ``window``; a retry while it is closed only ends what an earlier try
    has begun, and then waits, skips or fails, as ``on_closed`` says. See ``PlanningOperator``, ``SwappingOperator``,
    ``WritingOperator`` and ``LakekeeperOperator`` for the other arguments.

    Args:
        analysis: the output of an ``AnalyzeOperator``, or a list of such outputs: exactly the units that they
            flag are compacted, and the tables with deferred units, then those with the highest score, come first; of
            ``idle_for`` and the ``trigger`` conditions only ``idle_for`` is judged again. Or the report of
            ``lakekeeper plan --json``: exactly its units, in its order. Without it, ``table``, ``tables`` or
            ``database`` is required, and the job analyses first
    """

    verb = COMPACT
    skips_on_nothing = True
    option_keys: ClassVar[tuple[str, ...]] = (*PlanningOperator.option_keys, *WRITING_KEYS, *_KEYS)
    template_fields: Sequence[str] = (
        *PlanningOperator.template_fields,
        *WRITING_KEYS,
        *_KEYS,
        "analysis",
        "refresh",
    )

    def __init__(
        self,
        *,
        analysis: Mapping[str, Any] | Iterable[Mapping[str, Any]] | str | None = None,
        dry_run: bool | str | None = None,
        sort_columns: Sequence[str] | str | None = None,
        engine: str | None = None,
        analyze_after_compaction: bool | str | None = None,
        file_stats: bool | str | None = None,
        parallelism: int | str | None = None,
        verify: str | None = None,
        on_failure: str | None = None,
        attributes: str | None = None,
        quota_folders: Sequence[str] | str | None = None,
        order: str | None = None,
        max_bytes: str | None = None,
        max_files: int | str | None = None,
        max_units: int | str | None = None,
        max_held_bytes: str | None = None,
        canary: int | str | None = None,
        max_failures: int | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._from_analysis = check_source("analysis", analysis, self.table, self.tables, self.database)
        self.analysis = analysis
        self.dry_run = dry_run  # type: ignore[assignment, method-assign]  # the option has the name of a method
        self.sort_columns = sort_columns
        self.engine = engine
        self.analyze_after_compaction = analyze_after_compaction
        self.file_stats = file_stats
        self.parallelism = parallelism
        self.verify = verify
        self.on_failure = on_failure
        self.attributes = attributes
        self.quota_folders = quota_folders
        self.order = order
        self.max_bytes = max_bytes
        self.max_files = max_files
        self.max_units = max_units
        self.max_held_bytes = max_held_bytes
        self.canary = canary
        self.max_failures = max_failures

    def prepare(self, settings: Config, deadline: str | None, context: Context) -> Submission:
        """Return the submission for the flagged units.

        Raises:
            AirflowSkipException: there are none
        """
        analyses = xcom.analyses(self.analysis) if self._from_analysis else []
        units = xcom.flagged_units(analyses, context["ti"]) if self._from_analysis else None
        selection = self._all_tables(analyses) if self._from_analysis else self.selection()
        run_id = self._run_id(selection, analyses, context)
        planned = xcom.fingerprints(analyses, units)
        built = request.build_request(
            request.as_planned(settings, xcom.planned_options(analyses)),
            self._ordered_arguments(analyses),
            units=units,
            fingerprints=planned,
        )
        begun = _begun(selection, run_id)
        if units is not None and not units:
            self.push({**begun, "outcome": "nothing"}, context)
            raise AirflowSkipException("the analysis flagged nothing: there is nothing to compact")
        # Pushed before the submission: if this process dies, rollback still knows which run to undo.
        self.push(begun, context)
        chosen = selection if units is None else Selection(tables=tuple(units))
        return Submission(chosen, built, {"deadline": deadline} if deadline else {}, run_id)

    def before_closed_window(self, settings: Config, context: Context) -> None:
        """Let a retry bring back what an earlier try, which was killed in a swap, has left missing.

        It must not be missing until the window opens. The deadline of this job has passed: it begins nothing.
        """
        if context["ti"].try_number <= 1:
            return
        submission = self.prepare(settings, instant(utcnow()), context)
        self.log.info(
            "an earlier try may have been killed in a swap: a job ends what it has begun, and begins nothing"
        )
        try:
            ended = self.submit(submission, settings, context)
            report = self.follow_up(ended.report, ended.uri, context)
            self.show(report)
            if report.outcome == "unsafe":
                raise AirflowFailException(f"{report.error or 'a unit'} needs a person: see the log")
        except AirflowFailException:
            raise
        except AirflowException as error:
            if self.is_killed:
                raise
            self.log.warning("the job failed, and the next one tries again when the window opens: %s", error)

    def told(self, settings: Config) -> dict[str, Any]:
        """Return what the events say of this job: one by an analysis looks at the flagged partitions only."""
        return {"whole": False} if self._from_analysis else super().told(settings)

    def _all_tables(self, analyses: Iterable[Mapping[str, Any]]) -> Selection:
        # Flagged or not, so that a retry that finds less to do has the same run id.
        return Selection(tables=tuple(sorted({t["table"] for entry in analyses for t in entry["tables"]})))

    def _ordered_arguments(self, analyses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the arguments; the units of a plan stay in its order, unless another one is given."""
        planned = {"order": "none"} if analyses and xcom.are_planned(analyses) else {}
        return {**planned, **self.arguments()}

    def _run_id(self, selection: Selection, analyses: Iterable[Mapping[str, Any]], context: Context) -> str:
        # Several tasks of one operator may compact different units of a table, each in a run that is undone as one.
        parts = sorted({entry["part"] for entry in analyses if "part" in entry})
        parts += filter(None, [request.part_of(self.arguments())])
        # A task that is not mapped is the only one of its operator. Where it takes the tables from a list of analyses,
        # a try may find fewer of them, and must resume the run of the try before.
        mapped = context["ti"].map_index not in (None, -1)
        named = Selection() if self._from_analysis and not mapped else selection
        return request.run_id_of(self.dag_id, context["dag_run"].run_id, self.task_id, named, parts)

    def result(self, summary: dict[str, Any], submission: Submission) -> dict[str, Any]:
        """Return the summary with the run id, which is needed also if the report lacks tables.

        A summary that is too long has no tables left. A rollback needs their names: those that were asked for are put
        back.
        """
        begun = _begun(submission.selection, str(submission.run_id))
        tables = summary["tables"] or begun["tables"]
        return {**summary, "run_id": begun["run_id"], "database": begun["database"], "tables": tables}


def _begun(selection: Selection, run_id: str) -> dict[str, Any]:
    """Return the summary of a run that has no report yet.

    Raises:
        UsageError: more tables than fit into an XCom
    """
    if len(selection.tables) > MAX_TABLES:
        raise UsageError(
            f"{len(selection.tables)} tables are more than the {MAX_TABLES} of one task: map the operator over them"
        )
    return {
        "schema_version": 1,
        "verb": COMPACT,
        "run_id": run_id,
        "outcome": "unknown",
        "started": None,
        "ended": None,
        "report": None,
        "database": selection.database,
        "tables": [{"table": t, "outcome": "unknown", "run_id": run_id} for t in selection.tables],
    }

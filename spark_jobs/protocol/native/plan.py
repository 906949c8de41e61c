"""The plan of a native table: which units have small files, by the sizes that the format's own metadata has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.selection import PartitionSpec
from spark_jobs.core.planning.ordering import ordered
from spark_jobs.core.planning.plan import all_not_found, not_found
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.held import Held
from spark_jobs.core.rules.due import Judge, LogFigures
from spark_jobs.core.values.file_times import millis_of
from spark_jobs.core.values.model import Spec, Unit
from spark_jobs.core.wire.report import TableReport, UnitReport
from spark_jobs.protocol.native.runs import NativeHistory
from spark_jobs.protocol.native.session import NativeSession
from spark_jobs.protocol.native.units import by_unit, plan_of
from spark_jobs.protocol.native_ports import DataFile
from spark_jobs.protocol.planning.chosen_units import WantedUnits, choose
from spark_jobs.protocol.planning.due_units import candidate_of, judged


@dataclass(frozen=True)
class NativePlan:
    """The plan of one native table.

    Attributes:
        gone: the partitions that were named and are not there.
        held: what its runs keep for a rollback.
    """

    session: NativeSession
    units: tuple[UnitPlan, ...]
    gone: tuple[PartitionSpec, ...] = ()
    held: Held = field(default_factory=Held)

    @property
    def warnings(self) -> list[str]:
        gone = [WarningCode.PARTITION_NOT_FOUND.text(all_not_found(self.gone))] if self.gone else []
        return [*gone, *self.session.notes]

    def report(self) -> TableReport:
        """Return the table's part of the report, with a part for each unit."""
        return report_of(self.session, [*(unit.report() for unit in self.units), *self.missing()], self)

    def missing(self) -> list[UnitReport]:
        """Return the reports of the partitions that are not there."""
        code = WarningCode.PARTITION_NOT_FOUND.name
        return [UnitReport.of(s, UnitOutcome.GONE, code=code, reason=not_found(s)) for s in self.gone]


def report_of(
    session: NativeSession, units: Sequence[UnitReport], plan: NativePlan | None = None
) -> TableReport:
    """Return the report of a native table with these units."""
    facts = session.facts
    return TableReport(
        table=facts.name,
        format=session.format,
        location=facts.storage.location,
        partition_types=facts.key_types or None,
        units=units,
        warnings=plan.warnings if plan else list(session.notes),
        **(plan.held.report() if plan else {}),
    )


def plan_table(session: NativeSession, wanted: WantedUnits | None, history: NativeHistory) -> NativePlan:
    """Plan a native table. Nothing is changed."""
    with session.services.phases.during("list"):
        files = by_unit(session.table.files())
        every = [Unit(spec, "") for spec in files or {(): []}]
        chosen, gone = choose(session.services.metastore, session.facts, session.options, every, wanted)
        thresholds = session.thresholds
        plans = [plan_of(unit.spec, files.get(unit.spec, []), thresholds) for unit in chosen]
        due = _due(session, plans, files, history, selected=wanted is not None)
        return NativePlan(
            session, tuple(ordered(due, session.options.order)), tuple(gone), session.held(history)
        )


def _due(
    session: NativeSession,
    plans: Sequence[UnitPlan],
    files: dict[Spec, list[DataFile]],
    history: NativeHistory,
    *,
    selected: bool,
) -> list[UnitPlan]:
    """Return the plans; units that the conditions of the options find not due are left alone."""
    conditions, now = session.options.conditions(), session.services.now()
    if selected:
        conditions = type(conditions)(conditions.idle_for)
    candidates = [found for plan in plans if (found := candidate_of(plan, now))]
    judge = Judge.of(conditions, candidates, _log(plans, files, history), now)
    return [judged(plan, judge) for plan in plans]


def _log(plans: Sequence[UnitPlan], files: dict[Spec, list[DataFile]], history: NativeHistory) -> LogFigures:
    """Return when the table was compacted last, and how many files each unit has had since then."""
    last = _last_compaction(history)
    if last is None:
        return LogFigures()
    written = {
        plan.unit.key: sum(file.written <= millis_of(last) for file in files.get(plan.unit.spec, ()))
        for plan in plans
    }
    return LogFigures(last, written)


def _last_compaction(history: NativeHistory) -> datetime | None:
    """Return when anybody has compacted the table last."""
    return max((commit.at for commit in history.commits if commit.rewrites), default=None)

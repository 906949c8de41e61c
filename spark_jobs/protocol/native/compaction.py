"""The compaction of a native table by the procedure of its format, within the limits and the deadline of the job.

What a procedure says of its own work does not count: the files are counted in the format's metadata before and after.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from spark_jobs.core.messages.errors import LeaseLost
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.planning.decisions import Leave
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.amount import NONE
from spark_jobs.core.values.model import name_of
from spark_jobs.core.wire.report import TableReport, UnitReport
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.execution.unit_results import of_error
from spark_jobs.protocol.native.plan import NativePlan, report_of
from spark_jobs.protocol.native.runs import AFTER, BEFORE, NativeHistory, NativeRun, forget
from spark_jobs.protocol.native.session import NativeSession
from spark_jobs.protocol.native.units import by_unit
from spark_jobs.protocol.native_ports import DataFile, UnitFiles

log = logging.getLogger("lakekeeper")
#: So many units are compacted by one call: each call is a commit, and reads the list of all files.
_AT_ONCE = 16
_NOT_FEWER = "the procedure of the format has left its files as they were"


class NativeCompaction:
    """The compaction of one native table.

    Args:
        run_id: that of the job; a run of this id that cannot be continued makes this one its next generation.
        history: as it is under the lease.
    """

    def __init__(
        self,
        session: NativeSession,
        plan: NativePlan,
        run_id: str,
        history: NativeHistory,
        admission: JobAdmission,
    ) -> None:
        self._session = session
        self._plan = plan
        self._admission = admission
        self._named = session.table.no_rollback() is None
        self._run = _run_of(run_id, history)
        self._begun = self._run.before != ""

    def run(self) -> TableReport:
        """Compact the flagged units that the job admits, and return the report."""
        options, now = self._session.options, self._session.services.now
        held = self._plan.held.bytes
        self._admission.update(lambda a: a.of_table(options.max_held_bytes, held, options.deadline))
        done: list[UnitReport] = [u.report() for u in self._plan.units if not u.flagged]
        waiting: Sequence[UnitPlan] = [unit for unit in self._plan.units if unit.flagged]
        while waiting:
            chosen = self._admission.now.round(waiting, now())
            if not chosen.chosen:
                waiting = chosen.waiting
                break
            results, late = self._round(chosen.chosen)
            done += results
            waiting = [*late, *chosen.waiting]
            if late:
                break
        return self._report([*done, *(unit.report() for unit in self._admission.now.not_begun(waiting))])

    def _round(self, units: Sequence[UnitPlan]) -> tuple[list[UnitReport], list[UnitPlan]]:
        """Compact units until the deadline. Return the reports, and the units that were not begun."""
        results: list[UnitReport] = []
        waiting = list(units)
        while waiting:
            fitting = self._admission.now.wave(waiting, self._session.services.now(), _AT_ONCE)[:_AT_ONCE]
            if not fitting:
                break
            results += self._wave(fitting)
            waiting = [unit for unit in waiting if unit not in fitting]
        self._admission.update(lambda a: a.spent([(each.outcome, each.amount) for each in results]))
        return results, waiting

    def _wave(self, units: Sequence[UnitPlan]) -> list[UnitReport]:
        monotonic = self._session.services.clock.monotonic
        amount, began = sum((unit.amount or NONE for unit in units), NONE), monotonic()
        log.info(
            "%s: %d units by the procedure of %s", self._session.facts.name, len(units), self._session.format
        )
        with self._session.services.phases.during("write"):
            results = self._results(units, self._compact(units))
        seconds = monotonic() - began
        self._admission.update(lambda a: a.timed(amount, seconds).ended(each.outcome for each in results))
        return [replace(each, seconds=round(seconds / len(units), 3)) for each in results]

    def _compact(self, units: Sequence[UnitPlan]) -> dict[str, Exception]:
        """Compact units by one call, and after an error each of them by its own. Return the errors by unit.

        So a file that cannot be read keeps its own partition from being compacted, and no other.
        """
        try:
            self._begin()
        except Exception as error:
            return {unit.unit.key: error for unit in units}
        failure = self._call(units)
        if failure is None or isinstance(failure, LeaseLost) or len(units) == 1:
            return {unit.unit.key: failure for unit in units} if failure else {}
        return {
            unit.unit.key: again for unit in self._untouched(units) if (again := self._alone(unit, failure))
        }

    def _alone(self, unit: UnitPlan, failure: Exception) -> Exception | None:
        """Compact one unit of a call that has failed; after the deadline no call begins, and the failure stays."""
        if not self._admission.now.wave([unit], self._session.services.now(), 1):
            return failure
        return self._call([unit])

    def _call(self, units: Sequence[UnitPlan]) -> Exception | None:
        """Call the procedure. Return the error with which it has ended: it may have committed some units before."""
        try:
            self._session.check_lease()
            self._session.table.compact([_files_of(unit) for unit in units], self._session.thresholds.target)
        except Exception as error:
            return error
        return None

    def _untouched(self, units: Sequence[UnitPlan]) -> list[UnitPlan]:
        """Return those units whose planned files are all still there; all of them where that cannot be told."""
        try:
            files = by_unit(self._session.table.files())
        except Exception:
            return list(units)
        return [unit for unit in units if not _gone(unit, files.get(unit.unit.spec, ()))]

    def _begin(self) -> None:
        """Give the present commit its name, before the first procedure of the run."""
        if self._begun:
            return
        table = self._session.table
        self._run = replace(self._run, before=NativeHistory.of(table).current or "")
        if self._named:
            self._session.check_lease()
            table.tag(f"{BEFORE}{self._run.run_id}", self._run.before)  # guard: named_before_the_procedure
        self._begun = True

    def _results(self, units: Sequence[UnitPlan], errors: Mapping[str, Exception]) -> list[UnitReport]:
        """Return what has become of units: their files are counted, whatever the procedure has said."""
        for error in errors.values():
            if isinstance(error, LeaseLost):
                raise error
        try:
            files = by_unit(self._session.table.files())
        except Exception as unknown:
            return [of_error(u.unit, errors.get(u.unit.key, unknown), u.health).report for u in units]
        return [_result(u, files.get(u.unit.spec, ()), errors.get(u.unit.key)) for u in units]

    def _report(self, units: Sequence[UnitReport]) -> TableReport:
        run = self._end()
        report = report_of(self._session, [*units, *self._plan.missing()], self._plan)
        held = self._session.held(NativeHistory.of(self._session.table)) if run else self._plan.held
        report = replace(report, run_id=run.run_id if run else None, **held.report())
        if run is not None:
            report = replace(report, snapshot_before=run.before, snapshot_after=run.after)
            why = self._session.table.no_rollback()
            notes = (
                [WarningCode.CANNOT_BE_ROLLED_BACK.text(f"{self._session.facts.name}: {why}")] if why else []
            )
            report = replace(report, warnings=[*report.warnings, *notes])
        return report.conclude(acted=[UnitOutcome.COMPACTED])

    def _end(self) -> NativeRun | None:
        """Name the last commit of the run. Return the run; None if it has committed nothing.

        A run whose commits are not all kept any more stays as it is: nobody knows that it has done nothing.
        """
        if not self._begun:
            return None
        table = self._session.table
        later = NativeHistory.of(table).since(self._run.before)
        rewriting = [commit for commit in later or () if commit.rewrites]
        if later is None:
            return self._run
        self._session.check_lease()
        if not rewriting:
            if self._named:
                forget(table, self._run)
            return None
        if self._named:
            table.tag(f"{AFTER}{self._run.run_id}", rewriting[-1].id)
        return replace(self._run, after=rewriting[-1].id)


def _run_of(run_id: str, history: NativeHistory) -> NativeRun:
    """Return the run, which continues what an earlier try of the same job has begun, if nobody else wrote since."""
    earlier = history.of_id(run_id)
    if earlier and history.can_be_rolled_back(earlier[-1]):
        return earlier[-1]
    return NativeRun(history.next_id(run_id) if earlier else run_id, "", None)


def _files_of(unit: UnitPlan) -> UnitFiles:
    files = unit.inputs.files.data if unit.inputs else ()
    return UnitFiles(unit.unit.spec, tuple(file.length for file in files))


def _gone(unit: UnitPlan, now: Sequence[DataFile]) -> set[str]:
    """Return the names of the planned files that the table has no more."""
    planned = {file.name for file in unit.inputs.files.data} if unit.inputs else set()
    return planned - {name_of(file.path) for file in now}


def _result(unit: UnitPlan, now: Sequence[DataFile], error: Exception | None) -> UnitReport:
    """Return what has become of a unit: it was compacted if files of its plan are gone and it still has some."""
    size = sum(file.length for file in now)
    if now and _gone(unit, now):
        return replace(unit.report(), outcome=UnitOutcome.COMPACTED, files_after=len(now), bytes_after=size)
    if error is not None:
        return of_error(unit.unit, error, unit.health).report
    if not now:
        return replace(
            unit.report(), outcome=UnitOutcome.CHANGED, reason="another writer has removed its files"
        )
    same = replace(unit, decision=Leave(_NOT_FEWER)).report()
    return replace(same, files_after=len(now), bytes_after=size)

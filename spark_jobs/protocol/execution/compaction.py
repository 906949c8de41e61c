"""The compaction of the flagged units of one home: write, verify, journal, swap, commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from spark_jobs.core.messages.errors import LakekeeperError, Refusal, UnitChanged
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.options.rewriting import ARROW
from spark_jobs.core.planning.decisions import Decision, Defer, YieldToWriter
from spark_jobs.core.planning.ordering import waves
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records import journal
from spark_jobs.core.values import layout
from spark_jobs.core.values.amount import Amount
from spark_jobs.core.values.layout import Home
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.execution.joint_writer import JointWriter
from spark_jobs.protocol.execution.preconditions import Preconditions
from spark_jobs.protocol.execution.recovery import Recovery, record
from spark_jobs.protocol.execution.schedule import Schedule
from spark_jobs.protocol.execution.unit_results import UnitResult, compacted_report, of_error, uncompacted
from spark_jobs.protocol.execution.unit_writer import UnitWriter
from spark_jobs.protocol.execution.wave_writer import WaveWriter
from spark_jobs.protocol.execution.waves import UnitWork
from spark_jobs.protocol.execution.written_unit import WrittenUnit
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.planning.footer_inspection import files_to_rewrite
from spark_jobs.protocol.listed_directories import Directories
from spark_jobs.protocol.ports import Pool
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.forward import ForwardSwap
from spark_jobs.protocol.swap.swap_executor import SwapResult


class Compaction(UnitWork[UnitPlan, WrittenUnit]):
    """The part of one run that belongs to one home."""

    def __init__(
        self,
        services: Services,
        table: TablePlan,
        home: Home,
        run: Run,
        stamp: str,
        recovery: Recovery,
        admission: JobAdmission,
    ) -> None:
        super().__init__(services, run, recovery)
        self._admission = admission
        self._schedule = Schedule(services, admission)
        self._checks = Preconditions(services, table)
        self._writer = UnitWriter(
            services, table, home, stamp, lambda path: self.entered.path(path), admission
        )
        joint = JointWriter(
            services,
            table,
            self._writer.groups,
            lambda number: self.entered.path(layout.staging_directory(stamp, number)),
        )
        self._table = table
        self._jointly = table.writes_jointly or table.may_use_arrow
        self._target_bytes = table.options.thresholds().target
        self._wave = WaveWriter(
            self._writer, joint, jointly=table.writes_jointly, by_arrow=table.may_use_arrow
        )

    @property
    def _executor(self) -> ForwardSwap:
        return ForwardSwap(self.services, self.entered, self.recovery.policy)

    def waves(self, items: Sequence[UnitPlan], parallelism: int) -> Iterable[Sequence[UnitPlan]]:
        return self._schedule.waves(
            items, parallelism, lambda units: waves(units, parallelism, self._target_bytes, self._jointly)
        )

    def amount(self, item: UnitPlan) -> Amount:
        return item.amount or Amount()

    def prepare_wave(self, pool: Pool, items: Sequence[UnitPlan]) -> list[WrittenUnit | UnitResult]:
        if items[0].deferred:
            return [uncompacted(item.unit, item.decision, item.health) for item in items]
        written = zip(items, self._wave.write(pool, items))
        return list(pool.map(lambda pair: self._called_off(*pair), written))

    def ended(self, results: Sequence[UnitResult]) -> None:
        outcomes = [result.report.outcome for result in results]
        self._admission.update(lambda admission: admission.ended(outcomes))
        self._schedule.ended(
            each.unit_key for each in results if each.report.outcome == UnitOutcome.COMPACTED
        )

    def _called_off(
        self, item: UnitPlan, step: WrittenUnit | Decision | Exception
    ) -> WrittenUnit | UnitResult:
        return step if isinstance(step, WrittenUnit) else self._not_written(item, step)

    def prepare(self, item: UnitPlan) -> WrittenUnit | UnitResult:
        return self._called_off(item, self._writer.write(item))

    def not_prepared(self, item: UnitPlan, error: Exception) -> UnitResult:
        return self._not_written(item, error)

    def _not_written(self, item: UnitPlan, why: Decision | Exception) -> UnitResult:
        self._writer.discard(item)  # guard: unit_failure_isolated
        cause = self._writer.cause(item, why)
        if isinstance(cause, Exception):
            return of_error(item.unit, cause, item.health)
        return uncompacted(item.unit, cause, item.health)

    def journal_intent(self, ready: Sequence[WrittenUnit]) -> None:
        created_by = {item.swap.unit.key: self.recovery.policy.created(item.swap.unit) for item in ready}
        created = {key: at for key, at in created_by.items() if at is not None}
        more = {"created": created} if created else {}
        # guard: journal_before_rename
        self.entered.journal.append(journal.PREPARED, swaps=[item.swap.to_json() for item in ready], **more)

    def start_acting(self) -> None:
        # The units of a wave share the directories above them: each directory is listed once for the whole wave.
        self._directories = Directories(self.services.fs.list)

    def act(self, ready: WrittenUnit) -> UnitResult:
        late = self._writer.late()
        if late and ready.plan.refusal is None:
            return self._deferred(ready, late)
        try:
            result = self._executor.swap(ready.swap, lambda: self._last_check(ready), ready.check_files)
        except (UnitChanged, Refusal) as called_off:
            self._discard(ready, self._executor.finish(ready.swap, str(called_off)))
            raise
        if result.kind == journal.COMMITTED:
            return self._committed(ready, result)
        self._discard(ready, result)
        raise (LakekeeperError if result.failed else UnitChanged)(result.problem)

    def _deferred(self, ready: WrittenUnit, late: Defer) -> UnitResult:
        """Discard a unit that is written, and was not swapped before the deadline."""
        self._discard(ready, self._executor.finish(ready.swap, late.reason))
        return uncompacted(ready.plan.unit, late, ready.plan.health)

    def not_acted(self, ready: WrittenUnit, error: Exception) -> UnitResult:
        """Return the failed result. The intent is journaled as ended only after the swap state was read again."""
        unknown = isinstance(error, FileSystemError)
        return of_error(ready.plan.unit, error, ready.plan.health, unknown=unknown)

    def recovered(self, ready: WrittenUnit, result: UnitResult, swapped: SwapResult | None) -> UnitResult:
        if swapped is None or swapped.kind != journal.COMMITTED:
            return result
        return replace(self._committed(ready, swapped), kind="", record={})

    def _committed(self, ready: WrittenUnit, result: SwapResult) -> UnitResult:
        """Return the result of a swap. What an analysis has kept of the originals is not needed any more."""
        read = files_to_rewrite(self._table, ready.swap.originals)
        self._writer.footers.delete(ready.swap.live, read)
        return _swapped(ready, result)

    def _last_check(self, item: WrittenUnit) -> None:
        if item.plan.refusal is not None:  # guard: refused_since
            raise item.plan.refusal
        new = self.entered.path(item.swap.new)
        self._checks.before_swap(item.swap, new, item.attributes, self._directories)

    def _discard(self, item: WrittenUnit, result: SwapResult) -> None:
        record(self.services.fs, self.entered, item.swap, result)


def _swapped(item: WrittenUnit, result: SwapResult) -> UnitResult:
    unit, health = item.plan.unit, item.plan.health
    took = {"seconds": round(item.seconds, 3)} if item.codec else {}
    body = {**result.body(item.swap), **took}
    if result.problem:
        changed = uncompacted(unit, YieldToWriter(result.problem), health)
        return replace(changed, kind=journal.COMMITTED, record=body)
    report = compacted_report(item.swap, health, item.seconds, result.moved_files)
    if item.strategy is not None:
        report = replace(report, strategy=item.strategy[0], strategy_reason=item.strategy[1])
    by = item.written_by
    report = replace(report, engine=ARROW if by.arrow else None, engine_reason=by.why_not)
    return UnitResult(
        unit.key, report, journal.COMMITTED, body, item.codec, item.warnings, instead_of_arrow=by.instead
    )

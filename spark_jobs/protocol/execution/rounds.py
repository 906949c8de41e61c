"""The rounds in which a compaction takes the units of a table, within the limits of the job.

Usually there is one round. The first units may have to prove themselves alone (`canary`). And where a unit turns out to
need no compaction, or is refused when its footers are read, units that were deferred take its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from spark_jobs.core.options.definitions import writer_rules
from spark_jobs.core.planning.admission import Round
from spark_jobs.core.planning.decisions import Rewrite
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.held import Held, held_in
from spark_jobs.core.values.amount import Amount
from spark_jobs.core.values.layout import Home
from spark_jobs.core.wire.report import UnitReport
from spark_jobs.protocol.execution.compaction import Compaction
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.execution.recovery import RecoveredRun
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.execution.unit_results import UnitResult, uncompacted
from spark_jobs.protocol.execution.waves import Waves
from spark_jobs.protocol.execution.written_unit import WrittenUnit
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.run_lifecycle import next_timestamp
from spark_jobs.protocol.swap.leftovers import remove_empty_directories


@dataclass(frozen=True)
class TableState:
    """The state that a compaction starts from.

    Attributes:
        earlier: the directories of this run that earlier attempts have left.
        recovered: the unfinished ones among them, by home. They are entered, and their units that were written and
            verified are ready to be swapped.
        held: what the other runs of the table hold.
        resumed_settled: the run is resumed, and has no directories any more.
    """

    plan: TablePlan
    run_id: str
    earlier: Sequence[Run]
    recovered: Mapping[Home, RecoveredRun]
    held: Held = field(default_factory=Held)
    resumed_settled: bool = False

    def by_clocks(self, clocks: Sequence[datetime]) -> TableState:
        """Return the state with rules by the clock of the file system too, which the leases have told.

        The clock of this driver may be days behind: then each file of an active writer would be in the future.
        """
        return replace(
            self,
            plan=replace(
                self.plan,
                rules=replace(writer_rules(self.plan.options, clocks), staging=self.plan.rules.staging),
            ),
        )

    @property
    def has_nothing_to_do(self) -> bool:
        return not self.earlier and not self.plan.flagged

    def home(self, unit: UnitPlan) -> Home:
        return Home.of(self.plan.facts.storage.location, unit.unit.location)


class Rounds:
    """The rounds of one table.

    Args:
        runs: the directories of the run by home. It is updated in place: a directory may have another name afterwards.
    """

    def __init__(
        self, session: TableSession, admission: JobAdmission, start: TableState, runs: dict[Home, Run]
    ) -> None:
        self._session = session
        self._services = session.services
        self._admission = admission
        self._start = start
        self._runs = runs

    def run(self) -> list[UnitResult]:
        """Rewrite and swap the units that are due. Return the result of each unit, also of those that are deferred."""
        next_ = self._next(self._units())
        results = self._compact(next_.chosen, resume=True)
        while True:
            next_ = self._next(next_.waiting)
            if not next_.chosen:
                left = (uncompacted(unit.unit, unit.decision, unit.health) for unit in next_.waiting)
                return [*results, *left]
            results += self._compact(next_.chosen)

    def _next(self, waiting: Sequence[UnitPlan]) -> Round:
        return self._admission.now.round(waiting, self._services.now())

    def _units(self) -> list[UnitPlan]:
        """Return the units that are still to be compacted, in their order.

        A unit that this run has swapped already keeps its originals. Files that were added since are left to the next
        run.
        """
        held = {key for run in self._runs.values() for key in _held(run)}
        return [
            unit
            for unit in self._start.plan.units
            if (unit.flagged or unit.deferred)
            and self._start.home(unit) in self._runs
            and unit.unit.key not in held
        ]

    def _compact(self, units: Sequence[UnitPlan], *, resume: bool = False) -> list[UnitResult]:
        plan = self._plan(units)
        now = int(self._services.now().timestamp())
        stamp = next_timestamp(self._services.fs, self._runs.values(), now)
        results: list[UnitResult] = []
        amounts = {unit.unit.key: unit.amount for unit in units}
        self._admission.update(lambda admission: admission.begun(amounts.values()))
        for home in list(self._runs):
            results += self._compact_home(plan, home, stamp, resume=resume)
        spent = [(each.report.outcome, _read(each.report, amounts.get(each.unit_key))) for each in results]
        self._admission.update(lambda admission: admission.spent(spent))
        return results

    def _plan(self, units: Sequence[UnitPlan]) -> TablePlan:
        """Return the plan of one round."""
        return replace(self._start.plan, canary=self._admission.now.canaries > 0, units=tuple(units))

    def _compact_home(self, plan: TablePlan, home: Home, stamp: str, *, resume: bool) -> list[UnitResult]:
        run, parallelism = self._runs[home], plan.options.parallelism
        recovery = self._session.recovery()
        compaction = Compaction(self._services, plan, home, run, stamp, recovery, self._admission)
        units = [unit for unit in plan.flagged if self._start.home(unit) == home]
        results = Waves(compaction, parallelism).run(units, self._resumed(home) if resume else ())
        self._runs[home] = compaction.entered
        remove_empty_directories(self._services, compaction.entered, parallelism)
        return results

    def _resumed(self, home: Home) -> list[WrittenUnit]:
        """Return the units that an earlier attempt has written and verified, with their current plans."""
        seen = {unit.unit.key: unit for unit in self._start.plan.units}
        ready = self._start.recovered[home].ready if home in self._start.recovered else []
        return [WrittenUnit(seen.get(swap.unit.key, UnitPlan(swap.unit, Rewrite())), swap) for swap in ready]


def _read(report: UnitReport, planned: Amount | None) -> Amount | None:
    """Return what was read of a unit: files may have been added since it was planned."""
    return planned if planned is None or report.files is None else report.amount


def held_by(runs: Iterable[Run]) -> Held:
    """Return what these runs hold."""
    states = ((run.run_id, run.current()) for run in runs)
    return Held.of((run_id, held_in(state), state.started) for run_id, state in states)


def held_when_found(runs: Iterable[Run], restored: Mapping[str, Collection[str]] | None = None) -> Held:
    """Return what these runs held when they were found; nothing is read.

    Args:
        restored: by directory, the units that were restored since, by their names in the journal
    """
    done = restored or {}
    sizes = ((run, held_in(run.state, done.get(run.directory, ()))) for run in runs)
    return Held.of((run.run_id, size, run.state.started) for run, size in sizes)


def reserved_bytes(runs: Iterable[Run]) -> int:
    """Return the bytes of the originals that these runs keep, or will keep when their open intents are carried out."""
    units = (unit for run in runs for unit in run.current().units.values() if not unit.final)
    return sum(unit.swap.originals.bytes for unit in units)


def _held(run: Run) -> set[str]:
    return {key for key, unit in run.current().units.items() if not unit.final}

"""The end of the record of originals that are damaged, for one run directory. Nothing is deleted."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.messages.errors import DamagedOriginals, LakekeeperError
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.wire.report import UnitReport
from spark_jobs.protocol.execution.cleanup import Cleanup
from spark_jobs.protocol.execution.recovery import Recovery
from spark_jobs.protocol.execution.unit_results import with_remedy
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.direction import executor_of


@dataclass(frozen=True)
class ForgetVerdict:
    """Whether the record of a unit's originals may be ended, and why."""

    unit: UnitState
    damaged: bool
    reason: str

    def report(self, outcome: UnitOutcome) -> UnitReport:
        return UnitReport.of(self.unit.swap.unit.to_json(), outcome, reason=self.reason)


class Forget:
    """The end of the record of damaged originals. Intact ones stay under the care of rollback and cleanup."""

    def __init__(self, services: Services, run: Run, recovery: Recovery) -> None:
        self._services = services
        self._run = run
        self._cleanup = Cleanup(services, run, recovery, skip_trash=True)
        self._policy = recovery.policy

    def verdicts(self) -> list[ForgetVerdict]:
        """Judge each unit whose originals the run still holds. Nothing is changed."""
        return [self._judge(unit) for unit in self._run.current().units.values() if not unit.final]

    def _judge(self, unit: UnitState) -> ForgetVerdict:
        if unit.kind in journal.INTENTS:
            return self._judge_open(unit)
        try:
            self._cleanup.check_originals(unit)
        except DamagedOriginals as error:
            return ForgetVerdict(unit, True, f"{error}; what is left of them stays where it is")
        except (LakekeeperError, OSError) as error:
            return ForgetVerdict(
                unit, False, with_remedy(str(error), error, self._policy.target, self._run.run_id)
            )
        return ForgetVerdict(unit, False, "its originals are intact: roll the run back, or clean it up")

    def _judge_open(self, unit: UnitState) -> ForgetVerdict:
        """Judge an open intent. Any state that has a rule belongs to the recovery: rows may lie in each directory."""
        executor = executor_of(self._services, self._run, unit, self._policy)
        paths = executor.paths(unit.swap)
        where = paths.look()
        if executor.has_rule(where):  # guard: open_intent_not_forgotten
            return ForgetVerdict(
                unit, False, f"{paths.live} is {where.value}; the next compaction recovers it"
            )
        return ForgetVerdict(unit, True, f"{paths.explain(where)}; nothing in them was deleted")

    def forget(self, verdicts: list[ForgetVerdict]) -> None:
        """Journal the end of the damaged units as CLEANED. The run must have been entered."""
        units = [{"unit": item.unit.swap.unit.key, "forgotten": True} for item in verdicts if item.damaged]
        if units:
            self._run.journal.append(journal.CLEANED, units=units)

"""The plan of one unit, as a value. Nothing here reads the file system or the metastore."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.planning.decisions import (
    Decision,
    Defer,
    Irreducible,
    Leave,
    Recover,
    Refuse,
    Rewrite,
    on_wire,
)
from spark_jobs.core.planning.survey import SurveyedUnit, Verdict
from spark_jobs.core.planning.task_plan import TaskPlan
from spark_jobs.core.records.open_units import OpenUnit
from spark_jobs.core.rules.health import Health, Thresholds, assess, irreducible_health, score
from spark_jobs.core.values.amount import Amount
from spark_jobs.core.values.model import FileListing, Unit
from spark_jobs.core.wire.report import UnitReport


@dataclass(frozen=True)
class Inputs:
    """The input of a compaction of one unit: its files, and the figures that determine the number of files to write.

    Attributes:
        replication: the first file's; None if the listing does not have it.
    """

    files: FileListing
    health: Health
    replication: int | None = None


@dataclass(frozen=True)
class UnitPlan:
    """The plan of one unit. A unit to rewrite or to recover is compacted, all others are left alone.

    Attributes:
        inputs: the files to rewrite, if they are small. No other listing is kept, because a table may have millions of
            files.
        health: the figures of the unit's listing, or of an earlier one (`surveyed`).
        surveyed: figures that a later plan can use instead of listing the unit again.
        fingerprint: a hash of the listing, or of the earlier one, which changes whenever a file is added, removed or
            rewritten; None without a listing.
        deferred_since: when an earlier job has deferred the unit; None if none has.
        open: since when it is not done, if earlier days have found it already.
        was_open: a job has noted that it is not done, maybe on this day.
        engine: what will write the unit, if its footers were read for this plan.
        engine_reason: why Arrow will not, although the options ask for it.
        warnings: what its footers, if they were read for this plan, say that a person should know.
    """

    unit: Unit
    decision: Decision
    inputs: Inputs | None = None
    health: Health | None = None
    surveyed: SurveyedUnit | None = None
    fingerprint: str | None = None
    deferred_since: str | None = None
    open: OpenUnit | None = None
    was_open: bool = False
    engine: str | None = None
    engine_reason: str | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def listed(
        cls, unit: Unit, files: FileListing, health: Health, replication: int | None = None
    ) -> UnitPlan:
        """Return the plan of a unit that was listed. It is rewritten if its files are small."""
        inputs = Inputs(files, health, replication) if health.needs_compaction else None
        return cls(unit, _by_health(health), inputs, health, fingerprint=files.fingerprint)

    @classmethod
    def known(cls, unit: Unit, health: Health, surveyed: SurveyedUnit) -> UnitPlan:
        """Return the plan of a unit by the figures of an earlier plan and, if it is flagged by them, by its verdict."""
        refusal = surveyed.verdict.refusal if surveyed.verdict and health.needs_compaction else None
        plan = cls(
            unit, _by_health(health), health=health, surveyed=surveyed, fingerprint=surveyed.fingerprint
        )
        return plan.refused(refusal) if refusal else plan

    def refused(self, refusal: Refusal) -> UnitPlan:
        return replace(self, decision=Refuse(refusal))

    def irreducible(self, decision: Irreducible, options: Options) -> UnitPlan:
        """Return the plan of a unit whose files cannot be fewer."""
        health = irreducible_health(self.health, decision.target_files) if self.health else None
        plan = replace(self, decision=decision, health=health, open=None)
        return plan.remember_irreducible(decision.target_files, options)

    def remember_irreducible(self, target_files: int, options: Options) -> UnitPlan:
        """Return the plan whose figures tell a later plan that the unit's files cannot be fewer."""
        thresholds, readers = options.thresholds(), options.readers
        surveyed = self.surveyed.as_irreducible(target_files, thresholds, readers) if self.surveyed else None
        return replace(self, surveyed=surveyed)

    def judged(self, basis: str, refusal: Refusal | None = None, *, lasting: bool = True) -> UnitPlan:
        """Return the plan by the footers of the files, refused or not. The figures tell this to later analyses.

        Args:
            lasting: it holds until the files change. Else the next analysis decides anew.
        """
        verdict = Verdict.of(basis, refusal, self.replication) if lasting else None
        surveyed = self.surveyed.judge(verdict) if self.surveyed else None
        plan = replace(self, surveyed=surveyed)
        return plan.refused(refusal) if refusal else plan

    def interrupted(self, reason: str) -> UnitPlan:
        """Return the plan that recovers the unit, whatever its files are, unless it is refused.

        The compaction of the unit recovers the unfinished run first. A refusal by the verdict of an earlier analysis
        does not count: it is about the rewriting of the files, which is no part of the recovery.
        """
        by_verdict = self.surveyed is not None and self.surveyed.verdict is not None
        if self.refusal and not by_verdict:
            return self
        return replace(self, decision=Recover(reason))

    @property
    def is_open(self) -> bool:
        """Tell whether it has small files and is not compacted, although it may be refused."""
        small = self.health is not None and self.health.needs_compaction
        return self.needs_compaction or (small and self.refusal is not None)

    def with_open(self, known: OpenUnit | None, now: str) -> UnitPlan:
        """Return the plan with what earlier jobs have noted of the unit.

        Args:
            now: the time of the plan (ISO 8601, UTC).
        """
        shown = known.on(now) if known and self.is_open else None
        return replace(self, open=shown, was_open=known is not None)

    def undeferred(self) -> UnitPlan:
        """Return the plan with what would be done without a limit."""
        return replace(self, decision=self.decision.instead) if isinstance(self.decision, Defer) else self

    @property
    def outcome(self) -> UnitOutcome:
        return on_wire(self.decision)[0]

    @property
    def refusal(self) -> Refusal | None:
        """Return why the unit must not be compacted; None if it may be."""
        return self.decision.refusal if isinstance(self.decision, Refuse) else None

    @property
    def flagged(self) -> bool:
        return isinstance(self.decision, (Rewrite, Recover))

    @property
    def to_rewrite(self) -> bool:
        """Tell whether the unit is flagged because of its files, and does not have to be recovered first."""
        return isinstance(self.decision, Rewrite)

    @property
    def deferred(self) -> bool:
        return isinstance(self.decision, Defer)

    @property
    def amount(self) -> Amount | None:
        """Return what a compaction reads of the unit; None if it was not listed."""
        return Amount(1, self.health.files, self.health.bytes) if self.health else None

    @property
    def inputs_to_rewrite(self) -> Inputs | None:
        """Return the files to rewrite; None if there are none, or if the verdict of an earlier analysis counts."""
        return self.inputs if self.to_rewrite else None

    @property
    def target_files(self) -> int | None:
        """Return the number of files that the unit becomes; None if it is not rewritten because of its files."""
        return self.health.target_files if self.health is not None and self.to_rewrite else None

    @property
    def replication(self) -> int | None:
        """Return the replication of the first file; None if it is not known."""
        if self.inputs is not None:
            return self.inputs.replication
        return self.surveyed.verdict.replication if self.surveyed and self.surveyed.verdict else None

    def confirmed(self, files: FileListing, thresholds: Thresholds) -> UnitPlan:
        """Return the plan with the files that the unit has now. Figures of other files are replaced."""
        if self.inputs is not None and self.inputs.files == files:
            return self
        health = assess(files, thresholds)
        return replace(self, inputs=Inputs(files, health), health=health, fingerprint=files.fingerprint)

    @property
    def needs_compaction(self) -> bool:
        """Tell whether the unit has to be rewritten because of its files, now or by a later job."""
        return self.to_rewrite or self.deferred

    @property
    def _left_alone(self) -> str | None:
        """Return why it is not compacted although it has small files; None if it has none, or is compacted."""
        return self.health.note if self.health and isinstance(self.decision, (Leave, Irreducible)) else None

    def report(self, tasks: TaskPlan | None = None, pressure: float = 0.0) -> UnitReport:
        """Return the unit's part of the report of an analysis.

        Args:
            tasks: how tasks will share its rewrite, if it is known.
            pressure: the used part of the fullest namespace quota above the unit.
        """
        outcome, code, reason = on_wire(self.decision)
        decided = outcome in (UnitOutcome.FLAGGED, UnitOutcome.HEALTHY) and reason is None
        return UnitReport.of(
            self.unit.to_json(),
            outcome,
            self.health,
            code=code,
            reason=reason or self._left_alone,
            fingerprint=self.fingerprint if decided else None,
            read_tasks=tasks.read if tasks and tasks.shuffled else None,
            score=score(self.health, pressure) if self.health and self.needs_compaction else None,
            deferred_since=self.deferred_since if self.needs_compaction else None,
            engine=self.engine,
            engine_reason=self.engine_reason,
            **(self.open.to_json() if self.open else {}),
        )


def _by_health(health: Health) -> Decision:
    return Rewrite() if health.needs_compaction else Leave()

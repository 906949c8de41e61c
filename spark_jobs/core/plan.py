"""The plan of a table, as a value: an analysis reports it, a dry run prints it, a compaction executes it.

`protocol/planning` creates plans. Nothing here reads the file system or the metastore.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from spark_jobs.core.commit_log.cache import CachedUnit, Verdict
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.errors import NothingToGain, Refusal
from spark_jobs.core.file_origins import Origins
from spark_jobs.core.formats.registry import FORMATS, has_footer
from spark_jobs.core.health import Health, Thresholds, assess, score, settled
from spark_jobs.core.model import FileListing, Unit
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.other_writers import WriterRules
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.progress import Amount
from spark_jobs.core.selection import PartitionSpec
from spark_jobs.core.task_plan import TaskPlan, plan_tasks
from spark_jobs.core.wire import TableReport, UnitReport


@dataclass(frozen=True)
class Inputs:
    """The input of a compaction of one unit: its files, and the figures that determine the number of files to write.

    Attributes:
        replication: that of the first file; None if the listing does not have it.
    """

    files: FileListing
    health: Health
    replication: int | None = None


@dataclass(frozen=True)
class UnitPlan:
    """The plan of one unit. FLAGGED units are compacted, all others are left alone.

    Attributes:
        inputs: the files to rewrite, if the unit is FLAGGED because of them. No other listing is kept, because a table
            may have millions of files.
        health: the figures of the unit's listing, or of an earlier one (`cached`).
        refusal: why the unit must not be compacted.
        reason: why the unit is FAILED or QUARANTINED, FLAGGED because of an unfinished run, or HEALTHY although its
            files are small: they cannot be fewer, or the unit is not due.
        cached: figures that a later plan can use instead of listing the unit again.
        fingerprint: a hash of the listing, or of the earlier one, which changes whenever a file is added, removed or
            rewritten; None without a listing.
        deferred_since: when an earlier job has deferred the unit; None if none has.
        engine: what will write the unit, if its footers were read for this plan.
    """

    unit: Unit
    outcome: UnitOutcome
    inputs: Inputs | None = None
    health: Health | None = None
    refusal: Refusal | None = None
    reason: str | None = None
    cached: CachedUnit | None = None
    fingerprint: str | None = None
    deferred_since: str | None = None
    engine: str | None = None

    @classmethod
    def listed(
        cls, unit: Unit, files: FileListing, health: Health, replication: int | None = None
    ) -> UnitPlan:
        """Return the plan of a unit that was listed. It is FLAGGED if its files are small."""
        inputs = Inputs(files, health, replication) if health.needs_compaction else None
        return cls(unit, _outcome(health), inputs, health, fingerprint=files.fingerprint)

    @classmethod
    def known(cls, unit: Unit, health: Health, cached: CachedUnit) -> UnitPlan:
        """Return the plan of a unit by the figures of an earlier plan and, if it is flagged by them, by its verdict."""
        refusal = cached.verdict.refusal if cached.verdict and health.needs_compaction else None
        plan = cls(unit, _outcome(health), health=health, cached=cached, fingerprint=cached.fingerprint)
        return plan.refused(refusal) if refusal else plan

    @classmethod
    def failed(cls, unit: Unit, reason: str) -> UnitPlan:
        return cls(unit, UnitOutcome.FAILED, reason=reason)

    @classmethod
    def quarantined(cls, unit: Unit, reason: str) -> UnitPlan:
        return cls(unit, UnitOutcome.QUARANTINED, reason=reason)

    def refused(self, refusal: Refusal) -> UnitPlan:
        return replace(self, outcome=UnitOutcome.SKIPPED, refusal=refusal)

    def settled(self, found: NothingToGain, options: Options) -> UnitPlan:
        """Return the plan of a unit whose files cannot be fewer."""
        health = settled(self.health, found.target_files) if self.health else None
        plan = replace(self, outcome=UnitOutcome.HEALTHY, health=health, reason=str(found))
        return plan.remember_settled(found.target_files, options)

    def remember_settled(self, target_files: int, options: Options) -> UnitPlan:
        """Return the plan whose figures tell a later plan that the unit's files cannot be fewer."""
        thresholds, readers = options.thresholds(), options.readers
        cached = self.cached.settle(target_files, thresholds, readers) if self.cached else None
        return replace(self, cached=cached)

    def judged(self, basis: str, refusal: Refusal | None = None) -> UnitPlan:
        """Return the plan by the footers of the files, refused or not. The figures tell this to later analyses."""
        verdict = Verdict.of(basis, refusal, self.replication)
        cached = self.cached.judge(verdict) if self.cached else None
        plan = replace(self, cached=cached)
        return plan.refused(refusal) if refusal else plan

    def interrupted(self, reason: str) -> UnitPlan:
        """Return the plan with the unit FLAGGED, whatever its files are, unless it is refused.

        The compaction of the unit recovers the unfinished run first. A refusal by the verdict of an earlier analysis
        does not count: it is about the rewriting of the files, which is no part of the recovery.
        """
        by_verdict = self.cached is not None and self.cached.verdict is not None
        if self.refusal and not by_verdict:
            return self
        return replace(self, outcome=UnitOutcome.FLAGGED, refusal=None, reason=reason)

    def put_off(self, reason: str) -> UnitPlan:
        """Return the plan of a unit that needs a compaction, and is left to the next job."""
        return replace(self, outcome=UnitOutcome.DEFERRED, reason=reason)

    def taken_up(self) -> UnitPlan:
        """Return the plan, flagged again if the unit was put off."""
        return (
            self
            if self.outcome != UnitOutcome.DEFERRED
            else replace(self, outcome=UnitOutcome.FLAGGED, reason=None)
        )

    @property
    def flagged(self) -> bool:
        return self.outcome == UnitOutcome.FLAGGED

    @property
    def to_rewrite(self) -> bool:
        """Tell whether the unit is flagged because of its files, and does not have to be recovered first."""
        return self.flagged and self.reason is None

    @property
    def amount(self) -> Amount | None:
        """Return what a compaction reads of the unit; None if it was not listed."""
        return Amount(1, self.health.files, self.health.bytes) if self.health else None

    @property
    def due(self) -> Inputs | None:
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
        return self.cached.verdict.replication if self.cached and self.cached.verdict else None

    def confirmed(self, files: FileListing, thresholds: Thresholds) -> UnitPlan:
        """Return the plan with the files that the unit has now. Figures of other files are replaced."""
        if self.inputs is not None and self.inputs.files == files:
            return self
        health = assess(files, thresholds)
        return replace(self, inputs=Inputs(files, health), health=health, fingerprint=files.fingerprint)

    @property
    def needs_compaction(self) -> bool:
        """Tell whether the unit has to be rewritten because of its files, now or by a later job."""
        return self.to_rewrite or self.outcome == UnitOutcome.DEFERRED

    def report(self, tasks: TaskPlan | None = None, pressure: float = 0.0) -> UnitReport:
        """Return the unit's part of the report of an analysis.

        Args:
            tasks: how tasks will share its rewrite, if it is known.
            pressure: the used part of the fullest namespace quota above the unit.
        """
        refusal = self.refusal
        decided = self.outcome in (UnitOutcome.FLAGGED, UnitOutcome.HEALTHY) and self.reason is None
        return UnitReport.of(
            self.unit.to_json(),
            self.outcome,
            self.health,
            code=refusal.code if refusal else None,
            reason=refusal.reason if refusal else self.reason,
            fingerprint=self.fingerprint if decided else None,
            read_tasks=tasks.read if tasks and tasks.shuffled else None,
            score=score(self.health, pressure) if self.health and self.needs_compaction else None,
            deferred_since=self.deferred_since if self.needs_compaction else None,
            engine=self.engine,
        )


def _outcome(health: Health) -> UnitOutcome:
    return UnitOutcome.FLAGGED if health.needs_compaction else UnitOutcome.HEALTHY


@dataclass(frozen=True)
class TablePlan:
    """The plan of one table.

    Attributes:
        gone: the units that were requested and do not exist any more.
        rules: the rules for files of other writers, at the time of the plan.
        slots: the tasks of Spark that can run at the same time; 0 if this is not known.
        pressure: the used part of the fullest namespace quota above the table, from 0 to 1.
        origins: who makes the small files; None in a plan of a compaction.
    """

    facts: TableFacts
    options: Options
    file_format: str
    units: tuple[UnitPlan, ...]
    gone: tuple[PartitionSpec, ...] = ()
    rules: WriterRules = field(default_factory=WriterRules)
    warnings: tuple[str, ...] = ()
    slots: int = 0
    origins: Origins | None = None
    pressure: float = 0.0

    @cached_property
    def flagged(self) -> list[UnitPlan]:
        return [unit for unit in self.units if unit.flagged]

    @property
    def writes_jointly(self) -> bool:
        """Tell whether small units may be written together: their footers must prove each of them.

        With `--verify hash`, the pass that reads a unit computes its hash.
        """
        return has_footer(self.file_format) and self.options.verify != "hash"

    @cached_property
    def _small(self) -> int:
        """Return the number of units that become one file each. Several of them may be written together."""
        return sum(unit.target_files == 1 for unit in self.flagged)

    @property
    def slots_of_a_unit(self) -> int:
        """Return the tasks that run at the same time for one unit, beside others that are written then."""
        return self.slots // max(1, min(self.options.parallelism, len(self.flagged)))

    def _tasks(self, unit: UnitPlan) -> TaskPlan | None:
        """Return how tasks will share a rewrite by Spark's own engine. Footers may show that another one is needed.

        It is None for units that may be written together with others: that job has tasks of its own.
        """
        health = unit.health if unit.to_rewrite else None
        if health is None or not FORMATS[self.file_format].read_by_spark:
            return None
        if self.writes_jointly and unit.target_files == 1 and self._small > 1:
            return None
        return plan_tasks(health.files, health.bytes, health.target_files, self.slots_of_a_unit)

    @property
    def cached(self) -> list[CachedUnit]:
        """Return the figures that a later plan can use."""
        return [unit.cached for unit in self.units if unit.cached is not None]

    @property
    def fingerprint(self) -> str:
        """Return a hash that changes whenever the files of a flagged unit change."""
        text = json.dumps([self.facts.name, [[unit.unit.key, unit.fingerprint] for unit in self.flagged]])
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def without(self, units: Collection[Mapping[str, str | None]]) -> TablePlan:
        """Return the plan without the units with these partition values."""
        left = tuple(unit for unit in self.units if unit.unit.to_json() not in units)
        return replace(self, units=left)

    def report(self) -> TableReport:
        """Return the table's part of the report of an analysis, with a part for each unit."""
        gone = [
            UnitReport.of(spec, UnitOutcome.SKIPPED, reason="the partition was dropped after the analysis")
            for spec in self.gone
        ]
        origins = self.origins
        return TableReport(
            table=self.facts.name,
            format=self.file_format,
            location=self.facts.storage.location,
            partition_types=self.facts.key_types or None,
            units=[*(unit.report(self._tasks(unit), self.pressure) for unit in self.units), *gone],
            warnings=self.warnings,
            small_file_writers=origins.writers if origins else None,
            files_per_day=origins.files_per_day if origins else None,
            listed_units=origins.listed_units if origins else None,
        )

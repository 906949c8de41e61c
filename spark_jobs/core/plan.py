"""The plan of a table, as a value: an analysis reports it, a dry run prints it, a compaction executes it.

`protocol/planning` creates plans. Nothing here reads the file system or the metastore.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from spark_jobs.core.commit_log.cache import CachedUnit
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.errors import NothingToGain, Refusal
from spark_jobs.core.formats.registry import FORMATS
from spark_jobs.core.health import Health, Thresholds, assess, settled
from spark_jobs.core.model import FileListing, Unit
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.other_writers import WriterRules
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.selection import PartitionSpec
from spark_jobs.core.task_plan import TaskPlan, plan_tasks
from spark_jobs.core.wire import TableReport, UnitReport


@dataclass(frozen=True)
class Inputs:
    """The input of a compaction of one unit: its files, and the figures that determine the number of files to write."""

    files: FileListing
    health: Health


@dataclass(frozen=True)
class UnitPlan:
    """The plan of one unit. FLAGGED units are compacted, all others are left alone.

    Attributes:
        inputs: the listing on which the plan is based; None if it was not needed, or not possible.
        health: the figures of this listing, or of an earlier one (`cached`).
        refusal: why the unit must not be compacted.
        reason: why the unit is FAILED or QUARANTINED, FLAGGED because of an unfinished run, or HEALTHY although its
            files are small.
        cached: figures that a later plan can use instead of listing the unit again.
    """

    unit: Unit
    outcome: UnitOutcome
    inputs: Inputs | None = None
    health: Health | None = None
    refusal: Refusal | None = None
    reason: str | None = None
    cached: CachedUnit | None = None

    @classmethod
    def listed(
        cls, unit: Unit, files: FileListing, health: Health, cached: CachedUnit | None = None
    ) -> UnitPlan:
        """Return the plan of a unit that was listed. It is FLAGGED if its files are small."""
        outcome = UnitOutcome.FLAGGED if health.needs_compaction else UnitOutcome.HEALTHY
        return cls(unit, outcome, Inputs(files, health), health, cached=cached)

    @classmethod
    def healthy(cls, unit: Unit, health: Health, cached: CachedUnit) -> UnitPlan:
        return cls(unit, UnitOutcome.HEALTHY, health=health, cached=cached)

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

    def interrupted(self, reason: str) -> UnitPlan:
        """Return the plan with the unit FLAGGED, whatever its files are, unless it is refused.

        The compaction of the unit recovers the unfinished run first.
        """
        return self if self.refusal else replace(self, outcome=UnitOutcome.FLAGGED, reason=reason)

    @property
    def flagged(self) -> bool:
        return self.outcome == UnitOutcome.FLAGGED

    @property
    def due(self) -> Inputs | None:
        """Return the files to rewrite; None if the unit is not flagged, or has to be recovered first."""
        return self.inputs if self.flagged and self.reason is None else None

    def confirmed(self, files: FileListing, thresholds: Thresholds) -> UnitPlan:
        """Return the plan with the files that the unit has now. Figures of other files are replaced."""
        if self.inputs is not None and self.inputs.files == files:
            return self
        health = assess(files, thresholds)
        return replace(self, inputs=Inputs(files, health), health=health)

    @property
    def fingerprint(self) -> str | None:
        """Return a hash of the listed files, or of those of the earlier listing; None without a listing.

        It changes whenever a file is added, removed or rewritten.
        """
        if self.inputs is not None:
            return self.inputs.files.fingerprint()
        return self.cached.fingerprint if self.cached else None

    def report(self, tasks: TaskPlan | None = None) -> UnitReport:
        """Return the unit's part of the report of an analysis, and how tasks will share its rewrite, if it is known."""
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
        )


@dataclass(frozen=True)
class TablePlan:
    """The plan of one table.

    Attributes:
        gone: the units that were requested and do not exist any more.
        rules: the rules for files of other writers, at the time of the plan.
        slots: the tasks of Spark that can run at the same time; 0 if this is not known.
    """

    facts: TableFacts
    options: Options
    file_format: str
    units: tuple[UnitPlan, ...]
    gone: tuple[PartitionSpec, ...] = ()
    rules: WriterRules = field(default_factory=WriterRules)
    warnings: tuple[str, ...] = ()
    slots: int = 0

    @cached_property
    def flagged(self) -> list[UnitPlan]:
        return [unit for unit in self.units if unit.flagged]

    @property
    def slots_of_a_unit(self) -> int:
        """Return the tasks that run at the same time for one unit, beside others that are written then."""
        return self.slots // max(1, min(self.options.parallelism, len(self.flagged)))

    def _tasks(self, unit: UnitPlan) -> TaskPlan | None:
        """Return how tasks will share a rewrite by Spark's own engine. Footers may show that another one is needed."""
        if unit.due is None or not FORMATS[self.file_format].read_by_spark:
            return None
        health = unit.due.health
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
        return TableReport(
            table=self.facts.name,
            format=self.file_format,
            location=self.facts.storage.location,
            units=[*(unit.report(self._tasks(unit)) for unit in self.units), *gone],
            warnings=self.warnings,
        )

"""What is to be done to a table, as a value: an analysis reports it, a dry run prints it, a compaction carries it out.

Made by `protocol/planning`; nothing here looks at anything.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace

from spark_jobs.core.cache import CachedUnit
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.errors import Refusal
from spark_jobs.core.health import Health, Thresholds, assess
from spark_jobs.core.model import FileListing, Unit
from spark_jobs.core.options import Options
from spark_jobs.core.other_writers import WriterRules
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.selection import PartitionSpec
from spark_jobs.core.wire import TableReport, UnitReport


@dataclass(frozen=True)
class Inputs:
    """What a compaction of one unit would read: its files, and the figures that say how many it writes."""

    files: FileListing
    health: Health


@dataclass(frozen=True)
class UnitPlan:
    """What is to be done to one unit: FLAGGED ones are compacted, all others are left alone.

    Attributes:
        inputs: the listing on which this was decided; None where it was not needed, or not possible.
        health: the figures, of this listing or of an earlier one (`cached`).
        refusal: why the unit may not be compacted.
        reason: of a FLAGGED unit that a run has left unfinished, of a FAILED or a QUARANTINED one.
        cached: what a later plan may rely on instead of listing the unit again.
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
        """Flag the unit if its files are small."""
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

    def interrupted(self, reason: str) -> UnitPlan:
        """Flag the unit whatever its files are: the compaction that takes it up recovers it first."""
        return self if self.refusal else replace(self, outcome=UnitOutcome.FLAGGED, reason=reason)

    @property
    def flagged(self) -> bool:
        return self.outcome == UnitOutcome.FLAGGED

    @property
    def due(self) -> Inputs | None:
        """What there is to rewrite, by this plan alone; None for a unit that has to be recovered first."""
        return self.inputs if self.flagged and self.reason is None else None

    def confirmed(self, files: FileListing, thresholds: Thresholds) -> UnitPlan:
        """Return the plan for the files that the unit holds now: figures of others count for nothing."""
        if self.inputs is not None and self.inputs.files == files:
            return self
        health = assess(files, thresholds)
        return replace(self, inputs=Inputs(files, health), health=health)

    @property
    def fingerprint(self) -> str | None:
        """Of the files that were listed, now or earlier: it changes whenever one is added, removed or rewritten."""
        if self.inputs is not None:
            return self.inputs.files.fingerprint()
        return self.cached.fingerprint if self.cached else None

    def report(self) -> UnitReport:
        """Return the unit's line of an analysis."""
        refusal = self.refusal
        decided = self.outcome in (UnitOutcome.FLAGGED, UnitOutcome.HEALTHY) and self.reason is None
        return UnitReport.of(
            self.unit.to_json(),
            self.outcome,
            self.health,
            code=refusal.code if refusal else None,
            reason=refusal.reason if refusal else self.reason,
            fingerprint=self.fingerprint if decided else None,
        )


@dataclass(frozen=True)
class TablePlan:
    """What is to be done to one table. `gone` are units that were asked for and are not there any more; `rules` say how
    files of other writers are treated, as of the moment of the plan."""

    facts: TableFacts
    options: Options
    file_format: str
    units: tuple[UnitPlan, ...]
    gone: tuple[PartitionSpec, ...] = ()
    rules: WriterRules = field(default_factory=WriterRules)
    warnings: tuple[str, ...] = ()

    @property
    def flagged(self) -> list[UnitPlan]:
        return [unit for unit in self.units if unit.flagged]

    @property
    def cached(self) -> list[CachedUnit]:
        """What a later plan may rely on."""
        return [unit.cached for unit in self.units if unit.cached is not None]

    @property
    def fingerprint(self) -> str:
        """Changes whenever a flagged unit's files do."""
        text = json.dumps([self.facts.name, [[unit.unit.key, unit.fingerprint] for unit in self.flagged]])
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def report(self) -> TableReport:
        """Return the table's part of an analysis, with a line for each unit."""
        gone = [
            UnitReport.of(spec, UnitOutcome.SKIPPED, reason="the partition is gone since the analysis")
            for spec in self.gone
        ]
        return TableReport(
            table=self.facts.name,
            format=self.file_format,
            location=self.facts.storage.location,
            units=[*(unit.report() for unit in self.units), *gone],
            warnings=self.warnings,
        )

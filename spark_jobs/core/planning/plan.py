"""The plan of a table, as a value: an analysis reports it, a dry run prints it, a compaction executes it.

`protocol/planning` creates plans. Nothing here reads the file system or the metastore.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from spark_jobs.core.formats.registry import FORMATS, PARQUET, has_footer
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.options.rewriting import HASH, SPARK
from spark_jobs.core.options.selection import PartitionSpec, text_of
from spark_jobs.core.planning.survey import SurveyedUnit
from spark_jobs.core.planning.task_plan import TaskPlan, plan_tasks
from spark_jobs.core.planning.unit_plan import Inputs, UnitPlan
from spark_jobs.core.records.held import Held
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.rules.file_origins import Origins
from spark_jobs.core.rules.strategy import FULL, Choice, choose
from spark_jobs.core.values.model import FileListing
from spark_jobs.core.values.other_writers import WriterRules
from spark_jobs.core.wire.report import TableReport, UnitReport

#: This many partitions that are not there are named in a warning; the report has a row for each.
_NAMED = 5
_NOT_FOUND = WarningCode.PARTITION_NOT_FOUND.name


def not_found(spec: PartitionSpec) -> str:
    """Return the sentence about a partition that was named, and is not there."""
    return f"the table has no partition {text_of(spec)}"


def all_not_found(specs: Sequence[PartitionSpec]) -> str:
    """Return one sentence about all partitions that were named, and are not there."""
    more = f", nor {len(specs) - _NAMED} others that were named" if len(specs) > _NAMED else ""
    return f"the table has no partition {', '.join(map(text_of, specs[:_NAMED]))}{more}"


@dataclass(frozen=True)
class TablePlan:
    """The plan of one table.

    Attributes:
        gone: the partitions that were named and are not there; a spec may be partial.
        rules: the rules for files of other writers, at the time of the plan.
        slots: the tasks of Spark that can run at the same time; 0 if this is not known.
        pressure: the used part of the fullest namespace quota above the table, from 0 to 1.
        why_full: why no unit is compacted in part, although the options allow it; their strategy is `full` then.
        notes: warnings that a compaction tells too. It ends what other warnings are about.
        canary: the units are the first ones of the job, which have to prove themselves.
        origins: who makes the small files; None in the plan of a compaction.
        reason: why the table has no units, although it seems to have some.
        held: what the ended runs of the table hold, as their closing records say.
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
    why_full: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    canary: bool = False
    held: Held = field(default_factory=Held)

    @cached_property
    def flagged(self) -> list[UnitPlan]:
        return [unit for unit in self.units if unit.flagged]

    @cached_property
    def flagged_files(self) -> int:
        """Return the number of files of all flagged units that were listed. Each unit of a table may ask for it."""
        return sum(unit.amount.files for unit in self.flagged if unit.amount)

    @property
    def by_values(self) -> bool:
        """Tell whether the options ask for a comparison of all values, in place of the figures in footers."""
        return self.options.verify == HASH

    @property
    def hashed(self) -> bool:
        """Tell whether all values are compared. A canary's are, besides the figures in footers."""
        if self.canary:  # guard: canaries_hashed
            return True
        return self.by_values

    @property
    def may_use_arrow(self) -> bool:
        """Tell whether Arrow may write units of the table."""
        return self.options.engine != SPARK and self.file_format == PARQUET

    @property
    def writes_jointly(self) -> bool:
        """Tell whether small units may be written together: their footers must prove each of them.

        The pass that reads a unit computes its hash.
        """
        return has_footer(self.file_format) and not self.hashed

    @cached_property
    def _small(self) -> int:
        """Return the number of units that become one file each. Several of them may be written together."""
        return sum(unit.target_files == 1 for unit in self.flagged)

    @property
    def slots_of_a_unit(self) -> int:
        """Return the tasks that run at the same time for one unit, beside others that are written then."""
        return self.slots // max(1, min(self.options.parallelism, len(self.flagged)))

    def choice(self, files: FileListing) -> Choice:
        """Return which of the files are rewritten and which copied."""
        thresholds = self.options.thresholds()
        return choose(files, thresholds.target, thresholds.large_from, thresholds.strategy)

    def strategy_of(self, inputs: Inputs) -> tuple[str, str | None] | None:
        """Return what is done with the files and why; None where all are rewritten, and nothing else was possible."""
        choice, note = self.choice(inputs.files), inputs.health.note
        if choice.reason or choice.copied.files or note:
            return choice.strategy, choice.reason or note
        least = self.options.thresholds().large_from
        large = any(file.length >= least for file in inputs.files.data)
        return (FULL, self.why_full) if large and self.why_full else None

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
    def surveyed(self) -> list[SurveyedUnit]:
        """Return the figures that a later plan can use."""
        return [unit.surveyed for unit in self.units if unit.surveyed is not None]

    @property
    def fingerprint(self) -> str:
        """Return a hash that changes whenever the files of a flagged unit change."""
        text = json.dumps([self.facts.name, [[unit.unit.key, unit.fingerprint] for unit in self.flagged]])
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def without(self, units: Collection[Mapping[str, str | None]]) -> TablePlan:
        """Return the plan without the units with these partition values."""
        left = tuple(unit for unit in self.units if unit.unit.to_json() not in units)
        return replace(self, units=left)

    def _unit_report(self, unit: UnitPlan) -> UnitReport:
        report = unit.report(self._tasks(unit), self.pressure)
        strategy = self.strategy_of(unit.inputs) if unit.inputs and unit.needs_compaction else None
        return replace(report, strategy=strategy[0], strategy_reason=strategy[1]) if strategy else report

    def report(self) -> TableReport:
        """Return the table's part of the report of an analysis, with a part for each unit."""
        gone = [
            UnitReport.of(spec, UnitOutcome.GONE, code=_NOT_FOUND, reason=not_found(spec))
            for spec in self.gone
        ]
        origins = self.origins
        return TableReport(
            table=self.facts.name,
            reason=self.reason,
            format=self.file_format,
            location=self.facts.storage.location,
            partition_types=self.facts.key_types or None,
            units=[*(self._unit_report(unit) for unit in self.units), *gone],
            warnings=[
                *self.warnings,
                *self.notes,
                *dict.fromkeys(text for unit in self.units for text in unit.warnings),
            ],
            small_file_writers=origins.writers if origins else None,
            files_per_day=origins.files_per_day if origins else None,
            listed_units=origins.listed_units if origins else None,
            **self.held.report(),
        )

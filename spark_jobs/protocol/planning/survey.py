"""The survey of a table: the figures and verdicts of earlier plans, by which unchanged units are not read again.

It decides only what an analysis says. A compaction lists and checks each unit that it touches.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.survey import (
    OF_VALUES,
    SurveyedUnit,
    SurveyedUnits,
    basis,
    known_refusal,
    merged,
)
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.snapshots import BrokenLog
from spark_jobs.core.values.file_times import millis_of
from spark_jobs.protocol.commit_log.hint_directories import ensure_hint_directory
from spark_jobs.protocol.commit_log.publisher import log_of
from spark_jobs.protocol.commit_log.unit_hints import AnalysisStore
from spark_jobs.protocol.planning.access import lasts
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.trust import Trust

log = logging.getLogger("lakekeeper")

#: An analysis creates the home of a table only if its survey then saves this many listings.
_WORTH_A_HOME = 1000


class Survey:
    """The survey of one table. Of a table without partitions, whose listing is one call, it has the verdict only."""

    def __init__(self, table: Table, trust: Trust) -> None:
        self._table = table
        self._log = log_of(table.services.fs, table.facts, table.services.now, table.options.trusted_owners)
        self._analysed = AnalysisStore(table.services.fs, self._log.home, trust)
        self._known: SurveyedUnits = {}

    @property
    def basis(self) -> str:
        """Return what a verdict of this job is based on."""
        options = self._table.options
        environment = self._table.services.environment
        return basis(self._table.facts, options.thresholds(), options.readers, environment)

    def known(self, analysis: bool) -> SurveyedUnits:
        """Return the figures of earlier plans. Without them all units are listed, and the plan is the same.

        Args:
            analysis: also those that the last analysis has kept.
        """
        if not self._table.partitioned:
            return {}
        try:
            published = self._log.survey()
        except (BrokenLog, OSError):
            published = {}
        self._known = _newest(published, self._analysed.read()) if analysis else published
        return self._known

    def keep(self, plan: TablePlan) -> None:
        """Keep what an analysis has found for the next one.

        It is a hint: no lease is needed, because nothing depends on it and each file has a name of its own. An account
        that may not write here analyses too.
        """
        if self._table.partitioned:
            self._keep(plan.surveyed)

    def with_verdicts(self, plan: TablePlan) -> TablePlan:
        """Return the plan of an analysis, with the flagged units refused that were refused with the very same files.

        What only reading the files finds, a compaction finds once. Without this it would be found each night.
        """
        options, due = plan.options, [unit for unit in plan.units if unit.inputs_to_rewrite]
        if not due or options.full_scan:
            return plan
        known = self._known if self._table.partitioned else self._analysed.read()
        if not known:
            return plan
        basis_ = self.basis
        refusals = {
            unit.unit.key: known_refusal(known, unit.unit, unit.fingerprint, basis_, options.verify)
            for unit in due
        }
        units = ((unit, refusals.get(unit.unit.key)) for unit in plan.units)
        return replace(plan, units=tuple(unit.judged(basis_, why) if why else unit for unit, why in units))

    def remember(self, plan: TablePlan, refused: Mapping[str, Refusal]) -> TablePlan:
        """Keep why a compaction has refused units, where this holds until their files change. Return the plan with it.

        Args:
            refused: by unit key, what was found while the unit was inspected or written.
        """
        basis_ = self.basis
        judged = {
            unit.unit.key: self._with_figures(unit).judged(basis_, refusal)
            for unit in plan.units
            if (refusal := refused.get(unit.unit.key)) and refusal.code in OF_VALUES
            if lasts(plan, unit, refusal)
        }
        seen = [unit.surveyed for unit in judged.values() if unit.surveyed is not None]
        if seen:
            self._keep(seen)
        # What the report says of the units is said already.
        units = (
            replace(unit, surveyed=judged[unit.unit.key].surveyed) if unit.unit.key in judged else unit
            for unit in plan.units
        )
        return replace(plan, units=tuple(units))

    def _with_figures(self, unit: UnitPlan) -> UnitPlan:
        """Return the unit with figures to which a verdict can be added; one of a partition was listed with them."""
        if self._table.partitioned or unit.health is None or unit.fingerprint is None:
            return unit
        now = millis_of(self._table.services.now())
        # No time of the directory is known: its files tell whether the verdict holds.
        return replace(unit, surveyed=SurveyedUnit.of(unit.unit, 0, now, True, unit.health, unit.fingerprint))

    def _keep(self, seen: Iterable[SurveyedUnit]) -> None:
        try:
            before = self._analysed.read()
            now = merged(before, seen, {unit.key for unit in self._table.units})
            if now == before:
                return
            worth = len(now) >= _WORTH_A_HOME
            if ensure_hint_directory(self._table.services.fs, self._analysed.directory, worth_a_home=worth):
                self._analysed.publish(now)
        except Exception as error:
            log.info(
                "the next analysis of %s reads all files again: its survey could not be written (%s)",
                self._table.facts.name,
                error,
            )


def _newest(one: SurveyedUnits, other: SurveyedUnits) -> SurveyedUnits:
    """Return the figures of both; where both have a unit, the later listing counts."""
    later = {
        key: surveyed
        for key, surveyed in other.items()
        if key not in one or one[key].listed_at <= surveyed.listed_at
    }
    return {**one, **later}

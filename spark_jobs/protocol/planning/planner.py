"""Plans a table: which units may be compacted, which need it, and why the others do not. Nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spark_jobs.core.formats.layout_properties import ignored_properties
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.selection import PartitionSpec
from spark_jobs.core.planning.decisions import Fail, Leave
from spark_jobs.core.planning.ordering import ordered
from spark_jobs.core.planning.plan import TablePlan, all_not_found
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.held import EndedRun, Held, writing_times
from spark_jobs.core.rules import eligibility
from spark_jobs.core.rules.bucket_files import bucket_warnings
from spark_jobs.core.rules.file_origins import FileOrigins
from spark_jobs.core.rules.overlap import overlapping
from spark_jobs.core.rules.sort_columns import check_sort_columns
from spark_jobs.core.values.ddl import repair
from spark_jobs.core.values.file_times import FutureFiles, millis_of
from spark_jobs.core.values.legacy_leftovers import check_no_backup
from spark_jobs.core.values.model import Unit
from spark_jobs.core.values.other_writers import WriterRules
from spark_jobs.core.wire.report import utc
from spark_jobs.protocol.commit_log.unit_hints import DeferredStore, OpenStore
from spark_jobs.protocol.planning.access import reading
from spark_jobs.protocol.planning.chosen_units import WantedUnits, choose
from spark_jobs.protocol.planning.due_units import DueUnits, Resumed
from spark_jobs.protocol.planning.footer_checks import check_footers, check_grouped_units
from spark_jobs.protocol.planning.hdfs_constraints import check_hdfs_constraints
from spark_jobs.protocol.listed_directories import Directories
from spark_jobs.protocol.planning.survey import Survey
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.planning.unfinished_runs import (
    in_use,
    interrupted,
    missing,
    taken_away,
    unfinished_warning,
    unregistered,
)
from spark_jobs.protocol.planning.unit_planner import UnitPlanner
from spark_jobs.protocol.runs.other_tables import OtherTables
from spark_jobs.protocol.runs.run_finder import TableRuns
from spark_jobs.protocol.runs.trust import Trust

_LISTING_THREADS = 8


class Planner:
    """Plans one table.

    Args:
        wanted: the units to plan, by their partition values; None if the options select them.
        resumed: the run that a compaction resumes.
    """

    def __init__(
        self, table: Table, wanted: WantedUnits | None = None, resumed: Resumed | None = None
    ) -> None:
        self._table = table
        self._services = table.services
        self._wanted = wanted
        self._trust = Trust(table.services.fs, table.root, table.options.trusted_owners)
        self._survey = Survey(table, self._trust)
        self._deferred = DeferredStore.of(table.services.fs, table.facts, self._trust)
        self._open = OpenStore.of(table.services.fs, table.facts, self._trust)
        selected = wanted is not None
        self._due = DueUnits(table, self._trust, self._deferred, selected=selected, resumed=resumed)
        #: What is read later is at least as new as these listings, by which an unchanged directory is recognized.
        self._directories = Directories(table.services.fs.list, table.services.above_tables, table.root)

    def analyze(self) -> TablePlan:
        """Return the plan for a report, and keep what was found for the next analysis.

        Units that have not changed since an earlier analysis are neither listed nor read, also if they are flagged.

        Raises:
            Refusal: the whole table is refused.
        """
        plan = self._plan(analysis=True, footers=True)
        self._survey.keep(plan)
        if self._table.partitioned or any(unit.is_open for unit in plan.units):
            units = {unit.key for unit in self._table.units}
            self._open.note_analysis(plan.units, units, utc(self._services.now()))
        return plan

    def plan(self, *, footers: bool = False) -> TablePlan:
        """Return the plan of a compaction. It has the files of each flagged unit.

        Args:
            footers: read the footers of all flagged units, refuse units that cannot be rewritten, and count who makes
                the small files: it is a plan for a person. A compaction does not need this: it inspects the footers of
                each unit right before it writes the unit. Without it, only units of which all files were written for a
                group are read, so that no run is opened if they cannot have fewer files.

        Raises:
            Refusal: the whole table is refused.
        """
        return self._plan(analysis=False, footers=footers)

    def preview(self) -> TablePlan:
        """Return the plan by listings only. Units that have not changed since an earlier analysis are not listed."""
        with self._services.phases.during("list"):
            return self._plan_by_listings(analysis=True, origins=None)

    def _plan(self, *, analysis: bool, footers: bool) -> TablePlan:
        begun = self._services.now()
        with self._services.phases.during("list"), reading():
            plan = self._plan_by_listings(analysis, self._origins() if footers else None)
        with self._services.phases.during("footers"):
            plan = self._survey.with_verdicts(plan) if analysis else plan
            if footers:
                after = begun if analysis else None
                units = check_footers(self._services, plan, self._survey.basis, listed_after=after)
            else:
                units = check_grouped_units(self._services, plan, self._survey.basis)
            return replace(plan, units=tuple(units))

    def _plan_by_listings(self, analysis: bool, origins: FileOrigins | None) -> TablePlan:
        options = self._table.options
        file_format = eligibility.check_table(self._table.facts, options.bucketing, options.enabled)
        check_sort_columns(self._table.facts, options.sort_columns, file_format)
        self._check_root()  # guard: table_format_marks
        check_no_backup(
            self._table.facts.name, options.backup_prefix, self._table.units
        )  # guard: legacy_backup_tables
        chosen, gone = self._choose()
        future = FutureFiles()
        rules = self._table.writer_rules([self._services.now()], future.add)
        units = self._plan_units(chosen, rules, analysis, origins)
        self._check_single(units, None)
        units, warnings, ended = self._with_unfinished_runs(units)
        if any(unit.flagged for unit in units):
            warnings += ignored_properties(file_format, self._table.facts.properties)
            warnings += bucket_warnings(self._table.facts, options.bucketing)
        units = self._in_order(units, analysis)
        plan = TablePlan(
            self._table.facts,
            options,
            file_format,
            tuple(units),
            tuple(gone),
            rules,
            tuple(warnings),
            self._services.rewriter.slots,
            origins.origins(writing_times(ended)) if origins else None,
            reason=self._not_registered(),
            notes=(
                *([WarningCode.PARTITION_NOT_FOUND.text(all_not_found(gone))] if gone else []),
                *future.warnings(),
                *self._due.warnings,
            ),
        )
        plan = replace(plan, why_full=self._table.why_full, held=Held.of_ended(ended))
        plan = check_hdfs_constraints(self._services, plan)
        self._check_single(plan.units, plan.held)
        return plan

    def _in_order(self, units: Sequence[UnitPlan], analysis: bool) -> list[UnitPlan]:
        """Return the units in the order of their compaction, which is also that in which they share a quota.

        An analysis reports them as they are listed.
        """
        since = self._deferred.read() if any(unit.to_rewrite for unit in units) else {}
        left = self._open.read() if any(unit.is_open for unit in units) else {}
        now = utc(self._services.now())
        marked = [
            replace(unit, deferred_since=since.get(unit.unit.key)).with_open(left.get(unit.unit.key), now)
            for unit in units
        ]
        return marked if analysis else ordered(marked, self._table.options.order)

    def _check_root(self) -> None:
        try:
            names = self._directories(self._table.root).names
        except FileNotFoundError:
            return
        eligibility.check_marks(names, self._table.root)

    def _not_registered(self) -> str | None:
        """Return why a table has no unit, if its root, which is listed already, has directories like partitions."""
        if not self._table.partitioned or self._table.units:
            return None
        try:
            partitions = self._directories(self._table.root).partitions_of(
                self._table.facts.partition_keys[0]
            )
        except FileNotFoundError:
            return None
        if not partitions:
            return None
        return (
            f"{len(partitions)} director{'y' if len(partitions) == 1 else 'ies'} in {self._table.root} look like"
            f" partitions, such as {partitions[0].name}, but the metastore has no partition of the table. To"
            f" register them: {repair(self._table.facts.name)}"
        )

    def _check_single(self, units: Sequence[UnitPlan], held: Held | None) -> None:
        """Raise the refusal of the only unit of a table without partitions: the whole table is refused then.

        Args:
            held: the originals that the table keeps; None if they have not been read yet.
        """
        refusal = units[0].refusal if units and not self._table.partitioned else None
        if refusal is not None:
            refusal.held = held or self._held(units)
            raise refusal

    def _held(self, units: Sequence[UnitPlan]) -> Held | None:
        """Return the originals that a refused table keeps; None if its records cannot be read."""
        try:
            runs = self._runs(units)
            runs.unfinished()
        except (LakekeeperError, OSError):
            return None
        return Held.of_ended(runs.ended)

    def _runs(self, units: Sequence[UnitPlan]) -> TableRuns:
        return TableRuns(
            self._services.fs,
            self._table.facts,
            [unit.unit for unit in units],
            self._table.options.trusted_owners,
        )

    def _choose(self) -> tuple[Sequence[Unit], list[PartitionSpec]]:
        table = self._table
        return choose(self._services.metastore, table.facts, table.options, table.units, self._wanted)

    @property
    def _selects_all(self) -> bool:
        return (
            self._wanted is None
            and self._table.options.partitions is None
            and self._table.options.where is None
        )

    def _origins(self) -> FileOrigins:
        thresholds, now = self._table.options.thresholds(), self._services.now()
        return FileOrigins(thresholds.small_file, millis_of(now))

    def _plan_units(
        self, chosen: Sequence[Unit], rules: WriterRules, analysis: bool, origins: FileOrigins | None
    ) -> list[UnitPlan]:
        planner = UnitPlanner(
            self._table,
            overlapping(self._table.units, self._table.facts),
            self._directories,
            rules,
            self._trust,
            self._due,
            {} if self._table.options.full_scan else self._survey.known(analysis),
            self._survey.basis if analysis else None,
            origins,
        )
        with self._services.pool(_LISTING_THREADS) as pool:
            return planner.plan(chosen, pool)

    def _with_unfinished_runs(
        self, units: Sequence[UnitPlan]
    ) -> tuple[list[UnitPlan], list[str], list[EndedRun]]:
        """Return the units and warnings, with the effect of unfinished runs, and the ended runs.

        A unit that a run has left between the two renames of a swap looks missing or healthy, and must be recovered.
        """
        runs = self._runs(units)
        unfinished, others = runs.unfinished(), OtherTables(self._services, self._table.facts)
        own = [run for run in unfinished if not others.own(run.state.table)]
        other = [run for run in unfinished if run not in own]
        # guard: unregistered_recovered
        lost_units = unregistered(own, self._table.units) if self._selects_all else []
        planned = []
        for unit in [*units, *(UnitPlan(unit, Leave()) for unit in lost_units)]:
            reason = interrupted(own, unit.unit)
            unit = unit.interrupted(reason) if reason else unit
            old = runs.left_in_copies.get(unit.unit.key)
            lost = missing(self._services.fs, unit.unit.location, old) if old else None
            unit = UnitPlan(unit.unit, Fail(lost, quarantined=True)) if lost else unit
            gone = taken_away(self._services.fs, other, unit.unit.location)
            used = in_use(other, unit.unit.location) if unit.flagged else None
            unit = unit.refused(used) if used else unit
            planned.append(UnitPlan(unit.unit, Fail(gone)) if gone else unit)
        unfinished_runs = (WarningCode.RUN_UNFINISHED.text(unfinished_warning(run)) for run in own)
        return planned, [*unfinished_runs, *runs.notes], runs.ended

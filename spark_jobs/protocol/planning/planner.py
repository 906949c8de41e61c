"""Looks at one table: what may be compacted, what needs it, and why not. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from spark_jobs.core import eligibility, selection
from spark_jobs.core.cache import Cache, CachedUnit, find, usable
from spark_jobs.core.commit_log import BrokenLog
from spark_jobs.core.eligibility import Storage, TableFacts
from spark_jobs.core.errors import LakekeeperError, Refusal
from spark_jobs.core.health import Health, Thresholds, assess
from spark_jobs.core.layers import Layers
from spark_jobs.core.layout import ancestors, is_legacy_backup, is_legacy_leftover
from spark_jobs.core.model import Manifest, TableName, Unit, name_of, parent
from spark_jobs.core.options import Options, writer_rules
from spark_jobs.core.other_writers import WriterRules, is_staging
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.overlap import overlapping
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.core.wire import TableReport, UnitReport
from spark_jobs.protocol.commit_log.publisher import log_of
from spark_jobs.protocol.planning.outside_partitions import check_outside, check_server
from spark_jobs.protocol.planning.unfinished_runs import interrupted, missing, unfinished_warning
from spark_jobs.protocol.ports import Status
from spark_jobs.protocol.runs.run_finder import TableRuns
from spark_jobs.protocol.runs.trust import Trust
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import list_unit

_LISTING_THREADS = 8
Listing = Callable[[str], Sequence[Status]]


@dataclass(frozen=True)
class UnitPlan:
    """One unit: its files and health, or why it is left alone."""

    unit: Unit
    manifest: Manifest | None = None
    health: Health | None = None
    refusal: Refusal | None = None
    error: str | None = None
    interrupted: str | None = None
    missing: str | None = None
    seen: CachedUnit | None = None

    @property
    def fingerprint(self) -> str | None:
        if self.manifest is not None:
            return self.manifest.fingerprint()
        return self.seen.fingerprint if self.seen else None

    @property
    def flagged(self) -> bool:
        """An interrupted unit is flagged too: the compaction that takes it up settles it first."""
        small = self.health is not None and self.health.needs_compaction
        return bool(self.interrupted) or (small and self.refusal is None)


@dataclass(frozen=True)
class TablePlan:
    """One table: its facts, its options and its units."""

    facts: TableFacts
    options: Options
    file_format: str
    units: list[UnitPlan]
    gone: list[selection.PartitionSpec] = field(default_factory=list)
    rules: WriterRules = field(default_factory=WriterRules)
    warnings: list[str] = field(default_factory=list)

    def seen(self) -> list[CachedUnit]:
        """What this look found out that a later one may rely on."""
        return [unit.seen for unit in self.units if unit.seen is not None]


def plan(
    services: Services,
    name: TableName,
    layers: Layers,
    wanted: Sequence[Mapping[str, str | None]] | None = None,
) -> TablePlan:
    """All units of the table that the options or `wanted` select; raises Refusal for the table as a whole."""
    facts = services.metastore.table(name)
    options = layers.resolve(str(name), facts.properties)
    file_format = eligibility.check_table(facts, options.bucketing, options.enabled)
    check_server(services.fs, facts.storage.location)
    _check_root(services, facts)  # guard: table_format_marks
    places = services.metastore.units(facts)
    _check_backups(facts, [unit for unit, _ in places])  # guard: legacy_backup_tables
    chosen, gone = _choose(services, facts, options, [unit for unit, _ in places], wanted)
    overlaps = overlapping([unit for unit, _ in places], facts)
    # Ancestors are shared by thousands of partitions: one listing of each will do for a look.
    listing = lru_cache(maxsize=None)(services.fs.list)
    rules = writer_rules(options, services.now())
    known = {} if options.full_scan else _known(services, facts)
    trust = Trust(services.fs, facts.storage.location, options.trusted_owners)
    look = _Look(services, facts, options.thresholds(), overlaps, dict(places), listing, rules, trust, known)
    with services.pool(_LISTING_THREADS) as pool:
        units = list(pool.map(look.at, chosen))
    if not facts.partition_keys and units and units[0].refusal is not None:
        raise units[0].refusal
    runs = TableRuns(services.fs, facts, chosen, options.trusted_owners)
    left = runs.unfinished()
    units = [replace(unit, interrupted=interrupted(left, unit.unit)) for unit in units]
    units = [_look_for_copied(services, unit, runs.left_in_copies.get(unit.unit.key)) for unit in units]
    warnings = [*(unfinished_warning(run) for run in left), *runs.notes]
    return TablePlan(facts, options, file_format, units, gone, rules, warnings)


def _known(services: Services, facts: TableFacts) -> Cache:
    """The figures of earlier looks; without them everything is listed, and nothing else changes."""
    try:
        return log_of(services.fs, facts, services.now).survey() if facts.partition_keys else {}
    except (BrokenLog, OSError):
        return {}


def _check_root(services: Services, facts: TableFacts) -> None:
    try:
        names = [status.name for status in services.fs.list(facts.storage.location)]
    except FileNotFoundError:
        return
    eligibility.check_marks(names, facts.storage.location)


def _check_backups(facts: TableFacts, units: Sequence[Unit]) -> None:
    """A backup table of Lakekeeper 0.0.6 is what its own rollback needs, file for file."""
    for unit in units:
        if is_legacy_backup(unit.location, unit.spec):
            raise Refusal(
                RefusalCode.LEGACY_BACKUP,
                f"{facts.name} reads {unit.location}: originals that Lakekeeper 0.0.6 has kept, which its rollback"
                " puts back as they are; drop the table once they are not needed any more",
            )


def _choose(
    services: Services,
    facts: TableFacts,
    options: Options,
    units: list[Unit],
    wanted: Sequence[Mapping[str, str | None]] | None,
) -> tuple[list[Unit], list[selection.PartitionSpec]]:
    if wanted is not None:
        return selection.pick(units, wanted, facts.partition_keys)
    if options.partitions is not None:
        selection.check_keys(options.partitions, facts.partition_keys, facts.name)
        return selection.select(units, options.partitions, facts.name), []
    if options.where is not None:
        return services.metastore.matching(facts, units, options.where), []
    return units, []


@dataclass(frozen=True)
class _Look:
    """How to look at one unit of this table."""

    services: Services
    facts: TableFacts
    thresholds: Thresholds
    overlaps: Mapping[str, str]
    storages: Mapping[Unit, Storage]
    listing: Listing
    rules: WriterRules
    trust: Trust
    known: Cache = field(default_factory=dict)

    def at(self, unit: Unit) -> UnitPlan:
        """Never raises: one odd unit must not stop the others."""
        try:
            self._check(unit)
            mtime = self._mtime(unit)
            cached = find(self.known, unit, mtime) if mtime is not None else None
            if cached is not None and not cached.health(self.thresholds).needs_compaction:
                return UnitPlan(unit, health=cached.health(self.thresholds), seen=cached)
            manifest = list_unit(self.services.fs, unit.location, self.rules)
            check_writers(self.listing, unit.location, self.facts.storage.location, self.rules)
        except FileNotFoundError:
            return UnitPlan(unit, Manifest(()), assess(Manifest(()), self.thresholds))
        except Refusal as refusal:
            return UnitPlan(unit, refusal=refusal)
        except (OSError, LakekeeperError) as error:
            return UnitPlan(unit, error=str(error))
        health = assess(manifest, self.thresholds)
        return UnitPlan(unit, manifest, health, seen=self._seen(unit, mtime, health, manifest))

    def _mtime(self, unit: Unit) -> int | None:
        """When the directory changed last, by its parent's listing: one call for thousands of partitions."""
        if not self.facts.partition_keys:
            return None
        place = parent(unit.location)
        try:
            return next((s.mtime for s in self.listing(place) if s.path == unit.location), None)
        except FileNotFoundError:
            return None

    def _seen(self, unit: Unit, mtime: int | None, health: Health, manifest: Manifest) -> CachedUnit | None:
        """What is worth remembering. A file that is open for writing shows no length until it is flushed, or its first
        block is full."""
        if mtime is None:
            return None
        closed = all(file.length for file in manifest.data)
        now = int(self.services.now().timestamp() * 1000)
        seen = CachedUnit.of(unit, mtime, now, closed, health, manifest)
        return seen if usable(seen, mtime) else None

    def _check(self, unit: Unit) -> None:
        eligibility.check_place(unit.location)
        what = f"partition {unit} of {self.facts.name}" if unit.spec else f"table {self.facts.name}"
        found = eligibility.check_storage(self.storages[unit], what)
        if found != self.facts.storage.format:  # guard: partition_format
            raise Refusal(
                RefusalCode.SERDE,
                f"partition {unit} is stored as {found}, its table as {self.facts.storage.format}",
            )
        eligibility.check_properties(self.facts, self.storages[unit], what)
        if unit.key in self.overlaps:  # guard: shared_directories
            raise Refusal(RefusalCode.LOCATION_OVERLAP, f"{unit.location} overlaps {self.overlaps[unit.key]}")
        root = self.facts.storage.location
        check_outside(self.services.fs, self.listing, self.trust, unit.location, root)


def check_writers(listing: Listing, location: str, root: str, rules: WriterRules) -> None:
    """Raises Refusal where a writer stages, or another tool left something, between the unit and the table's root.

    Staging that was not touched for a while belongs to a writer that is dead. Beside a table without partitions lie
    other people's folders: a writer's staging there is none of ours.
    """
    for folder in ancestors(location, root):
        if location != root and folder != root:  # guard: table_format_marks_between
            eligibility.check_marks([entry.name for entry in listing(folder)], folder)
        for entry in listing(folder):
            young = rules.dead_before is None or entry.mtime >= rules.dead_before
            if is_staging(entry.name) and location != root and young:  # guard: staging_above_unit
                raise Refusal(
                    RefusalCode.ACTIVE_WRITER, f"{entry.path} belongs to a writer that has not finished"
                )
            if location != root and not entry.is_dir:
                rules.check_summary(entry.path, entry.name)  # guard: summaries_above_unit
            if is_legacy_leftover(entry.name) and entry.name.startswith(name_of(location) + "__"):
                raise Refusal(
                    RefusalCode.LEGACY_LEFTOVER,
                    f"{entry.path} was left by another tool; settle it by hand first",
                )


def _look_for_copied(services: Services, found: UnitPlan, old: str | None) -> UnitPlan:
    reason = missing(services.fs, found.unit.location, old) if old else None
    return UnitPlan(found.unit, missing=reason) if reason else found


def unit_report(found: UnitPlan) -> UnitReport:
    """What an analysis says of a unit."""
    unit = found.unit.to_json()
    if found.refusal is not None:
        return UnitReport.of(
            unit, UnitOutcome.SKIPPED, found.health, code=found.refusal.code, reason=found.refusal.reason
        )
    if found.missing is not None:
        return UnitReport.of(unit, UnitOutcome.QUARANTINED, reason=found.missing)
    if found.interrupted is not None:
        return UnitReport.of(unit, UnitOutcome.FLAGGED, found.health, reason=found.interrupted)
    if found.health is None:
        return UnitReport.of(unit, UnitOutcome.FAILED, reason=found.error)
    outcome = UnitOutcome.FLAGGED if found.flagged else UnitOutcome.HEALTHY
    return UnitReport.of(unit, outcome, found.health, fingerprint=found.fingerprint)


def table_report(found: TablePlan) -> TableReport:
    """The table's part of a report, with a line for each unit that was looked at."""
    gone = [
        UnitReport.of(spec, UnitOutcome.SKIPPED, reason="the partition is gone since the analysis")
        for spec in found.gone
    ]
    return TableReport(
        table=found.facts.name,
        format=found.file_format,
        location=found.facts.storage.location,
        units=[*(unit_report(unit) for unit in found.units), *gone],
        warnings=list(found.warnings),
    )

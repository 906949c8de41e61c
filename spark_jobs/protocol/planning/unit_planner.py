"""Plans one unit: it is listed, unless an earlier listing is still valid, and its file sizes are assessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_jobs.core import eligibility
from spark_jobs.core.commit_log.cache import Cache, CachedUnit, find, usable
from spark_jobs.core.errors import LakekeeperError, Refusal
from spark_jobs.core.health import Health, assess
from spark_jobs.core.model import FileListing, Unit, parent
from spark_jobs.core.other_writers import WriterRules
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.plan import UnitPlan
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.planning.active_writers import ListDirectory, check_writers
from spark_jobs.protocol.planning.outside_partitions import check_outside
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.trust import Trust
from spark_jobs.protocol.swap.directories import list_unit


@dataclass(frozen=True)
class UnitPlanner:
    """The planner of the units of one table.

    Attributes:
        overlaps: by unit key, the other location that overlaps with the unit's location.
        listing: lists a directory above the units, each one only once.
        known: figures of earlier listings.
    """

    table: Table
    overlaps: Mapping[str, str]
    listing: ListDirectory
    rules: WriterRules
    trust: Trust
    known: Cache = field(default_factory=dict)

    def plan(self, unit: Unit) -> UnitPlan:
        """Return the plan of a unit. Errors are part of the plan: one unit must not stop the others."""
        try:
            return self._plan(unit)
        except FileNotFoundError:
            return UnitPlan.listed(
                unit, FileListing(()), assess(FileListing(()), self.table.options.thresholds())
            )
        except Refusal as refusal:
            return UnitPlan(unit, UnitOutcome.SKIPPED, refusal=refusal)
        except (OSError, LakekeeperError) as error:
            return UnitPlan.failed(unit, str(error))

    def _plan(self, unit: Unit) -> UnitPlan:
        self._check(unit)
        thresholds, mtime = self.table.options.thresholds(), self._mtime(unit)
        cached = find(self.known, unit, mtime) if mtime is not None else None
        known = cached.health(thresholds, self.table.options.readers) if cached is not None else None
        if cached is not None and known is not None and not known.needs_compaction:
            return UnitPlan.healthy(unit, known, cached)
        files = list_unit(self.table.services.fs, unit.location, self.rules)
        check_writers(self.listing, unit.location, self.table.root, self.rules)
        health = assess(files, thresholds)
        return UnitPlan.listed(unit, files, health, self._cached(unit, mtime, health, files))

    def _mtime(self, unit: Unit) -> int | None:
        """Return when the directory changed last; None if this is not known.

        It is taken from the listing of its parent: one call for thousands of partitions.
        """
        if not self.table.partitioned:
            return None
        place = parent(unit.location)
        try:
            return next((s.mtime for s in self.listing(place) if s.path == unit.location), None)
        except FileNotFoundError:
            return None

    def _cached(self, unit: Unit, mtime: int | None, health: Health, files: FileListing) -> CachedUnit | None:
        """Return the figures to keep for later plans; None if they cannot be used.

        A file that is open for writing has the length 0 until it is flushed, or its first block is full. So the figures
        of a unit with an empty file may change while its directory does not.
        """
        if mtime is None:
            return None
        closed = all(file.length for file in files.data)
        now = int(self.table.services.now().timestamp() * 1000)
        cached = CachedUnit.of(unit, mtime, now, closed, health, files)
        return cached if usable(cached, mtime) else None

    def _check(self, unit: Unit) -> None:
        facts, storage = self.table.facts, self.table.storages[unit]
        eligibility.check_place(unit.location)
        what = f"partition {unit} of {facts.name}" if unit.spec else f"table {facts.name}"
        found = eligibility.check_storage(storage, what)
        if found != facts.storage.format:  # guard: partition_format
            raise Refusal(
                RefusalCode.SERDE,
                f"partition {unit} is stored as {found}, its table as {facts.storage.format}",
            )
        eligibility.check_properties(facts, storage, what)
        if unit.key in self.overlaps:  # guard: shared_directories
            raise Refusal(RefusalCode.LOCATION_OVERLAP, f"{unit.location} overlaps {self.overlaps[unit.key]}")
        check_outside(self.table.services.fs, self.listing, self.trust, unit.location, self.table.root)

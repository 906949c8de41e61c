"""Plans the units of a table: each is listed, unless an earlier listing is still valid, and its sizes are assessed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning.decisions import Fail, Refuse
from spark_jobs.core.planning.survey import SurveyedUnit, SurveyedUnits, find, usable
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.rules import eligibility
from spark_jobs.core.rules.bucket_files import check_buckets_of_partition, check_no_bucket_files
from spark_jobs.core.rules.due import FileFigures
from spark_jobs.core.rules.file_origins import FileOrigins
from spark_jobs.core.rules.health import assess
from spark_jobs.core.values import legacy_leftovers
from spark_jobs.core.values.amount import Amount
from spark_jobs.core.values.file_times import future_from, millis_of
from spark_jobs.core.values.model import FileListing, Unit, parent
from spark_jobs.core.values.other_writers import WriterRules
from spark_jobs.core.values.path_limits import check_lengths
from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.measuring.progress import with_progress
from spark_jobs.protocol.planning.access import check_no_link, not_readable
from spark_jobs.protocol.planning.active_writers import check_leftovers, check_writers
from spark_jobs.protocol.planning.due_units import DueUnits, judged
from spark_jobs.protocol.listed_directories import Directories
from spark_jobs.protocol.planning.outside_partitions import check_outside
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.ports import Pool
from spark_jobs.protocol.runs.trust import Trust
from spark_jobs.protocol.swap.directories import files_of_unit

#: This many directories are listed with one request to Hadoop's client.
_TOGETHER = 100


@dataclass
class _Work:
    """What is known of one unit so far: when its directory changed last, and its plan.

    `unlisted` means that the plan tells only whether the unit is due. If it is, the unit has to be listed.
    """

    unit: Unit
    mtime: int | None = None
    plan: UnitPlan | None = None
    unlisted: bool = False


@dataclass(frozen=True)
class UnitPlanner:
    """The planner of the units of one table.

    Attributes:
        overlaps: by unit key, the other location that overlaps with the unit's location.
        directories: the directories above the units.
        known: figures of earlier listings.
        basis: the verdicts of earlier analyses that are based on this count; None if all flagged units are listed.
        due: tells which of the units with small files are due.
        origins: counts the files of the units that are listed; None if nobody asks.
    """

    table: Table
    overlaps: Mapping[str, str]
    directories: Directories
    rules: WriterRules
    trust: Trust
    due: DueUnits
    known: SurveyedUnits = field(default_factory=dict)
    basis: str | None = None
    origins: FileOrigins | None = None

    def plan(self, units: Sequence[Unit], pool: Pool) -> list[UnitPlan]:
        """Return the plans of units. Errors are part of the plans: one unit must not stop the others."""
        works = [_Work(unit) for unit in units]
        _all(pool.map(lambda work: self._try(work, self._check), works))
        self._list_parents(_open(works), pool)
        for work in _open(works):
            self._try(work, self._from_earlier)
        self._list_units(_open(works), pool)
        judge = self.due.judge(_plans(works))
        unlisted = [
            work for work in works if work.unlisted and work.plan and judged(work.plan, judge).flagged
        ]
        if unlisted:
            self._list_units(unlisted, pool)
        return [judged(plan, judge) for plan in _plans(works)]

    def _list_units(self, works: Sequence[_Work], pool: Pool) -> None:
        numbers: Iterable[int] = pool.map(self._list_and_plan, _parts(works))
        listed = with_progress(self.table.services.clock, "listed", Amount(len(works)), numbers, Amount)
        _all(listed)

    def _try(self, work: _Work, act: Callable[[_Work], UnitPlan | None]) -> None:
        """Set the plan of a unit, also after an error. It stays open if there is no plan yet."""
        unit = work.unit
        try:
            work.plan = self._or_missing(work, act)
        except Refusal as refusal:
            work.plan = UnitPlan(unit, Refuse(refusal))
        except PermissionError as error:
            work.plan = UnitPlan(unit, Refuse(not_readable(error)))
        except (OSError, LakekeeperError) as error:
            work.plan = UnitPlan(unit, Fail(str(error)))

    @cached_property
    def _locations(self) -> frozenset[str]:
        return frozenset(unit.location for unit in self.table.units)

    def _or_missing(self, work: _Work, act: Callable[[_Work], UnitPlan | None]) -> UnitPlan | None:
        """Return what `act` returns; for a unit without a directory, the plan of no files."""
        try:
            return act(work)
        except FileNotFoundError:
            with suppress(FileNotFoundError):
                check_leftovers(self.directories, work.unit.location, self.rules)
            nothing = FileListing(())
            return UnitPlan.listed(work.unit, nothing, assess(nothing, self.table.options.thresholds()))

    def _list_parents(self, works: Iterable[_Work], pool: Pool) -> None:
        """List the directories that contain units, if figures may be known. After an error they are listed again."""
        paths = dict.fromkeys(parent(work.unit.location) for work in works if self.table.partitioned)
        lacking = [path for path in paths if path not in self.directories]
        for part, listings in zip(_parts(lacking), pool.map(self._list, _parts(lacking))):
            for path, entries in zip(part, listings):
                if not isinstance(entries, OSError):
                    self.directories.add(path, entries)

    def _list(self, paths: Sequence[str]) -> list[Sequence[Status] | OSError]:
        return list(self.table.services.fs.list_each(paths))

    def _from_earlier(self, work: _Work) -> UnitPlan | None:
        """Return the plan by figures that are still valid; None if the unit has to be listed."""
        unit, options = work.unit, self.table.options
        work.mtime = self._mtime(unit)
        surveyed = find(self.known, unit, work.mtime) if work.mtime is not None else None
        if surveyed is None:
            return None
        thresholds, readers = options.thresholds(), options.readers
        health = surveyed.health(thresholds, readers)
        if not surveyed.decides(thresholds, readers):
            return None
        if not health.needs_compaction:
            return UnitPlan.known(unit, health, surveyed)
        unread = surveyed.verdict is None or not surveyed.verdict.holds(self.basis, options.verify)
        if not self.due.can_judge(surveyed.figures) or (unread and not self.due.conditions.given):
            return None
        check_writers(self.directories, unit.location, self.table.root, self.rules)
        # A link shows the time of where it leads to: that of a directory which was moved there is known.
        check_no_link(self.directories, unit.location)  # guard: known_units_are_no_links
        work.unlisted = unread
        plan = UnitPlan.known(unit, health, surveyed.judge(None) if unread else surveyed)
        return replace(plan, surveyed=surveyed)

    def _mtime(self, unit: Unit) -> int | None:
        """Return when the directory changed last; None if this is not known.

        It is taken from the listing of its parent: one call for thousands of partitions.
        """
        if not self.table.partitioned:
            return None
        try:
            entry = self.directories(parent(unit.location)).by_path.get(unit.location)
        except FileNotFoundError:
            return None
        return entry.mtime if entry else None

    def _list_and_plan(self, works: Sequence[_Work]) -> int:
        """List units and set their plans. Return how many they are."""
        listings = self.table.services.fs.list_each([work.unit.location for work in works])
        for work, entries in zip(works, listings):
            self._try(work, lambda work, entries=entries: self._plan(work, entries))  # type: ignore[misc]
        return len(works)

    def _plan(self, work: _Work, entries: Sequence[Status] | OSError) -> UnitPlan:
        if isinstance(entries, OSError):
            raise entries
        unit = work.unit
        if self.origins is not None:
            self.origins.add_unit(entry for entry in entries if not entry.is_dir)
        files = files_of_unit(self.table.services.fs, unit.location, entries, self.rules)
        check_writers(self.directories, unit.location, self.table.root, self.rules)
        check_no_link(self.directories, unit.location)
        facts, options = self.table.facts, self.table.options
        health = assess(files, options.thresholds())
        plan = UnitPlan.listed(unit, files, health, _replication(files, entries))
        plan = replace(plan, surveyed=self._surveyed(plan, work.mtime, files))
        try:
            if plan.flagged:
                check_no_bucket_files(facts, options.bucketing, [file.name for file in files.data])
        except Refusal as refusal:
            return plan.judged(self.basis, refusal) if self.basis else plan.refused(refusal)
        return plan

    def _surveyed(self, plan: UnitPlan, mtime: int | None, files: FileListing) -> SurveyedUnit | None:
        """Return the figures to keep for later plans; None if they cannot be used.

        A file that is open for writing has the length 0 until it is flushed, or its first block is full. So the figures
        of a unit with an empty file may change while its directory does not.
        """
        if mtime is None or plan.health is None or plan.fingerprint is None:
            return None
        closed = all(file.length for file in files.data)
        now = self.table.services.now()
        large_from = self.table.options.thresholds().large_from
        figures = FileFigures.of(files, plan.health.threshold, future_from(now), large_from)
        surveyed = SurveyedUnit.of(
            plan.unit, mtime, millis_of(now), closed, plan.health, plan.fingerprint, figures
        )
        return surveyed if usable(surveyed, mtime) else None

    def _check(self, work: _Work) -> None:
        """Raise Refusal for a unit that is not looked at, because of what the metastore has of it."""
        unit, facts, storage = work.unit, self.table.facts, self.table.storages[work.unit]
        eligibility.check_place(unit.location)
        eligibility.check_literal(unit.location)
        legacy_leftovers.check_not_of(unit, self._locations)
        what = f"partition {unit} of {facts.name}" if unit.spec else f"table {facts.name}"
        file_format = eligibility.check_storage(storage, what)
        if file_format != facts.storage.format:  # guard: partition_format
            raise Refusal(
                RefusalCode.SERDE,
                f"partition {unit} is stored as {file_format}, its table as {facts.storage.format}",
            )
        check_buckets_of_partition(facts, self.table.options.bucketing, storage, what)
        eligibility.check_properties(facts, storage, what)
        if unit.key in self.overlaps:  # guard: shared_directories
            raise Refusal(RefusalCode.LOCATION_OVERLAP, f"{unit.location} overlaps {self.overlaps[unit.key]}")
        check_lengths(self.table.root, unit.location)
        check_outside(self.table.services.fs, self.directories, self.trust, unit.location, self.table.root)


def _replication(files: FileListing, entries: Sequence[Status]) -> int | None:
    """Return the replication of the first data file."""
    first = files.data[0].name if files.data else None
    return next((entry.replication for entry in entries if entry.name == first), None)


def _open(works: Iterable[_Work]) -> list[_Work]:
    return [work for work in works if work.plan is None]


def _plans(works: Iterable[_Work]) -> list[UnitPlan]:
    return [work.plan for work in works if work.plan is not None]


def _parts(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Return the items in parts that are listed together."""
    return (items[start : start + _TOGETHER] for start in range(0, len(items), _TOGETHER))


def _all(results: Iterable[object]) -> None:
    """Wait for all results. Raise the first error."""
    for _ in results:
        continue

"""The journals, directories and leases of a table's homes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.errors import LakekeeperError, OtherVersion
from spark_jobs.core.messages.remedies import hdfs, verbs
from spark_jobs.core.messages.remedies.runs import without_run
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal_bounds import check_units
from spark_jobs.core.records.swap_state import SwapState
from spark_jobs.core.values import ddl
from spark_jobs.core.values.file_times import future_from, millis_of, time_of
from spark_jobs.core.values.layout import RECORDS, SETTLED, Home, RunDirectory, is_below
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.core.wire.report import utc
from spark_jobs.protocol.checking.scope import Scope, UnitOfRun
from spark_jobs.protocol.file_system import FileSystem, Status
from spark_jobs.protocol.planning.dropped_table import DroppedTable, named, placeholder
from spark_jobs.protocol.planning.outside_partitions import check_units_outside
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.planning.unfinished_runs import unfinished_warning
from spark_jobs.protocol.runs.abandoned import other_content
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.lease_files import held_lease
from spark_jobs.protocol.runs.other_tables import OtherTables
from spark_jobs.protocol.runs.run_finder import TableRuns, homes
from spark_jobs.protocol.runs.trust import Trust
from spark_jobs.protocol.runs.unreadable import Remains, remains_in
from spark_jobs.protocol.services import Services

#: States in which a writer has recreated the live directory, and only the table property `lakekeeper.writers` decides.
_RECREATED = (SwapState.FOREIGN_LIVE_IN_GAP, SwapState.FOREIGN_LIVE_AND_ASIDE)


class ReadableRuns(TableRuns):
    """The runs of a table whose journals can be read. One that cannot does not hide the others: it is a finding."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.services.fs, table.facts, table.units, table.options.trusted_owners)
        self._checked = table
        self._others = OtherTables(table.services, table.facts)
        #: By path, why a run's directory or a home cannot be read.
        self.unreadable: dict[str, Exception] = {}
        #: The runs of other tables at the same location.
        self.of_others: list[Run] = []

    @property
    def copies(self) -> dict[str, str]:
        """Return what a person should know of runs that came with a copy, by the paths of their directories."""
        return dict(self._copied)

    def own(self) -> list[Run]:
        """Return every readable run of this table, oldest first. The record of settled runs is read, too."""
        runs = self.all()
        try:
            self.settled_store.read()
        except (LakekeeperError, OSError) as error:
            if parent(self.settled_store.directory) not in self.unreadable:
                self.unreadable[self.settled_store.directory] = error
        self.of_others = [run for run in runs if self._others.own(run.state.table)]
        return [run for run in runs if run not in self.of_others and self._is_within(run)]

    @cached_property
    def left(self) -> Mapping[str, Remains]:
        """Return what the runs that cannot be read hold of the table, by their directories. Call `own` before."""
        fs, locations = self._checked.services.fs, {unit.location for unit in self._checked.units}
        directories = [path for path in self.unreadable if RunDirectory.parse(name_of(path))]
        return {path: _remains_in(fs, path, locations) for path in directories}

    def only_originals(self) -> dict[str, str]:
        """Return the only originals in runs that cannot be read, by the path of the missing live directory."""
        return {live: old for left in self.left.values() for live, old in left.originals.items()}

    def unknown_ids(self) -> frozenset[str]:
        """Return the ids of runs of which nothing is known."""
        paths = [*self.unreadable, *self.copies, *self.without_records]
        parsed = (RunDirectory.parse(name_of(path)) for path in paths)
        return frozenset(directory.run_id for directory in parsed if directory)

    def _directories(self, home: str) -> list[tuple[Status, str | None]]:
        try:
            return super()._directories(home)
        except (LakekeeperError, OSError) as error:
            self.unreadable[home] = error
            self.homes.append(home)
            return []

    def _run(self, directory: Status, identity: str | None) -> Run | None:
        try:
            return super()._run(directory, identity)
        except (LakekeeperError, OSError) as error:
            self.unreadable[directory.path] = error
            return None

    def _is_within(self, run: Run) -> bool:
        """Return whether a run names only directories that are units of the table and belong to trusted accounts."""
        table = self._checked
        if not table.partitioned:
            return True
        places = {unit.location for unit in table.units}
        trust = Trust(table.services.fs, table.root, table.options.trusted_owners)
        try:
            check_units(run.state, table.root, table.facts.partition_keys, places)
            check_units_outside(table.services.fs, run, table.root, places, trust)
        except (LakekeeperError, OSError) as error:
            self.unreadable[run.directory] = error
            return False
        return True


def check_versions(runs: ReadableRuns) -> Iterator[Finding]:
    """Find homes and records of another version. Call `own` of the runs before."""
    for path, error in runs.unreadable.items():
        if isinstance(error, OtherVersion):
            yield Finding(DamageCode.OTHER_VERSION, path, str(error))


def check_journals(runs: ReadableRuns) -> Iterator[Finding]:
    """Find journals that cannot be read, directories without a journal, and journals that came with a copy."""
    for path, error in runs.unreadable.items():
        known = RunDirectory.parse(name_of(path))
        records = known is not None or name_of(path) == SETTLED
        code = DamageCode.JOURNAL_UNREADABLE if records else DamageCode.NOT_CHECKED
        left = runs.left.get(path, Remains())
        command = _command(error, path, left) if records else getattr(error, "command", None)
        yield Finding(code, path, str(error), command, run_id=known.run_id if known else None)
    for path, text in runs.copies.items():
        # A copy that was taken between the renames of a swap may have the only rows of a unit.
        rows = any(is_below(old, path) for old in runs.left_in_copies.values())
        command = hdfs.move_away(path) if rows else hdfs.delete(path)
        yield Finding(DamageCode.JOURNAL_OF_COPY, path, text, command)


def _command(error: Exception, path: str, left: Remains) -> str:
    """Return what makes a run readable; else what puts back the files that only it has, and moves it away."""
    own = getattr(error, "command", None)
    return own or without_run(path, left.originals, left.unclear)


def _remains_in(fs: FileSystem, directory: str, locations: set[str]) -> Remains:
    try:
        return remains_in(fs, directory, locations)
    except OSError:
        return Remains()  # Why the run cannot be read is a finding of its own.


def check_directories(scope: Scope, directories: Iterable[Status]) -> Iterator[Finding]:
    """Judge the directories without a record."""
    for directory in directories:
        path = directory.path
        try:
            other = other_content(scope.services.fs, path)
        except OSError as error:
            yield Finding(DamageCode.NOT_CHECKED, path, str(error))
            continue
        if other:
            text = f"{path} has no journal, but holds {other}: originals may be in it"
            yield Finding(DamageCode.JOURNAL_MISSING, path, text, hdfs.move_away(path))
        else:
            text = (
                f"{path} has no journal, and nothing in it was ever live; the next job deletes it once it is older"
                " than staging_ttl"
            )
            yield Finding(DamageCode.FOLDER_ABANDONED, path, text, scope.recovery())


def check_unfinished(scope: Scope) -> Iterator[Finding]:
    """Find runs that have not ended, and swaps that no job can finish by itself."""
    for run in scope.runs:
        interrupted = [UnitOfRun(run, state) for state in run.state.of_kind(*journal.INTENTS)]
        states = [(unit, unit.paths(scope.services).look()) for unit in interrupted]
        stuck = [(unit, state) for unit, state in states if _needs_person(scope, unit, state)]
        for unit, state in stuck:
            yield _undecided(scope, unit, state)
        claimed = run.state.of_kind(journal.CLEANUP_CLAIMED)
        if run.state.entered or claimed or len(states) > len(stuck):
            text, command = unfinished_warning(run), scope.recovery()
            if claimed and not run.state.unfinished:
                text = f"a cleanup has claimed originals of run {run.run_id} and not deleted them"
                command = f"{verbs.cleanup(scope.table.target)} with its retention, or {scope.rollback(run)}"
            yield Finding(DamageCode.RUN_UNFINISHED, run.directory, text, command, run_id=run.run_id)


def _needs_person(scope: Scope, unit: UnitOfRun, state: SwapState) -> bool:
    unknown_writers = scope.table.options.writers is None
    return not unit.has_rule(scope.services, state) or (unknown_writers and state in _RECREATED)


def _undecided(scope: Scope, unit: UnitOfRun, state: SwapState) -> Finding:
    paths = unit.paths(scope.services)
    command = scope.forget(unit.run)
    if unit.has_rule(scope.services, state):
        # All files are kept; which of the directories is the table's content is for its owner to say.
        command = (
            f"{verbs.cleanup(scope.table.target)} --writers append, or overwrite"
            if scope.table.dropped
            else f"{ddl.set_property(scope.name, 'lakekeeper.writers', 'append')}, or 'overwrite'"
        )
    return unit.finding(DamageCode.SWAP_UNDECIDED, paths.live, str(paths.explain(state)), command)


def all_homes(scope: Scope) -> list[str]:
    """Return the homes of the table, and those of its runs."""
    paths = [home.path for home in homes(scope.table.facts, scope.table.units)]
    return list(dict.fromkeys([*paths, *(parent(run.directory) for run in scope.runs)]))


def check_leases(scope: Scope, note_job: Callable[[str], object]) -> Iterator[Finding]:
    """Find leases whose job has died.

    Args:
        note_job: called with the path of each lease that was renewed just now.
    """
    time = scope.services.now()
    now = millis_of(time)
    timeout = scope.table.options.lease_timeout.total_seconds() * 1000
    for home in all_homes(scope):
        try:
            held = held_lease(scope.services.fs, home)
        except OSError as error:
            yield Finding(DamageCode.NOT_CHECKED, home, str(error))
            continue
        if held is None:
            continue
        path, renewed = held
        # The clocks of two machines may differ. This is a notice, and decides nothing.
        if now - renewed <= 2 * timeout and renewed < future_from(time):
            note_job(path)
            continue
        when = f"{int((now - renewed) / 1000)} s ago" if renewed <= now else f"at {utc(time_of(renewed))}"
        text = f"{path} was last renewed {when}: its job has died, and the next one takes it over"
        yield Finding(DamageCode.LEASE_STALE, path, text)


def marks(table: Table) -> list[tuple[str, int]]:
    """Return what changes whenever a job works on the table: its leases, run directories and numbers of records."""
    fs = table.services.fs
    seen: list[tuple[str, int]] = []
    for home in homes(table.facts, table.units):
        entries = _entries(fs, home.path)
        seen += [(entry.path, 0) for entry in entries]
        directories = [entry for entry in entries if entry.is_dir and RunDirectory.parse(entry.name)]
        seen += [
            (directory.path, len(_entries(fs, f"{directory.path}/{RECORDS}"))) for directory in directories
        ]
    return sorted(seen)


def _entries(fs: FileSystem, directory: str) -> Sequence[Status]:
    try:
        return fs.list(directory)
    except OSError:
        return []


def readable_tables(services: Services, layers: Layers, location: str) -> list[DroppedTable]:
    """Return the dropped tables whose root was at a location: at most one with partitions, and one without."""
    tables = []
    for keys in (("partition",), ()):
        if services.fs.status(Home.of_table(location, bool(keys)).path) is None:
            continue
        table = placeholder(services, layers, location, keys)
        tables.append(named(table, ReadableRuns(table).all()))
    return tables

"""Finds the runs of a table in all its homes, and tells them from runs that came with a copy of a directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from spark_jobs.core.messages.errors import OutOfPlace, Refusal, UnreadableRun, Unsafe
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies import runs
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.records.held import EndedRun
from spark_jobs.core.records.journal import INTENTS, Record
from spark_jobs.core.records.journal_bounds import ClosingRecord, server_of
from spark_jobs.core.records.settled_runs import SettledRun
from spark_jobs.core.rules.eligibility import TableFacts, may_have_runs
from spark_jobs.core.values.layout import Home, RunDirectory, is_home_of_one_directory
from spark_jobs.core.values.model import Unit, name_of, parent
from spark_jobs.protocol.file_system import FileSystem, Status
from spark_jobs.protocol.runs.home_format import check_format
from spark_jobs.protocol.runs.journal_store import Journal, JournalCaches, Run
from spark_jobs.protocol.runs.settled_store import SettledStore
from spark_jobs.protocol.runs.trust import RunDirectoryTrust, Trust


def homes(facts: TableFacts, units: Iterable[Unit]) -> list[Home]:
    """Return the table's own home, and then those of partitions outside its root.

    If the root is not on a local disk, homes on local disks are left out: there, the owner of a journal is unknown.
    Partitions on object stores have none.
    """
    root = facts.storage.location
    local = root.startswith("file:")
    places = [unit.location for unit in units if may_have_runs(unit.location)]
    every = [
        Home.of_table(root, bool(facts.partition_keys)),
        *(Home.of(root, place) for place in places if local or not place.startswith("file:")),
    ]
    return list(dict.fromkeys(every))


class TableRuns:
    """The runs of one table.

    They are in the homes of its units, and in the homes that a journal names: a partition may be dropped while its
    directory is between two renames.

    A run came with a copy (distcp, a snapshot) if its home, or its own directory, is not the one that it was written
    in. Its identities are those of other directories. So it is ignored, and `notes` has a warning.
    """

    def __init__(
        self,
        fs: FileSystem,
        facts: TableFacts,
        units: Iterable[Unit],
        trusted_owners: Sequence[str] = (),
        caches: JournalCaches | None = None,
    ) -> None:
        self._fs = fs
        self._caches = JournalCaches() if caches is None else caches
        self._table = facts.name
        self._location = facts.storage.location
        self._homes = [home.path for home in homes(facts, units)]
        self._trust = Trust(fs, self._location, trusted_owners)
        self._trust_outside = Trust(fs, None, trusted_owners)  # guard: root_owner_outside
        #: The record in the table's own home. It also covers its runs that have directories in other homes.
        self.settled_store = SettledStore(fs, self._homes[0], self._trust)
        self._copied: dict[str, str] = {}
        #: By unit key, the path of its originals if they were copied between the renames of a swap.
        self.left_in_copies: dict[str, str] = {}
        #: The homes that exist, as far as they were looked at.
        self.homes: list[str] = []
        #: The ended runs that `unfinished` has found.
        self.ended: list[EndedRun] = []
        #: Run directories without a record, by path: of a run that is being opened, or created again by late tasks.
        self.without_records: dict[str, Status] = {}

    @property
    def notes(self) -> list[str]:
        """Return warnings about runs that do not belong to this table, and about settled runs."""
        return [*self._copied.values(), *self.settled_store.notes]

    def all(self) -> list[Run]:
        """Return all runs, the oldest first."""
        paths = list(self._homes)
        runs: dict[str, Run] = {}
        while paths:
            path = paths.pop()
            for run in self._in(path):
                if run.directory not in runs:
                    runs[run.directory] = run
                    paths.extend(home for home in self._followed(run.state.homes) if home != path)
        return _oldest_first(runs.values())

    def settled(self, runs: Iterable[Run]) -> list[SettledRun]:
        """Return the settled runs whose directories are deleted, oldest first.

        Args:
            runs: all runs that have directories, read before this call. A run that has both a directory and an entry
                in the record counts by its journal: a job may have died, or been fenced off, after it had published
                the record and before it had moved the directory away.
        """
        own = [run for run in self.settled_store.read().runs if run.is_of(self._table, self._location)]
        ids = {run.run_id for run in own}
        present = {run.state.directory_id for run in runs if run.run_id in ids}
        return sorted((run for run in own if run.directory_id not in present), key=lambda run: run.started)

    def unfinished(self) -> list[Run]:
        """Return the unfinished runs. Of a finished run only the last record is read."""
        paths = sorted(set(self._homes))
        runs: list[Run] = []
        for path in paths:
            for directory, identity in self._directories(path):
                named = self._followed(self._add_unfinished(directory, identity, runs))
                paths += sorted(set(named) - set(paths))
        return _oldest_first(run for run in runs if run.is_of(self._table, self._location))

    def _in(self, home: str) -> list[Run]:
        runs = [self._run(directory, identity) for directory, identity in self._directories(home)]
        return [run for run in runs if run is not None and run.is_of(self._table, self._location)]

    def _journal(self, directory: Status) -> Journal:
        trust = RunDirectoryTrust(self._trust_in(parent(directory.path)), directory)
        return Journal(self._fs, directory.path, trust, cache=self._caches[directory.path])

    def _trust_in(self, home: str) -> Trust:
        return self._trust if home == self._homes[0] else self._trust_outside

    def _followed(self, homes: Iterable[str]) -> list[str]:
        """Return the named homes that may be followed: homes of one directory, on the server of the root.

        The home of a root holds the runs of all partitions below it. It is read for its own root only, so that no
        journal leads to another table.
        """
        server = server_of(self._location)
        # guard: homes_of_one_directory
        return [
            home for home in homes if is_home_of_one_directory(name_of(home)) and server_of(home) == server
        ]

    def _directories(self, home: str) -> list[tuple[Status, str | None]]:
        """Return the run directories in a home, and the identity of the home. Raise Refusal for any other home."""
        try:
            entries = self._fs.list(home)
        except FileNotFoundError:
            return []
        self.homes.append(home)
        if any(entry.path == home for entry in entries):  # The listing of a file has only the file itself.
            found = OutOfPlace(home, "a file, and not the directory in which the jobs keep their journals")
            raise Refusal(RefusalCode.NOT_WRITABLE, str(found), found.command)  # guard: home_is_a_directory
        check_format(self._fs, home, entries)
        directories = [entry for entry in entries if entry.is_dir and RunDirectory.parse(entry.name)]
        identity = self._fs.identity(home) if directories else None
        return [(directory, identity) for directory in directories]

    def _add_unfinished(self, directory: Status, identity: str | None, runs: list[Run]) -> Sequence[str]:
        """Add the run to `runs` if it is unfinished. Return the homes that it names."""
        try:
            with _readable(directory.path):
                last = self._journal(directory).last()
                closing = ClosingRecord.of(last, parent(directory.path)) if last else None
        except FileNotFoundError:
            self.without_records[directory.path] = directory
            return ()
        if closing and not closing.has_open_intent:
            if closing.home_id != identity:  # guard: copied_closing
                self._note(directory.path)
                return ()
            self._add_ended(directory, last)
            return closing.homes  # guard: homes_by_journal
        run = self._run(directory, identity)
        if run is not None and run.state.unfinished:
            runs.append(run)
        return run.state.homes if run else ()

    def _add_ended(self, directory: Status, last: Record | None) -> None:
        parsed = RunDirectory.parse(directory.name)
        ended = EndedRun.of(parsed.run_id, directory.owner, last) if parsed and last else None
        self.ended += [ended] if ended and ended.is_of(self._table, self._location) else []

    def _run(self, directory: Status, identity: str | None) -> Run | None:
        """Return the run in a directory; None if it has no record yet, or came with a copy."""
        journal_ = self._journal(directory)
        try:
            with _readable(directory.path):
                state = journal_.state()
        except FileNotFoundError:
            self.without_records[directory.path] = directory
            return None
        if state is None:
            self.without_records[directory.path] = directory
            return None
        parsed = RunDirectory.parse(directory.name)
        assert parsed is not None, directory  # noqa: S101 - for mypy: found by such a name
        run = Run(parsed.run_id, directory.path, journal_, state)
        if not self._written_here(run, identity):  # guard: copied_run
            self._note(directory.path, [run.path(unit.swap.old) for unit in state.of_kind(*INTENTS)])
            self.left_in_copies.update(
                {u.swap.unit.key: run.path(u.swap.old) for u in state.of_kind(*INTENTS)}
            )
            return None
        return run

    def _written_here(self, run: Run, identity: str | None) -> bool:
        """Tell whether the run was written in this home and in this directory."""
        return run.state.home_id == identity and run.state.directory_id == self._fs.identity(run.directory)

    def _note(self, directory: str, open_units: Sequence[str] = ()) -> None:
        self._copied[directory] = WarningCode.JOURNAL_OF_COPY.text(
            f"{directory} came here with a copy of another directory: its journal describes other directories, and is"
            f" ignored. {runs.of_copy(directory, open_units)}"
        )


@contextmanager
def _readable(directory: str) -> Iterator[None]:
    """Name the run's directory in the error if its journal cannot be read."""
    try:
        yield
    except Unsafe as error:
        raise UnreadableRun(str(error), directory) from None


def _oldest_first(runs: Iterable[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: run.state.started)

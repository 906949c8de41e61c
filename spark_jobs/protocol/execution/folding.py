"""The folding of settled runs: what answers need of them goes into one record, and their directories are deleted.

It is the last act of a compaction and of a cleanup, under their leases. It changes no outcome: whatever fails is a
warning, and the next job tries again.

The order is what makes it safe. A run is entered first, so that a job that takes this one over renames the run's
directory. The record is published before any directory is moved away, and while a directory is there its journal
counts. Snapshots of the commit log are deleted last, and only of runs that have no directory any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from spark_jobs.core.messages.errors import LeaseLost
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.records.change import changes_of
from spark_jobs.core.records.history import of_table
from spark_jobs.core.records.settled_runs import SettledRun, is_settled
from spark_jobs.core.records.snapshots import Snapshot
from spark_jobs.core.values.layout import SETTLED
from spark_jobs.core.values.model import parent
from spark_jobs.protocol.commit_log.publisher import log_of
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.runs.journal_store import Run, leave
from spark_jobs.protocol.runs.run_finder import homes
from spark_jobs.protocol.runs.run_lifecycle import close_to_others, enter
from spark_jobs.protocol.runs.settled_directories import delete_moved, holds_only_records, move_away

#: A run is folded this long after its last record. Its answers stay the same, so that nobody needs to choose this time;
#: it is far longer than a call of a dead job can be late, or an attempt to publish a snapshot can take.
FOLD_AFTER = timedelta(days=1)
#: The most runs that one job folds, so that a home with years of runs delays no job for long.
_RUNS_PER_JOB = 50


def fold_settled_runs(session: TableSession) -> list[str]:
    """Fold the settled runs of a table whose homes this job has leases on. Return warnings, and never raise."""
    folding = Folding(session)
    try:
        folding.run()
    except Exception as error:
        folding.warnings.append(
            WarningCode.RUN_NOT_FOLDED.text(
                f"the records of old runs could not be made one file ({error}); nothing depends on it, and the next job"
                " tries again"
            )
        )
    return folding.warnings


class Folding:
    """The folding of one table's settled runs."""

    def __init__(self, session: TableSession) -> None:
        self.warnings: list[str] = []
        self._session = session
        self._fs = session.services.fs
        self._home = homes(session.facts, [])[0].path
        self._log = log_of(self._fs, session.facts, session.services.now, session.options.trusted_owners)

    def run(self) -> None:
        if not self._session.leases.holds(self._home):
            return
        self._session.leases.check()
        runs = self._session.runs()
        due = self._due(runs)
        if due:
            self._fold(due, runs)
        for home in self._held_homes(runs):
            self.warnings += delete_moved(self._fs, home)
        if due:
            self._expire_snapshots()

    def _held_homes(self, runs: Sequence[Run]) -> list[str]:
        known = {home.path for home in homes(self._session.facts, self._session.units)}
        known |= {parent(run.directory) for run in runs}
        return sorted(home for home in known if self._session.leases.holds(home))

    def _due(self, runs: Sequence[Run]) -> list[list[Run]]:
        """Return the directories of the runs to fold, by run, oldest first."""
        return [group for group in _by_run(runs).values() if self._is_due(group)][:_RUNS_PER_JOB]

    def _is_due(self, group: Sequence[Run]) -> bool:
        """Tell whether a run is to be folded. It is folded as a whole, in all its homes, or not at all."""
        if not all(is_settled(run.state) for run in group):
            return False
        leases = self._session.leases
        if not all(leases.holds(parent(run.directory)) for run in group):
            return False
        if not all(self._is_old(run.journal.newest().at) for run in group):
            return False
        return all(holds_only_records(self._fs, run.directory) for run in group)  # guard: files_not_folded

    def _is_old(self, at: datetime) -> bool:
        now = self._session.leases.taken()
        return now is not None and now - at >= FOLD_AFTER  # guard: fold_age

    def _fold(self, due: Sequence[Sequence[Run]], runs: Sequence[Run]) -> None:
        self._prepare([run for group in due for run in group])
        entered = [run for group in due for run in self._enter(group)]
        try:
            self._publish(entered, runs)  # guard: record_before_move
        except Exception:
            # No directory was moved yet, so that no late call can take one away from the next job.
            self._leave(entered)
            raise
        for run in entered:
            self._try(f"{run.directory} could not be moved away", partial(move_away, self._fs, run))

    def _prepare(self, due: Sequence[Run]) -> None:
        """Do all that may fail time and again before anything is written to a journal."""
        self._session.settled_store.read()
        self._complete_log(due)
        for home in {self._home, *(parent(run.directory) for run in due)}:
            self._make_directory(home)

    def _enter(self, group: Sequence[Run]) -> list[Run]:
        """Enter a run: from then on a job that takes this one over renames its directories.

        The leases are looked at again after that, so that no other job has worked in the run since it was read. Return
        no directories where this fails.
        """
        entered: list[Run] = []
        try:
            for run in group:
                entered.append(enter(run, self._session.leases, "fold"))  # guard: entered_before_move
        except LeaseLost:
            raise
        except Exception as error:
            text = f"run {group[0].run_id} could not be folded: {error}"
            self.warnings.append(WarningCode.RUN_NOT_FOLDED.text(text))
            self._leave(entered)
            return []
        return entered

    def _leave(self, entered: Iterable[Run]) -> None:
        for directories in _by_run(entered).values():
            self._try("a run could not be closed", partial(leave, directories))

    def _try(self, problem: str, act: Callable[[], object]) -> None:
        """One run must not stop the others."""
        try:
            act()
        except Exception as error:
            text = f"{problem} ({error}); the next job tries again"
            self.warnings.append(WarningCode.RUN_NOT_FOLDED.text(text))

    def _complete_log(self, runs: Sequence[Run]) -> None:
        """Publish what the commit log lacks of these runs: soon it cannot be derived from their journals any more."""
        for run_id, directories in _by_run(runs).items():
            for change in changes_of(run_id, [run.state for run in directories]):
                self._log.publish(change)  # guard: logged_before_folded

    def _publish(self, entered: Sequence[Run], runs: Sequence[Run]) -> None:
        store, home_id = self._session.settled_store, self._fs.identity(self._home)
        if home_id is None:
            raise FileNotFoundError(f"{self._home} is gone")
        held = {key for run in runs for key, unit in run.state.units.items() if not unit.final}
        number = store.number()
        settled = [self._settled(run, held) for run in entered]
        store.publish(store.read().adding(home_id, settled, self._snapshots_of(entered, runs)), number)

    def _make_directory(self, home: str) -> None:
        path = f"{home}/{SETTLED}"
        directory = self._fs.status(path)
        if directory is not None:
            self._session.settled_store.check_directory(directory)
            return
        self._fs.mkdirs(path)
        close_to_others(self._fs, path, bool(self._session.options.trusted_owners))

    def _settled(self, run: Run, held: set[str]) -> SettledRun:
        identity = self._fs.identity(run.directory)
        if identity is None:
            raise LeaseLost(f"{run.directory} was taken over by another job")
        return SettledRun.of(run.run_id, identity, run.state, held)

    def _snapshots_of(self, entered: Iterable[Run], runs: Iterable[Run]) -> list[Snapshot]:
        """Return the snapshots of runs that are folded, and those of runs whose directories somebody has removed."""
        kept = {run.run_id for run in runs} - {run.run_id for run in entered}
        return [snapshot for snapshot in self._snapshots() if snapshot.run_id not in kept]

    def _snapshots(self) -> list[Snapshot]:
        facts = self._session.facts
        return of_table(self._log.snapshots(), facts.name, facts.storage.location)

    def _expire_snapshots(self) -> None:
        """Delete old snapshots that the record has, but none of a run that has a directory.

        What its journal says and the log does not would be published again.
        """
        recorded = {snapshot.uuid for snapshot in self._session.settled_store.read().snapshots}
        present = {run.run_id for run in self._session.runs()}
        old = [each for each in self._snapshots() if each.uuid in recorded and self._is_old(each.logged_at)]
        # guard: snapshots_of_present_runs
        self._log.expire({snapshot.uuid for snapshot in old if snapshot.run_id not in present})


def _by_run(runs: Iterable[Run]) -> dict[str, list[Run]]:
    by_id: dict[str, list[Run]] = {}
    for run in runs:
        by_id.setdefault(run.run_id, []).append(run)
    return by_id

"""The start of work in a run: choose the run, open it, or take it over."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.outcomes import TableOutcome
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.records import journal
from spark_jobs.core.records.settled_runs import SettledRun
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values import layout
from spark_jobs.core.values.layout import Home, generation, generation_number
from spark_jobs.core.values.model import parent
from spark_jobs.core.values.numbered_names import following
from spark_jobs.protocol.file_system import FileSystem
from spark_jobs.protocol.runs.journal_store import Journal, JournalCaches, Run, next_run_id
from spark_jobs.protocol.runs.lease import LeaseSet


def choose_run_id(
    asked: str, existing: Sequence[Run], settled: Sequence[SettledRun] = ()
) -> tuple[str, list[Run]]:
    """Return the run to work in, and its directories if it has any.

    A run that has ended well is never changed: if it is requested again, a new generation is opened. Any other run is
    continued, so that a retried task works in its own run, and a rollback finds all units under one id. That holds for
    a settled run too, whose directories are deleted.
    """
    newest = newest_generation(asked, existing, settled)
    same = [run for run in existing if run.run_id == newest]
    outcomes = [run.state.outcome for run in same] or [r.outcome for r in settled if r.run_id == newest]
    if any(outcome not in (TableOutcome.DONE, TableOutcome.NOTHING) for outcome in outcomes):
        return newest, same
    return next_run_id(asked, [*existing, *settled]), []


def newest_generation(asked: str, existing: Sequence[Run], settled: Sequence[SettledRun] = ()) -> str:
    """Return the newest generation of a run id (`<id>`, `<id>-g2`, ...), by its number: no clock decides."""
    names = [run.run_id for run in existing] + [run.run_id for run in settled]
    return generation(asked, max((generation_number(asked, name) for name in names), default=0) or 1)


def take_over(fs: FileSystem, run: Run) -> Run:
    """Rename the run's directory to a name of this attempt, and return the run.

    This fences off all earlier attempts: the paths of their renames and records do not exist any more.
    """
    directory = f"{parent(run.directory)}/{run.run_id}.{uuid.uuid4().hex[:12]}"
    try:
        fs.rename(run.directory, directory)  # guard: fence_by_rename
    except OSError:
        if fs.status(directory) is None:
            raise
    journal_ = run.journal.moved(directory)
    return Run(run.run_id, directory, journal_, journal_.state() or run.state)


def enter(run: Run, leases: LeaseSet, verb: str) -> Run:
    """Publish ENTERED, and only then check the lease again.

    A job that took the lease over before that is noticed here. A job that takes it over later sees the record, and
    fences this attempt off.

    Raises:
        LeaseLost: the lease is not held, or another job has taken it over.
    """
    leases.require(parent(run.directory))
    run.journal.append(journal.ENTERED, verb=verb)
    leases.check()  # guard: lease_held_on_enter
    return replace(run, state=run.current())


def open_run(
    fs: FileSystem,
    home: Home,
    run_id: str,
    facts: TableFacts,
    homes_: Iterable[Home],
    leases: LeaseSet,
    turns: bool = False,
    caches: JournalCaches | None = None,
) -> Run:
    """Create the directory of a new run in a home, and publish its RUN record.

    Args:
        homes_: all homes of the run. The record names them, so that they are found even if partitions are dropped.
        turns: several accounts continue each other's runs, so their group may write to the directory.
        caches: the caches of the table's journals.

    Raises:
        LeaseLost: another job has taken over the lease of the home.
        Refusal: the directory cannot be closed to other accounts.
    """
    directory = home.run_directory(run_id, uuid.uuid4().hex[:12])
    journal_ = Journal(fs, directory, cache=None if caches is None else caches[directory])
    fs.mkdirs(directory)
    # The directory is closed while it is empty. After a kill here it has no record, so it is not taken for a run.
    close_to_others(fs, directory, turns)
    journal_.open()
    close_to_others(fs, journal_.path, turns)
    paths = [other.path for other in homes_]
    journal_.append(
        journal.RUN,
        table=facts.name,
        location=facts.storage.location,
        homes=paths,
        user=fs.user(),
        home_id=fs.identity(home.path),
        directory_id=fs.identity(directory),
    )
    leases.check()  # guard: lease_held_on_open
    state = journal_.state()
    assert state is not None  # noqa: S101 - for mypy: it was just written
    return Run(run_id, directory, journal_, state)


def close_to_others(fs: FileSystem, directory: str, turns: bool) -> None:
    """Remove the write permission of other accounts, which a umask or a default ACL may have given them.

    The records in a run's directory count only if no other account can create them. With `turns`, the group may write.
    """
    attributes, unwanted = fs.attributes(directory), 0o002 if turns else 0o022
    if not attributes.mode & unwanted:
        return
    for lost in fs.set_attributes(
        directory, replace(attributes, mode=attributes.mode & ~unwanted)
    ):  # guard: run_folder_closed
        raise Refusal(
            RefusalCode.NOT_WRITABLE,
            f"the write permission of other accounts on {directory} cannot be removed: {lost.reason}",
        )


def next_timestamp(fs: FileSystem, runs: Iterable[Run], now: int) -> str:
    """Return seconds since the epoch that are later than all timestamps in the run's directories.

    So no name of a working directory is used twice.

    Raises:
        Refusal: NUMBER_TOO_HIGH, there are none.
    """
    names = [
        (layout.timestamp_of(entry.name), run.directory) for run in runs for entry in fs.list(run.directory)
    ]
    return str(max([now, *(following(number, directory) for number, directory in names)]))

"""A table's runs: choosing one, opening one, taking one over."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace

from spark_jobs.core import journal, layout
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.errors import Refusal
from spark_jobs.core.layout import Home
from spark_jobs.core.model import parent
from spark_jobs.core.outcomes import TableOutcome
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.core.settled_runs import SettledRun
from spark_jobs.protocol.file_system import FileSystem
from spark_jobs.protocol.runs.journal_store import Journal, Run, next_run_id
from spark_jobs.protocol.runs.lease import LeaseSet


def choose_run_id(
    asked: str, existing: Sequence[Run], settled: Sequence[SettledRun] = ()
) -> tuple[str, list[Run]]:
    """The run to work in, and its folders where it stands already.

    A run that ended well is never touched again: asked for once more, it opens a new generation. One that did
    not is resumed, so that a retried task continues its own run and a rollback finds all of it under one id: also where
    it has no folders any more, because it was `settled`.
    """
    newest = newest_generation(asked, existing, settled)
    same = [run for run in existing if run.run_id == newest]
    outcomes = [run.state.outcome for run in same] or [r.outcome for r in settled if r.run_id == newest]
    if any(outcome not in (TableOutcome.DONE, TableOutcome.NOTHING) for outcome in outcomes):
        return newest, same
    return next_run_id(asked, [*existing, *settled]), []


def newest_generation(asked: str, existing: Sequence[Run], settled: Sequence[SettledRun] = ()) -> str:
    """`asked` itself, or the newest of its generations (`asked-g2`, ...)."""
    started = [(run.state.started, run.run_id) for run in existing] + [
        (run.started, run.run_id) for run in settled
    ]
    known = [run_id for _, run_id in sorted(started, key=lambda pair: pair[0])]
    ours = [run_id for run_id in known if re.fullmatch(rf"{re.escape(asked)}(-g\d+)?", run_id)]
    return ours[-1] if ours else asked


def take_over(fs: FileSystem, run: Run) -> Run:
    """The same run under a folder name of this attempt's own. This fences every earlier attempt off:

    whatever it still tries to rename or to journal is not there any more, in either half of a swap.
    """
    folder = f"{parent(run.folder)}/{run.run_id}.{uuid.uuid4().hex[:12]}"
    try:
        fs.rename(run.folder, folder)  # guard: fence_by_rename
    except OSError:
        if fs.status(folder) is None:
            raise
    journal_ = run.journal.moved(folder)
    return Run(run.run_id, folder, journal_, journal_.state() or run.state)


def enter(run: Run, leases: LeaseSet, verb: str) -> Run:
    """Announces work in a run, and only then looks at the lease again: whoever took it over before that is seen here,
    and whoever takes it over later sees the announcement and fences this attempt off."""
    leases.require(parent(run.folder))
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
) -> Run:
    """A new run's folder in a home; its journal says whose run this is, and where its other parts lie. `turns`: several
    accounts go on with each other's runs."""
    folder = home.run_folder(run_id, uuid.uuid4().hex[:12])
    journal_ = Journal(fs, folder)
    fs.mkdirs(folder)
    # Closed before a record is in it, or the folder for records: a kill in between leaves a folder that is no run.
    close_to_others(fs, folder, turns)
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
        folder_id=fs.identity(folder),
    )
    leases.check()  # guard: lease_held_on_open
    state = journal_.state()
    assert state is not None
    return Run(run_id, folder, journal_, state)


def close_to_others(fs: FileSystem, folder: str, turns: bool) -> None:
    """What is in a run's folder counts only if nobody else may have put it there; a umask or a default ACL may let
    them. Where accounts take `turns`, their group may."""
    found, unwanted = fs.attributes(folder), 0o002 if turns else 0o022
    if not found.mode & unwanted:
        return
    for lost in fs.set_attributes(
        folder, replace(found, mode=found.mode & ~unwanted)
    ):  # guard: run_folder_closed
        raise Refusal(RefusalCode.NOT_WRITABLE, f"{folder} cannot be closed to other accounts: {lost.reason}")


def next_timestamp(fs: FileSystem, runs: Iterable[Run], now: int) -> str:
    """Seconds since the epoch, later than any stamp in the run's folders: no folder name is ever used twice."""
    used = [layout.timestamp_of(entry.name) for run in runs for entry in fs.list(run.folder)]
    return str(max([now, *(number + 1 for number in used)]))

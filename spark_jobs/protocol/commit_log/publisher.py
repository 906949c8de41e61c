"""Publishes finished runs in the commit log, from their journals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.planning.pace import Pace
from spark_jobs.core.planning.survey import SurveyedUnits
from spark_jobs.core.records.change import Change, changes_of, schema_hash
from spark_jobs.core.records.journal import RunState
from spark_jobs.core.records.snapshots import CLEANUP, COMPACT, BrokenLog
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.layout import Home
from spark_jobs.protocol.commit_log.store import CommitLog
from spark_jobs.protocol.file_system import FileSystem
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.trust import Trust

#: The pace of a table is measured on at most this number of compactions.
_LEARNED_RUNS = 3


def log_of(
    fs: FileSystem, facts: TableFacts, now: Callable[[], datetime], trusted: Iterable[str] = ()
) -> CommitLog:
    """Return the commit log of a table, which is in the table's own home.

    Args:
        trusted: the accounts in `trusted_owners`.
    """
    root = facts.storage.location
    return CommitLog(fs, Home.of_table(root, bool(facts.partition_keys)).path, now, Trust(fs, root, trusted))


def learned_pace(log: CommitLog) -> Pace:
    """Return how fast the newest compactions of a table were; unknown if the log does not say."""
    try:
        return Pace.learned(log.recent(COMPACT, _LEARNED_RUNS))
    except (BrokenLog, OSError):
        return Pace()


def log_runs(
    fs: FileSystem,
    facts: TableFacts,
    runs: Sequence[Run],
    verb: str,
    now: Callable[[], datetime],
    survey: SurveyedUnits | None = None,
    trusted: Iterable[str] = (),
    units: Collection[str] = (),
) -> list[str]:
    """Publish the changes that are in the journals of these runs and not yet in the log.

    No error is raised, because the work on the table is done, and the log can be derived from the journals later.

    Args:
        runs: the directories of each run, under their current names, in all homes. Their journals are read again.
        verb: the verb that has worked on the runs.
        survey: figures of listings to publish with the changes.
        trusted: the accounts in `trusted_owners`.
        units: the keys of the units that the table has; none if they are not known.

    Returns:
        Warnings.
    """
    log = log_of(fs, facts, now, trusted)
    try:
        if fs.status(log.home) is None:
            return []
        for change in _changes(fs, facts, runs, verb):
            log.publish(change, survey, units)
        if verb == CLEANUP:
            log.sweep()
    except Exception as error:
        return [
            WarningCode.LOG_NOT_UPDATED.text(
                f"the commit log of {facts.name} is not up to date ({error}); a later job adds what is missing from the"
                " journals"
            )
        ]
    return []


def _changes(fs: FileSystem, facts: TableFacts, runs: Sequence[Run], verb: str) -> list[Change]:
    """Return the changes of these runs in the order of their times.

    The user of a compaction is in the journal. The user of another change is known only if this job made it.
    """
    by_run: dict[str, list[RunState]] = {}
    for run in runs:
        by_run.setdefault(run.run_id, []).append(run.current())
    changes = [change for run_id, states in by_run.items() for change in changes_of(run_id, states)]
    user, schema = fs.user(), schema_hash(facts)
    named = [_noted(change, verb, user, schema) for change in changes]
    return sorted(named, key=lambda change: change.at)


def _noted(change: Change, verb: str, user: str, schema: str) -> Change:
    """Return the change with its user and the table's schema, if this job made it."""
    if change.kind != verb:
        return change
    return replace(change, who=change.who if verb == COMPACT else user, schema_hash=schema)

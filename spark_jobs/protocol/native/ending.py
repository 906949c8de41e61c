"""The rollback and the cleanup of the runs of a native table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from spark_jobs.core.messages.errors import LakekeeperError, Refusal, UnitChanged
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.planning.retention import AgedRun, expired
from spark_jobs.core.rules.due import exact
from spark_jobs.core.wire.report import TableReport, UnitReport
from spark_jobs.protocol.native.plan import report_of
from spark_jobs.protocol.native.runs import NativeHistory, NativeRun, forget
from spark_jobs.protocol.native.session import NativeSession

_WHOLE: dict[str, str | None] = {}
#: The age of a run whose last commit is not kept any more: it is older than all others.
_EVER = datetime(1970, 1, 1, tzinfo=timezone.utc)


def roll_back(session: NativeSession, history: NativeHistory, wanted: Sequence[str] | None) -> TableReport:
    """Roll runs back, the newest first.

    Args:
        wanted: the ids of runs; None for the newest one that can be rolled back.

    Raises:
        Refusal: NO_ROLLBACK, the format has none that is safe; NEWER_COMMITS.
    """
    why = session.table.no_rollback()
    if why is not None:
        raise Refusal(RefusalCode.NO_ROLLBACK, f"{session.facts.name}: {why}")
    chosen = _chosen(history, wanted)
    units = [_roll_back(session, run, alone=len(chosen) == 1) for run in reversed(chosen)]
    report = report_of(session, units)
    report = replace(
        report,
        run_id=chosen[-1].run_id if chosen else None,
        reason=None if units else "nothing to restore: there is no such run of this table",
        **session.held(NativeHistory.of(session.table)).report(),
    )
    return report.conclude(acted=[UnitOutcome.RESTORED, UnitOutcome.FLAGGED])


def _chosen(history: NativeHistory, wanted: Sequence[str] | None) -> list[NativeRun]:
    if wanted is not None:
        named = {run.run_id for run_id in wanted for run in history.of_id(run_id)}
        return [run for run in history.runs if run.run_id in named]
    return [run for run in history.runs if history.since(run.before) != []][-1:]


def _roll_back(session: NativeSession, run: NativeRun, *, alone: bool) -> UnitReport:
    history = NativeHistory.of(session.table)
    try:
        history.check_rollback(run)
    except Refusal as refusal:
        if alone:
            raise
        return UnitReport.of(_WHOLE, UnitOutcome.FAILED, code=refusal.code, reason=refusal.reason)
    figures = _figures(session)
    if session.options.dry_run:
        return UnitReport(_WHOLE, UnitOutcome.FLAGGED, reason="dry run: it would be rolled back", **figures)
    if history.current != run.before:
        _restore(session, run, history.current or "")
    session.check_lease()
    forget(session.table, run)
    after = _figures(session)
    return UnitReport(
        _WHOLE, UnitOutcome.RESTORED, **figures, files_after=after["files"], bytes_after=after["bytes"]
    )


def _restore(session: NativeSession, run: NativeRun, present: str) -> None:
    """Make the commit before the run the present state, and see that it is: what a procedure says does not count.

    Raises:
        Refusal: NEWER_COMMITS, another writer was faster.
    """
    session.check_lease()
    try:
        session.table.roll_back(run.before, present)
    except UnitChanged:
        NativeHistory.of(session.table).check_rollback(run)
        raise
    now = NativeHistory.of(session.table).current
    if now != run.before:
        raise LakekeeperError(
            f"after the rollback of run {run.run_id} the table is at {now}, and not at {run.before}: another writer has"
            " committed meanwhile. Look at the table's own history"
        )


def _figures(session: NativeSession) -> dict[str, Any]:
    files = session.table.files()
    return {"files": len(files), "bytes": sum(file.length for file in files)}


def clean_up(session: NativeSession, history: NativeHistory) -> TableReport:
    """Forget the runs that are past the retention, and, where it is switched on, expire older commits.

    Raises:
        Refusal: SHORT_RETENTION, the table itself asks to keep its commits for longer.
    """
    due, retention = _due(session, history), _retention(session)
    size = session.kept_bytes(due)
    units = [_clean(session, run, expires=retention is not None) for run in due]
    freed = retention is not None and not session.options.dry_run
    if retention is not None and freed:
        session.check_lease()
        session.table.expire(_before(session.services.now(), retention))
    report = replace(
        report_of(session, units),
        run_id=due[0].run_id if len(due) == 1 else None,
        reason=None if units else _nothing_due(history),
        freed_bytes=size if freed else 0,
        **session.held(NativeHistory.of(session.table)).report(),
    )
    return report.conclude(acted=[UnitOutcome.CLEANED, UnitOutcome.FLAGGED])


def _before(now: datetime, retention: timedelta) -> datetime:
    """Return the time before which commits are expired; no time is before the first one."""
    return _EVER if retention > now - _EVER else now - retention


def _retention(session: NativeSession) -> timedelta | None:
    """Return for how long commits are kept; None if none are to be expired, or if that would delete too much.

    Raises:
        Refusal: SHORT_RETENTION.
    """
    if not session.options.native_expiry:
        return None
    why = session.table.no_expiry()
    if why is not None:  # guard: files_of_other_tables
        session.notes.append(WarningCode.COMMITS_NOT_EXPIRED.text(f"{session.facts.name}: {why}"))
        return None
    own, asked = session.table.retention(), session.options.older_than or timedelta()
    if own is not None and asked < own:  # guard: own_retention_counts
        raise Refusal(
            RefusalCode.SHORT_RETENTION,
            f"older_than is {exact(asked)}, and {session.facts.name} asks to keep its commits for {exact(own)}: raise"
            " older_than, or switch native_expiry off",
        )
    return asked


def _due(session: NativeSession, history: NativeHistory) -> list[NativeRun]:
    """Return the runs past the retention, by the time of their last commit that is known."""
    options, at = session.options, {commit.id: commit.at for commit in history.commits}
    ages = [AgedRun(run.run_id, at.get(run.after or "", _EVER)) for run in history.runs]
    due = {
        each.run_id for each in expired(ages, session.services.now(), options.older_than, options.keep_last)
    }
    return [run for run in history.runs if run.run_id in due]


def _clean(session: NativeSession, run: NativeRun, *, expires: bool) -> UnitReport:
    size = session.kept_bytes([run])
    if session.options.dry_run:
        return UnitReport(_WHOLE, UnitOutcome.FLAGGED, reason="dry run: it would be cleaned up", bytes=size)
    session.check_lease()
    forget(session.table, run)
    why = None if expires else "its files go when the commits of the table are expired"
    return UnitReport(_WHOLE, UnitOutcome.CLEANED, reason=why, bytes=size)


def _nothing_due(history: NativeHistory) -> str:
    return "no originals are past the retention" if history.runs else "no originals are kept"

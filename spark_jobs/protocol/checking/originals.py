"""The originals that runs hold: each directory, and the files in it."""

from __future__ import annotations

from collections.abc import Iterator

from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.remedies import hdfs
from spark_jobs.core.records import journal
from spark_jobs.protocol.checking.scope import Scope, UnitOfRun
from spark_jobs.protocol.swap.directories import list_unit
from spark_jobs.protocol.swap.late_files import differences


def check_originals(scope: Scope, unit: UnitOfRun) -> Iterator[Finding]:
    """Check the originals of one unit of a run, by identity, names, sizes, times and file ids."""
    try:
        yield from _check(scope, unit)
    except OSError as error:
        yield unit.finding(DamageCode.NOT_CHECKED, unit.old, str(error), None)


def _check(scope: Scope, unit: UnitOfRun) -> Iterator[Finding]:
    fs, old = scope.services.fs, unit.old
    if unit.state.forgotten:
        yield from _check_forgotten(scope, unit)
        return
    if not unit.held:
        return
    identity = fs.identity(old)
    if identity is None and unit.state.kind == journal.CLEANUP_CLAIMED:
        yield from _check_claimed(scope, unit)
    elif identity != unit.state.swap.live_id and _moved_back(scope, unit):
        # The metastore may have made an empty directory at the old path since, for the backup table.
        text = f"{old} became {unit.state.swap.live} again: somebody has moved the originals back"
        yield unit.finding(DamageCode.ORIGINALS_RESTORED, unit.state.swap.live, text, scope.forget(unit.run))
    elif identity is None:
        text = f"{old} does not exist: somebody deleted or moved the originals"
        yield unit.finding(DamageCode.ORIGINALS_MISSING, old, text, scope.forget(unit.run))
    elif identity != unit.state.swap.live_id:
        yield _changed(scope, unit, old, f"{old} is not the directory that the journal names")
    else:
        yield from _check_files(scope, unit)


def _moved_back(scope: Scope, unit: UnitOfRun) -> bool:
    """Tell whether the originals are the live directory again, or were when a later run began to compact it."""
    swap, started = unit.state.swap, unit.run.state.started
    later = [each for each in scope.of(swap.unit) if each.run.state.started > started]
    if any(each.state.swap.live_id == swap.live_id for each in later):
        return True
    return scope.services.fs.identity(swap.live) == swap.live_id


def _check_files(scope: Scope, unit: UnitOfRun) -> Iterator[Finding]:
    try:
        changes = differences(unit.state.swap.originals, list_unit(scope.services.fs, unit.old))
    except Refusal as error:
        text = f"{unit.old} is not as the journal lists it: {error.reason}"
        yield unit.finding(DamageCode.ORIGINALS_CHANGED, unit.old, text, _move_added(scope, unit))
        return
    if changes:
        text = f"{unit.old} does not hold the files that the journal lists ({changes})"
        yield _changed(scope, unit, unit.old, text)


def _move_added(scope: Scope, unit: UnitOfRun) -> str:
    """Return the command that moves away what the journal does not list. A record that has a rest is not ended."""
    known = {file.name for file in unit.state.swap.originals.files}
    added = [entry.path for entry in scope.services.fs.list(unit.old) if entry.name not in known]
    if not added:
        return scope.forget(unit.run)
    return hdfs.move_away(*added)


def _check_claimed(scope: Scope, unit: UnitOfRun) -> Iterator[Finding]:
    """Check what a cleanup has claimed and not deleted yet. A part of it may be gone."""
    if scope.services.fs.status(unit.claimed) is None:
        return
    try:
        changes = differences(unit.state.swap.originals, list_unit(scope.services.fs, unit.claimed))
        what = f"{changes.added[0].name}, which the journal does not list" if changes.added else ""
    except Refusal as error:
        what = error.reason
    if what:
        text = f"{unit.claimed}, which a cleanup has claimed, holds more than the journal lists: {what}"
        yield _changed(scope, unit, unit.claimed, text)


def _check_forgotten(scope: Scope, unit: UnitOfRun) -> Iterator[Finding]:
    """Find what is left of a unit whose record was ended. If its swap never ended, any of it may be the only copy."""
    paths = unit.paths(scope.services)
    ended = unit.state.committed_at is not None
    for path in (unit.old, unit.claimed, *(() if ended else (paths.new, paths.aside))):
        if scope.services.fs.status(path) is not None:
            text = f"{path} is left of a unit whose record was ended with forget"
            command = hdfs.delete(path) if ended else hdfs.move_away(path)
            yield unit.finding(DamageCode.ORIGINALS_FORGOTTEN, path, text, command)


def _changed(scope: Scope, unit: UnitOfRun, path: str, text: str) -> Finding:
    return unit.finding(DamageCode.ORIGINALS_CHANGED, path, text, scope.forget(unit.run))

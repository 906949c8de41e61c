"""The contents of files: the footers of originals and rewritten files, and, if asked for, their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from spark_jobs.core.formats.registry import has_footer
from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.errors import LakekeeperError, Refusal, Unreadable
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.records import journal
from spark_jobs.core.values.layout import group_number
from spark_jobs.core.values.model import FileEntry, FileListing
from spark_jobs.protocol.checking.live import Written
from spark_jobs.protocol.checking.scope import Scope, UnitOfRun
from spark_jobs.protocol.planning.footer_inspection import groups_of, with_footers
from spark_jobs.protocol.planning.inspection import FileGroup
from spark_jobs.protocol.ports import RewriteRequest


def check_kept_footers(scope: Scope, unit: UnitOfRun) -> Iterator[Finding]:
    """Read the footers of the originals of one unit."""
    if unit.state.kind == journal.COMMITTED:
        command = (
            "restore the file from a snapshot; without one, the next cleanup past the retention deletes it"
        )
        yield from _check_footers(scope, unit, unit.old, unit.state.swap.originals, command)


def check_live_footers(scope: Scope, written: Written) -> Iterator[Finding]:
    """Read the footers of the files that a compaction has written."""
    unit = written.unit
    command = scope.rollback(unit.run) if unit.held else "restore the file from a snapshot"
    yield from _check_footers(scope, unit, written.place, unit.state.swap.compacted, command)


def _check_footers(
    scope: Scope, unit: UnitOfRun, directory: str, listing: FileListing, command: str
) -> Iterator[Finding]:
    file_format = scope.format_of(unit)
    if file_format is None or not has_footer(file_format):
        return
    files = with_footers(listing).files
    if _problem(scope, directory, files, file_format) is None:
        return
    # One file at a time, because the error of many does not name them all.
    problems = [(file, _problem(scope, directory, [file], file_format)) for file in files]
    bad = [(f"{directory}/{file.name}", problem) for file, problem in problems if problem]
    if bad:
        file, problem = bad[0]
        text = f"{len(bad)} of {len(files)} files in {directory} cannot be read, {file} first: {problem}"
        yield unit.finding(DamageCode.FOOTER_UNREADABLE, file, text, command)


def _problem(scope: Scope, directory: str, files: Sequence[FileEntry], file_format: str) -> str | None:
    try:
        scope.services.footers.read([(directory, FileListing(tuple(files)))], file_format)
    except Unreadable as error:
        return error.what  # The way out of a unit that is not compacted is none here.
    except Refusal as refusal:
        # Alone, such a file can be read; it must not be rewritten. Of several files, others were not read.
        return None if len(files) == 1 else str(refusal)
    except Exception as error:
        return f"{type(error).__name__}: {error}" if not str(error) else str(error)
    return None


def check_rows(scope: Scope, units: Sequence[UnitOfRun], intact: Sequence[Written]) -> Iterator[Finding]:
    """Compare the rows of originals and rewritten files by their content hash.

    Args:
        units: the units whose originals are held, and without a finding.
        intact: the live directories that hold all that a compaction has written.
    """
    places = {
        (written.unit.run.directory, written.unit.state.swap.unit.key): written.place for written in intact
    }
    for unit in units:
        place = places.get((unit.run.directory, unit.state.swap.unit.key))
        live = unit.state.swap.live
        if place is None:
            text = (
                f"the rows of {live} cannot be compared: it was written to, compacted again or dropped since"
            )
            yield unit.finding(DamageCode.ROWS_NOT_COMPARED, live, text, None)
        else:
            yield from _compare(scope, unit, place)


def _compare(scope: Scope, unit: UnitOfRun, place: str) -> Iterator[Finding]:
    same = problem = None
    try:
        same = _same_rows(scope, unit, place)
    except Unreadable as error:
        problem = f"the rows of {unit.old} and {place} cannot be read: {error.path}: {error.what}"
    except Refusal as refusal:
        yield unit.finding(
            DamageCode.ROWS_NOT_COMPARED, place, f"the rows of {place} cannot be compared: {refusal}", None
        )
        return
    except (LakekeeperError, OSError) as error:
        problem = f"the rows of {unit.old} and {place} cannot be read: {error}"
    if not same and scope.services.fs.identity(place) != unit.state.swap.new_id:
        text = f"the rows of {place} cannot be compared: it was replaced while they were read"
        yield unit.finding(DamageCode.ROWS_NOT_COMPARED, place, text, None)
    elif problem:
        yield unit.finding(DamageCode.NOT_CHECKED, place, problem, None)
    elif same is None:
        text = f"the rows of {place} cannot be compared: Spark cannot read the values of its files"
        yield unit.finding(DamageCode.ROWS_NOT_COMPARED, place, text, None)
    elif not same:
        text = f"the rows that run {unit.run.run_id} wrote to {place} differ from the originals in {unit.old}"
        yield unit.finding(DamageCode.ROWS_DIFFER, place, text, scope.rollback(unit.run))


def _same_rows(scope: Scope, unit: UnitOfRun, place: str) -> bool | None:
    """Compare the rows of each group of files with the rows of the files that were written from it.

    Returns:
        None if Spark cannot read the values of a group.
    """
    table, swap = scope.table, unit.state.swap
    plan = TablePlan(table.facts, table.options, scope.format_of(unit) or "", ())
    # All files are compared together: what was rewritten and what was copied is not known of an earlier run.
    groups = groups_of(scope.services, plan, unit.old, swap.originals)
    copies = {file.name for file in swap.originals.data} & {file.name for file in swap.compacted.data}
    results = []
    for group in groups:
        names = [
            f.name for f in swap.compacted.data if len(groups) == 1 or _written_of(group, f.name, copies)
        ]
        written = [f"{place}/{name}" for name in names]
        results.append(scope.services.rewriter.same_rows(_request(plan, group, unit.old, place), written))
    return None if None in results else all(results)


def _written_of(group: FileGroup, name: str, copies: Collection[str]) -> bool:
    """Tell whether a file is a copy of a file of the group, or was written for it. Only copies keep their names."""
    return name in group.names if name in copies else group_number(name) == group.number


def _request(plan: TablePlan, group: FileGroup, old: str, place: str) -> RewriteRequest:
    return RewriteRequest(
        directory=old,
        inputs=group.files,
        file_format=plan.file_format,
        target=place,
        target_files=1,
        target_bytes=plan.options.thresholds().target,
        profile=group.profile,
        encoding=group.encoding,
        hashed=True,
    )

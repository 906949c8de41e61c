"""Inspects the footers of a unit's files: whether they can be rewritten without a change of the data, and how."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from spark_jobs.core.formats import file_groups, footers
from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.formats.merged_footers import merged
from spark_jobs.core.formats.registry import FORMATS
from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning.decisions import Irreducible
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.rules.bucket_files import check_left, check_no_bucket_files
from spark_jobs.core.rules.eligibility import check_names, declares_encoding, positional
from spark_jobs.core.rules.health import Thresholds
from spark_jobs.core.rules.sort_columns import sort_columns_of
from spark_jobs.core.rules.strategy import Choice
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.commit_log.footer_store import FooterStore
from spark_jobs.protocol.planning.access import reading
from spark_jobs.protocol.planning.engine_choice import with_engine
from spark_jobs.protocol.planning.inspection import FileGroup, Inspection
from spark_jobs.protocol.services import Services

log = logging.getLogger("lakekeeper")

#: What the log says of the footers of a unit that are not read again.
AS_ANALYSED = "are as the analysis read them"


def inspect(
    services: Services, table: TablePlan, location: str, files: FileListing, store: FooterStore | None = None
) -> Inspection | Irreducible:
    """Return what the footers of all files of a unit say; or that a compaction would leave as many files as there are.

    Args:
        store: footers that an analysis has kept are not read again, but for one file of each kind. They never refuse a
            unit: then all footers are read.

    Raises:
        Refusal: the unit cannot be rewritten without a change of its data.
        OSError: a footer cannot be read.
    """
    early = _by_kept_footers(services, table, location, files, store) if store else None
    if early is not None:
        return early
    with reading():
        footers = services.footers.read(parts_of(table, location, files), table.file_format)
    return inspect_parts(services.rewriter.encoding, table, location, files, footers)


def parts_of(table: TablePlan, location: str, files: FileListing) -> list[tuple[str, FileListing]]:
    """Return what is read of a unit by itself: the files to rewrite, and those to copy if there are any."""
    choice = table.choice(files)
    copied = [(location, choice.copied)] if choice.copied.files else []
    return [(location, files_to_rewrite(table, files)), *copied]


def files_to_rewrite(table: TablePlan, files: FileListing) -> FileListing:
    """Return the files with content that a compaction rewrites. Their footers are what an analysis keeps."""
    return with_footers(table.choice(files).rewritten)


def groups_of(
    services: Services, table: TablePlan, location: str, files: FileListing
) -> tuple[FileGroup, ...]:
    """Return the groups of files that were rewritten already, whether or not a compaction would gain anything.

    It raises the other errors of `inspect`.
    """
    footers = read_footers(services, table, location, files)
    return _inspected(services.rewriter.encoding, table, location, files, footers)[0].groups


def inspect_parts(
    encoding: GetEncoding,
    table: TablePlan,
    location: str,
    files: FileListing,
    parts: Sequence[Sequence[Footer]],
) -> Inspection | Irreducible:
    """Return what the footers of `parts_of` say. It raises the same errors as `inspect`."""
    inspection = _inspect_parts(encoding, table, location, files, parts)
    return inspection if isinstance(inspection, Irreducible) else with_engine(table, inspection)


def _inspect_parts(
    encoding: GetEncoding,
    table: TablePlan,
    location: str,
    files: FileListing,
    parts: Sequence[Sequence[Footer]],
) -> Inspection | Irreducible:
    if len(parts) == 1:
        return inspect_footers(encoding, table, location, files, parts[0])
    choice, (small, large) = table.choice(files), parts
    # As a check reads them, which reads all files together: the numbers of groups depend on it.
    all_footers = sorted([*small, *large], key=lambda footer: footer.name)  # guard: groups_by_name
    whole = inspect_footers(encoding, table, location, files, merged(all_footers))
    if isinstance(whole, Irreducible):
        return whole
    used = _names(footers.with_rows(all_footers))

    def of_groups(files: FileListing, among: Sequence[Footer]) -> Iterator[FileGroup]:
        for group in whole.groups:
            part = [footer for footer in among if footer.name in used & group.names]
            if part:
                yield replace(_group(encoding, table, files, part), number=group.number)

    # A copy of all bytes keeps the keys of the footers.
    copied = [
        replace(group, profile=replace(group.profile, unkept=())) for group in of_groups(choice.copied, large)
    ]
    return replace(
        whole,
        groups=tuple(of_groups(choice.rewritten, small)),
        copied=tuple(copied),
        without_rows=_names(all_footers) - used,
    )


def _by_kept_footers(
    services: Services, table: TablePlan, location: str, files: FileListing, store: FooterStore
) -> Inspection | None:
    """Return what footers say that an analysis has kept; None if they do not count, or refuse the unit."""
    (_, due), *copied = parts_of(table, location, files)
    try:
        kept = store.find(location, due)
        footers = kept.confirmed(read_footers(services, table, location, kept.samples(due))) if kept else None
        if footers is None:
            return None
        large = services.footers.read(copied, table.file_format) if copied else []
        inspection = inspect_parts(services.rewriter.encoding, table, location, files, [footers, *large])
        if isinstance(inspection, Irreducible):
            return None  # All footers decide whether it is so.
    except Exception as error:  # What is wrong with the files, the reading of all footers tells.
        log.info("%s: the footers of all files are read again (%s)", location, error)
        return None
    log.info("%s: the footers of %d files %s", location, len(due.files), AS_ANALYSED)
    return replace(inspection, by_kept_footers=True)


#: Returns how files of a profile are written. Raises Refusal.
GetEncoding = Callable[[Profile, str], Encoding]


def inspect_footers(
    encoding: GetEncoding, table: TablePlan, location: str, files: FileListing, footers: Sequence[Footer]
) -> Inspection | Irreducible:
    """Return what the footers of a unit's files say, like `inspect`, whose errors it raises."""
    bucketing = table.options.bucketing
    check_no_bucket_files(table.facts, bucketing, [file.name for file in files.data])
    inspection, reason = _inspected(encoding, table, location, files, footers)
    choice = table.choice(files)
    left = _target_files(inspection, choice, table.options.thresholds())
    count = len(choice.rewritten.data) + len(choice.copied.data)
    # By its file sizes, such a unit needs a compaction: without this it would be rewritten every night. Files of one
    # group are fewer afterwards: by their sizes the unit was found.
    if inspection.several and left >= count:
        why = (
            f"its {count} files have {len(inspection.groups)} schemas that do not fit into one file: {reason}"
        )
        return Irreducible(why, left)
    check_left(table.facts, bucketing, left)
    return inspection


def _inspected(
    encoding: GetEncoding, table: TablePlan, location: str, files: FileListing, inspected: Sequence[Footer]
) -> tuple[Inspection, str | None]:
    """Return the groups of a unit's files, and why they are several."""
    if not inspected:
        raise Refusal(RefusalCode.EMPTY, f"{location} holds only empty files")
    _check_complete(location, files, inspected)
    check_names(location, files)
    used = footers.with_rows(inspected)
    parts = file_groups.grouped(used, _by_position(table))
    groups = tuple(
        replace(_group(encoding, table, files, part), number=number)
        for number, part in enumerate(parts.footers)
    )
    inspection = Inspection(groups, several=len(groups) > 1, without_rows=_names(inspected) - _names(used))
    _check_positions(table, used, inspection)
    return inspection, parts.reason


def _check_complete(location: str, files: FileListing, footers: Sequence[Footer]) -> None:
    """Raise LakekeeperError unless each file with content has one footer: rows of another one would be left out."""
    described = sorted(name for footer in footers for name in footer.names)
    if described != [file.name for file in with_footers(files).files]:  # guard: each_file_has_a_footer
        raise LakekeeperError(f"the footers that were read in {location} do not belong to its files")


def _group(encoding: GetEncoding, table: TablePlan, files: FileListing, part: Sequence[Footer]) -> FileGroup:
    _check_encoding(table, part)
    names = _names(part)
    columns = [name for name, _ in table.facts.columns]
    profile = footers.profile(part, _declared_codec(table), table.file_format, columns)
    data = FileListing.of(file for file in files.data if file.name in names)
    return FileGroup(data, profile, encoding(profile, table.file_format))


def _check_encoding(table: TablePlan, part: Sequence[Footer]) -> None:
    """Raise Refusal for text of another encoding than UTF-8, unless the table declares which one it is."""
    other = next((footer for footer in part if footer.not_utf8), None)
    if other is not None and not declares_encoding(table.facts):  # guard: encoding_declared
        raise Refusal(
            RefusalCode.NOT_TEXT,
            f"{other.name} is not shown to be plain text: {other.not_utf8}. If it is text in another encoding, declare"
            " serialization.encoding on the table",
        )


def _names(footers: Sequence[Footer]) -> frozenset[str]:
    return frozenset(name for footer in footers for name in footer.names)


def _by_position(table: TablePlan) -> bool:
    """Tell whether readers may match columns by position: `readers` says so, or an engine does so by default."""
    readers = table.options.readers
    return readers == "by-position" or (
        readers is None and FORMATS[table.file_format].read_by_position
    )  # guard: readers_by_position


def _target_files(inspection: Inspection, choice: Choice, thresholds: Thresholds) -> int:
    """Return the number of files after a compaction: the copied ones, and each group's."""
    kept = frozenset(file.name for file in choice.copied.data)
    parts = [group.without(kept) for group in inspection.groups]
    return len(kept) + sum(part.target_files(thresholds) for part in parts if part.files.data)


def _check_positions(table: TablePlan, footers: Sequence[Footer], inspection: Inspection) -> None:
    """Raise Refusal if columns are matched by position and differ between files."""
    nameless = any(FORMATS[table.file_format].by_position(footer.leaves) for footer in footers)
    uniform = len(inspection.groups) == 1 and inspection.groups[0].profile.uniform
    if (positional(table.facts) or nameless) and not uniform:  # guard: columns_by_position
        raise Refusal(
            RefusalCode.POSITIONAL,
            f"{table.facts.name} matches columns by position, and its files differ in schema",
        )
    sorted_by = sort_columns_of(table.facts, table.options.sort_columns)
    if nameless and sorted_by:  # guard: sorted_by_name
        raise Refusal(
            RefusalCode.POSITIONAL,
            f"the files of {table.facts.name} name their columns {', '.join(list(footers[0].leaves)[:2])}, ..., so that"
            f" rows cannot be sorted by {sorted_by[0]}",
        )


def read_footers(services: Services, table: TablePlan, location: str, listing: FileListing) -> list[Footer]:
    """Return the footers of the files that are not empty."""
    with reading():
        (footers,) = services.footers.read([(location, with_footers(listing))], table.file_format)
    return footers


def with_footers(listing: FileListing) -> FileListing:
    """Return the data files that are not empty."""
    return FileListing.of([f for f in listing.data if f.length])  # guard: empty_files_not_read


def _declared_codec(table: TablePlan) -> str | None:
    return table.facts.properties.get(FORMATS[table.file_format].codec_property or "")

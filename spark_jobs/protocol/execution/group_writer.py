"""The writer of a unit's files: each group of files with one schema is written by itself, and verified by itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from spark_jobs.core.formats import verification
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.writer_options import writer_options
from spark_jobs.core.messages.errors import FiguresDiffer, VerificationFailed
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.rules.sort_columns import sort_columns_of
from spark_jobs.core.values import layout
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.planning.footer_inspection import with_footers
from spark_jobs.protocol.planning.inspection import FileGroup, Inspection
from spark_jobs.protocol.ports import RewriteRequest, RewriteResult
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import list_unit

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class WrittenGroup:
    """A group that is written.

    Attributes:
        names: the names of its files; None if it has all files of the directory.
        request: how it was rewritten; None if it was copied.
    """

    group: FileGroup
    result: RewriteResult
    names: frozenset[str] | None = None
    request: RewriteRequest | None = None

    @property
    def warnings(self) -> list[str]:
        return [*self.group.profile.warnings, *self.group.unkept, *self.result.warnings]

    def holds(self, name: str) -> bool:
        return self.names is None or name in self.names


def check_all_written(
    written: Iterable[WrittenGroup], before: FileListing, without_rows: Collection[str] = ()
) -> None:
    """Raise VerificationFailed unless each file with rows was written in exactly one of the groups.

    Each group is compared with its own files only, so a lack of the rows of a file in no group would go unnoticed.

    Args:
        before: the files of the unit, as they were inspected.
        without_rows: the files that have no rows by their footers.
    """
    names = sorted(file.name for each in written for file in with_footers(each.group.files).files)
    expected = [file.name for file in with_footers(before).files if file.name not in without_rows]
    if names != expected:  # guard: all_files_written
        lost = sorted(set(expected) - set(names))
        raise VerificationFailed(
            f"of {len(expected)} files, {len(names)} were written: {', '.join(lost[:3]) or 'some of them twice'}"
        )


class GroupWriter:
    """The writer of groups of files of one table."""

    def __init__(self, services: Services, table: TablePlan) -> None:
        self._services = services
        self._table = table

    def write(
        self, inspection: Inspection, live: str, new: str, replication: int | None
    ) -> list[WrittenGroup]:
        """Write the groups of a unit into the directory `new`. See `FileRewriter.write` for what it raises."""
        if not inspection.several and not inspection.copied:
            request = self.request(inspection.groups[0], inspection, live, new, replication)
            return [WrittenGroup(inspection.groups[0], self._rewrite(request), request=request)]
        write = self._write_beside if inspection.several else self._write_alone
        rewritten = [write(group, inspection, live, new, replication) for group in inspection.groups]
        return [*rewritten, *self._write_copies(inspection.copied, live, new)]

    def _write_alone(
        self, group: FileGroup, inspection: Inspection, live: str, new: str, replication: int | None
    ) -> WrittenGroup:
        """Rewrite the small files of a unit with one schema, beside which the large ones will be copied."""
        return self._write_apart(group, inspection, live, new, "rewritten", replication, str)

    def _write_copies(self, groups: Sequence[FileGroup], live: str, new: str) -> list[WrittenGroup]:
        """Copy the large files of a unit."""
        if not groups:
            return []
        self._copy(FileListing.of(file for group in groups for file in group.files.data), live, new)
        return [WrittenGroup(group, RewriteResult(group.profile.rows or 0), group.names) for group in groups]

    def _copy(self, files: FileListing, live: str, new: str) -> None:
        """Copy files with their times, and compare every byte.

        They are copied into a directory of their own, where attempts of tasks that Spark has given up may leave files.
        It is deleted, so that a late attempt finds no directory; and what was compared has another name by then.

        Raises:
            VerificationFailed: a copy differs. The unit is called off then, and its copies are deleted.
        """
        fs, rewriter, apart = self._services.fs, self._services.rewriter, f"{new}/copies"
        fs.mkdirs(apart)
        copies = rewriter.copy(live, files, apart)
        lacking = sorted({file.name for file in files.data} - copies.keys())
        differing = [*rewriter.differing(live, copies), *lacking]
        if differing:  # guard: copies_compared
            raise VerificationFailed(f"the copy in {new} is not what {live}/{differing[0]} is")
        for file in files.data:
            fs.rename(copies[file.name], f"{new}/{file.name}")
            fs.touch(f"{new}/{file.name}", file.mtime)
        # This job has made the directory in one that was never live: nothing but attempts of its own tasks is in it.
        fs.delete_tree(apart)  # guard: attempts_deleted

    def _write_beside(
        self, group: FileGroup, inspection: Inspection, live: str, new: str, replication: int | None
    ) -> WrittenGroup:
        """Write a group into a directory of its own, then move its files up.

        By the names of the files, a later plan sees that each group has been written already.
        """
        named, apart = partial(layout.group_name, number=group.number), f"group-{group.number}"
        return self._write_apart(group, inspection, live, new, apart, replication, named)

    def _write_apart(
        self,
        group: FileGroup,
        inspection: Inspection,
        live: str,
        new: str,
        apart: str,
        replication: int | None,
        rename: Callable[[str], str],
    ) -> WrittenGroup:
        """Write a group into a directory of its own, then move its files up under other names.

        A rewrite compares what it has written with what it has read, and takes all files of its directory for its own.
        """
        fs, directory = self._services.fs, f"{new}/{apart}"
        fs.mkdirs(directory)
        request = self.request(group, inspection, live, directory, replication)
        result = self._rewrite(request)
        written = [file.name for file in list_unit(fs, directory).data]
        names = {name: rename(name) for name in written}
        for name, named in names.items():
            fs.rename(f"{directory}/{name}", f"{new}/{named}")
        if not fs.delete_empty(directory):
            raise VerificationFailed(f"{directory} holds more than the files that were written into it")
        return WrittenGroup(group, result, frozenset(names.values()), request)

    def _rewrite(self, request: RewriteRequest) -> RewriteResult:
        if request.shuffled:
            log.info(
                "%s: %d files are read by %d tasks, and their rows shuffled to one task for each of %d files",
                request.directory,
                len(request.inputs.data),
                request.read_tasks,
                request.target_files,
            )
        return self._services.rewriter.write(request)

    def verify(self, written: Sequence[WrittenGroup], new: str, compacted: FileListing) -> list[str]:
        """Compare the rows and types of each group's files with those that were read. Return warnings.

        Raises:
            VerificationFailed: rows are missing, or a file belongs to no group.
            FiguresDiffer: the figures of a column differ.
            Refusal: TYPE, a type differs.
        """
        try:
            warnings = self._compare(written, new, compacted)
        except FiguresDiffer as error:
            again = partial(self._has_read_rows, written, new, compacted)
            raise FiguresDiffer(error.difference, again) from None
        stray = [file.name for file in compacted.data if not any(group.holds(file.name) for group in written)]
        if stray:  # guard: files_of_no_group
            raise VerificationFailed(
                f"{new}/{stray[0]} was written by none of the unit's {len(written)} writes"
            )
        return warnings

    def _compare(self, written: Sequence[WrittenGroup], new: str, compacted: FileListing) -> list[str]:
        """Compare each group's files with those that were read, by their footers. Return warnings."""
        warnings = []
        for group, own in zip(written, self._footers(written, new, with_footers(compacted))):
            all_values = self._table.by_values and group.group.profile.struct is not None
            # guard: each_group_compared
            warnings += verification.check_written(group.group.profile, own, statistics=not all_values)
        return warnings

    def _has_read_rows(
        self, written: Sequence[WrittenGroup], new: str, compacted: FileListing
    ) -> bool | None:
        """Tell whether all values of the written files are those that are read of the originals once more."""
        log.warning("%s: all values are read again", new)
        files, same_rows = with_footers(compacted).files, self._services.rewriter.same_rows
        same = [
            same_rows(group.request, [f"{new}/{file.name}" for file in files if group.holds(file.name)])
            for group in written
            if group.request is not None
        ]
        return None if None in same else all(same)

    def _footers(self, written: Sequence[WrittenGroup], new: str, files: FileListing) -> list[list[Footer]]:
        """Return the footers of each group's files."""
        own = [FileListing.of(file for file in files.files if group.holds(file.name)) for group in written]
        with verification.written_files():
            return self._services.footers.read([(new, each) for each in own], self._table.file_format)

    def request(
        self, group: FileGroup, inspection: Inspection, live: str, target: str, replication: int | None
    ) -> RewriteRequest:
        """Return the request to write a group into the directory `target`."""
        thresholds = self._table.options.thresholds()
        target_files = group.target_files(thresholds)
        tasks = group.tasks(thresholds, self._table.slots_of_a_unit)
        return RewriteRequest(
            directory=live,
            inputs=group.files,
            file_format=self._table.file_format,
            target=target,
            target_files=target_files,
            target_bytes=thresholds.target,
            profile=group.profile,
            encoding=group.encoding,
            replication=replication,
            hashed=self._table.hashed,
            one_nan=not self._table.by_values,
            options=writer_options(
                group.profile, self._table.file_format, self._table.facts.properties, target_files
            ),
            sort_columns=self._sort_columns(group, inspection.groups),
            read_tasks=tasks.read,
        )

    def _sort_columns(self, group: FileGroup, groups: Iterable[FileGroup]) -> list[str]:
        """Return the columns to sort by: the option's, else the columns of SORTED BY in the DDL.

        Partition keys are left out, because they are constant within a unit, and so are columns that the files of the
        group do not have, as all their values are NULL: those of other groups, or that were added to the table later.
        """
        facts, own = self._table.facts, group.columns
        left_out = {key.lower() for key in facts.partition_keys}
        if own is not None:
            left_out.update(name for other in groups for name in other.columns or () if name not in own)
            left_out.update({name.lower() for name, _ in facts.columns} - own)
        columns = sort_columns_of(facts, self._table.options.sort_columns)
        return [column for column in columns if column.lower() not in left_out]

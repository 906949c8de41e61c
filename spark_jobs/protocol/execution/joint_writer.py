"""The writer of several small units in one job, each into files of its own.

A job for each unit costs more than reading and writing a few megabytes. Every unit of a joint write is compared by its
own footers, so that a unit fails alone. Then it is written by itself, and the others are not written again.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Hashable, Sequence

from spark_jobs.core.formats import arrow, verification
from spark_jobs.core.formats.encoding import Engine
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.messages.errors import VerificationFailed
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.values.attributes import Attributes
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.execution.group_writer import GroupWriter, WrittenGroup
from spark_jobs.protocol.execution.written_unit import StagedUnit, UnitDraft
from spark_jobs.protocol.ports import JointFiles, RewriteRequest, RewriteResult
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import list_unit

log = logging.getLogger("lakekeeper")


class JointWriter:
    """The writer of joint writes of one home.

    Args:
        directory: returns the URI of the directory into which the joint write of this number is written.
    """

    def __init__(
        self, services: Services, table: TablePlan, groups: GroupWriter, directory: Callable[[int], str]
    ) -> None:
        self._services = services
        self._table = table
        self._groups = groups
        self._directory = directory
        self._numbers = itertools.count()
        self._left: list[str] = []

    def kind(self, draft: UnitDraft) -> Hashable | None:
        """Return a value that is equal for units that can be written together; None if a unit is written by itself.

        Everything that one write has only once must be equal: the schema, the way of writing, and what files inherit
        from the directory in which they are created. Files of a unit of several groups have several schemas. Of a unit
        without rows no file would be written. Large files of a unit are copied only where it is written by itself.
        """
        # A file that was added since the plan may be a large one, and then the unit is copied in part.
        if draft.inspection.copied:  # guard: copies_not_joint
            return None
        group, *others = draft.inspection.groups
        if others or not group.profile.rows:
            return None
        if group.encoding.engine is Engine.ARROW:
            return self._kind_by_arrow(draft)
        return self._kind_by_spark(draft) if group.encoding.engine is Engine.SPARK else None

    def _kind_by_arrow(self, draft: UnitDraft) -> Hashable:
        """Return the kind of a unit that Arrow writes, of whatever size and schema."""
        request = self._request(draft)
        inherited = _inherited(draft.attributes.directory)
        return Engine.ARROW, request.profile.codec, request.replication, inherited

    def _kind_by_spark(self, draft: UnitDraft) -> Hashable | None:
        (group,) = draft.inspection.groups
        encoding, profile = group.encoding, group.profile
        single = group.target_files(self._table.options.thresholds()) == 1
        if not single or encoding.exact or not self._table.writes_jointly:
            return None
        request = self._request(draft)
        return (
            profile.struct,
            profile.codec,
            tuple(sorted(encoding.settings.items())),
            tuple(sorted(request.options.items())),
            tuple(request.sort_columns),
            request.replication,
            _inherited(draft.attributes.directory),
        )

    def write(self, drafts: Sequence[UnitDraft]) -> list[StagedUnit | Exception]:
        """Write units of one kind. Return each one with its files, or why it must be written by itself."""
        started = self._services.clock.monotonic()
        engine = "Arrow" if drafts[0].inspection.by_arrow else "Spark"
        log.info("writing %d units in one job by %s", len(drafts), engine)
        try:
            staging = self._create()
            # The new files inherit from this directory. It is closed to other accounts, like a unit's.
            # guard: joint_staging_closed
            drafts[0].attributes.apply_to_directory(staging, self._table.options.attributes)
            with self._services.phases.during("write"):
                joint = self._write(drafts, staging)
            with self._services.phases.during("verify"):
                listings = [self._list(directory) for directory in joint.directories]
                footers = self._footers(joint, listings)
        except Exception as error:
            return [error] * len(drafts)
        seconds, total = (
            self._services.clock.monotonic() - started,
            sum(draft.before.bytes for draft in drafts),
        )
        return [
            self._staged(draft, directory, files, of_unit, seconds * draft.before.bytes / (total or 1))
            for draft, directory, files, of_unit in zip(drafts, joint.directories, listings, footers)
        ]

    def _write(self, drafts: Sequence[UnitDraft], staging: str) -> JointFiles:
        requests, rewriter = [self._request(each) for each in drafts], self._services.rewriter
        if drafts[0].inspection.by_arrow:
            return rewriter.write_by_arrow(requests, staging)
        return JointFiles(rewriter.write_jointly(requests, staging))

    def _create(self) -> str:
        staging = self._directory(next(self._numbers))
        self._left.append(staging)
        self._services.fs.mkdirs(staging)
        return staging

    def _request(self, draft: UnitDraft) -> RewriteRequest:
        (group,), live = draft.inspection.groups, draft.plan.unit.location
        return self._groups.request(
            group, draft.inspection, live, draft.new, draft.attributes.file.replication
        )

    def _list(self, directory: str) -> FileListing:
        try:
            return list_unit(self._services.fs, directory)
        except FileNotFoundError:
            return FileListing(())  # no rows were written; the comparison says so

    def _footers(self, joint: JointFiles, listings: Sequence[FileListing]) -> list[list[Footer] | Exception]:
        """Return the footers of the files of each directory. They are read in one call, unless one is unreadable."""
        places = list(zip(joint.directories, listings))
        try:
            footers: list[list[Footer] | Exception] = list(self._read(places))
        except Exception:
            footers = [self._footers_of(*place) for place in places]
        for number, why in joint.refused.items():
            footers[number] = VerificationFailed(why)
        return footers

    def _footers_of(self, directory: str, files: FileListing) -> list[Footer] | Exception:
        try:
            return self._read([(directory, files)])[0]
        except Exception as error:
            return error

    def _read(self, places: Sequence[tuple[str, FileListing]]) -> list[list[Footer]]:
        return self._services.footers.read(places, self._table.file_format)

    def _staged(
        self,
        draft: UnitDraft,
        directory: str,
        files: FileListing,
        footers: list[Footer] | Exception,
        seconds: float,
    ) -> StagedUnit | Exception:
        """Return a unit whose files have the rows, types and figures of its originals; else the error."""
        if isinstance(footers, Exception):
            return footers
        (group,) = draft.inspection.groups
        try:
            warnings = verification.check_written(group.profile, footers)  # guard: joint_unit_compared
            if draft.inspection.by_arrow:
                verification.check_same_footers(group.profile, footers)
        except Exception as error:
            return error
        written = WrittenGroup(group, RewriteResult(group.profile.rows or 0, warnings))
        named = _named(files, group.profile.codec) if draft.inspection.by_arrow else files
        return StagedUnit(directory, files, named, written, seconds)

    def compare_rows(self, draft: UnitDraft, staged: StagedUnit) -> None:
        """Compare all values of a unit that Arrow has written, as Spark reads them, if the options ask for it.

        Raises:
            VerificationFailed: they differ, or Spark cannot read them.
        """
        if not self._table.hashed:
            return
        paths = [f"{staged.directory}/{file.name}" for file in staged.files.data]
        with self._services.phases.during("verify"):
            same = self._services.rewriter.same_rows(self._request(draft), paths)
        if same is not True:  # guard: arrow_hashed
            raise VerificationFailed("what Arrow has written is not what Spark reads of the originals")

    def discard(self) -> None:
        """Delete what the joint writes have left: it never was live, and the units' files were moved out of it."""
        while self._left:
            directory = self._left.pop()
            try:
                self._services.fs.delete_tree(directory)
            except OSError as error:
                log.warning("could not delete %s: %s", directory, error)


def _named(files: FileListing, codec: str) -> FileListing:
    """Return the files with the names that they will have."""
    return FileListing.of(file._replace(name=arrow.file_name(file.name, codec)) for file in files.files)


def _inherited(given: Attributes) -> Hashable:
    """Return the attributes of a directory that files get when they are created in it, and keep when they are moved."""
    return given.group, given.acl, given.storage_policy, given.erasure_coding  # guard: joint_inherited

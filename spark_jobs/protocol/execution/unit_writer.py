"""The writer of units: it writes rows to a directory of the run, verifies them, and creates the intent of the swap."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from spark_jobs.core.formats.layout_properties import ignored_properties
from spark_jobs.core.messages.errors import (
    FiguresDiffer,
    Refusal,
    UnitChanged,
    Unreadable,
    VerificationFailed,
    WrongStatistics,
)
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning.decisions import Decision, Defer, Irreducible, on_wire
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.rules.bucket_files import bucket_warnings, check_left
from spark_jobs.core.values import layout
from spark_jobs.core.values.attributes import check_lost
from spark_jobs.core.values.layout import Home
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.commit_log.footer_store import FooterStore
from spark_jobs.protocol.execution.group_writer import GroupWriter, WrittenGroup, check_all_written
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.execution.preconditions import Preconditions
from spark_jobs.protocol.execution.unit_attributes import Probes, UnitAttributes
from spark_jobs.protocol.execution.written_unit import StagedUnit, UnitDraft, WrittenUnit
from spark_jobs.protocol.planning.footer_inspection import files_to_rewrite, inspect
from spark_jobs.protocol.runs.working_directories import WorkingDirectories
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import list_unit
from spark_jobs.protocol.swap.late_files import differences

log = logging.getLogger("lakekeeper")

#: What is raised if written files differ from the footers; the last two if a bound is of another type.
_CONTRADICTIONS = (VerificationFailed, TypeError, AttributeError)


class UnitWriter:
    """The writer of the units of one home.

    Args:
        path: returns the URI of a path below the run's directory, under the directory's current name.
        admission: the job's.
    """

    def __init__(
        self,
        services: Services,
        table: TablePlan,
        home: Home,
        stamp: str,
        path: Callable[[str], str],
        admission: JobAdmission,
    ) -> None:
        self._services = services
        self._table = table
        self._home = home
        self._stamp = stamp
        self._path = path
        self._admission = admission
        self._checks = Preconditions(services, table)
        self.groups = GroupWriter(services, table)
        self.footers = FooterStore(services, table)
        policy = table.options.attributes
        self._directories = WorkingDirectories(services.fs, lambda lost, path: check_lost(lost, policy, path))
        self._probes = Probes(services.fs)

    def write(self, plan: UnitPlan) -> WrittenUnit | Decision:
        """Write and verify a unit. Return it, or the decision by which it is not written.

        Raises:
            UnitChanged, Refusal, LakekeeperError, OSError: the unit is called off.
        """
        draft = self.draft(plan)
        return self._write(draft) if isinstance(draft, UnitDraft) else draft

    def draft(self, plan: UnitPlan) -> UnitDraft | Decision:
        """Inspect a unit and create its new directory, like `write`, whose errors it raises."""
        if late := self.late():
            return late
        started, live = self._services.clock.monotonic(), plan.unit.location
        with self._services.phases.during("list"):
            listed = self._checks.before_write(live)
        before, planned = listed.files, plan
        plan = plan.confirmed(before, self._table.options.thresholds())
        if deferral := self._admission.growth(planned.amount, plan.amount):
            return deferral
        with self._services.phases.during("footers"):
            inspection = inspect(self._services, self._table, live, before, self.footers)
        if isinstance(inspection, Irreducible):
            return inspection
        new = self._path(self._new_path(plan))
        attributes = UnitAttributes.of(self._services.fs, live, before, listed.entries)
        warnings = [*self._create_above(layout.tmp_directory, plan), *self._create(new, attributes)]
        seconds = self._services.clock.monotonic() - started
        draft = UnitDraft(plan, before, inspection, attributes, new, tuple(warnings), seconds)
        lack = self._services.rewriter.arrow().lack if inspection.by_arrow else None
        return draft.by_spark(lack) if lack else draft

    def late(self) -> Defer | None:
        """Return the deferral of any unit if the deadline has passed; None if it has not."""
        return self._admission.now.on_time(self._services.now())

    def write_draft(self, draft: UnitDraft) -> WrittenUnit | Decision:
        """Write and verify a unit by itself, like `write`, unless the deadline has passed."""
        return self.late() or self._write(draft)

    def _write(self, draft: UnitDraft) -> WrittenUnit | Decision:
        try:
            return self._write_by_footers(draft)
        except FiguresDiffer as error:
            as_read = error.read_again()
            if as_read is False:  # guard: values_that_were_read
                raise
            raise WrongStatistics(error.difference, as_read) from None

    def _write_by_footers(self, draft: UnitDraft) -> WrittenUnit | Decision:
        try:
            return self._write_once(draft)
        except _CONTRADICTIONS as error:
            if not draft.inspection.by_kept_footers:  # guard: kept_footers_doubted
                raise
            again = self._draft_again(draft, error)
        return self._write_once(again) if isinstance(again, UnitDraft) else again

    def _draft_again(self, draft: UnitDraft, error: Exception) -> UnitDraft | Decision:
        """Return the draft by the footers of all files, with an empty directory.

        What was written differs from what an analysis has kept of the footers, so the footers themselves must decide.

        Raises:
            Exception: the error, if the footers are as they were kept: then the written files are wrong.
        """
        live, files = draft.plan.unit.location, draft.before
        with self._services.phases.during("footers"):
            inspection = inspect(self._services, self._table, live, files)
        if isinstance(inspection, Irreducible):
            return inspection
        if inspection.groups == draft.inspection.groups:
            raise error
        log.warning("%s is written again, by the footers of all files: %s", live, error)
        self.footers.delete(live, files_to_rewrite(self._table, files))
        if late := self.late():
            return late
        # A path is used again only after the deletion has succeeded: one that is executed late would delete the rows.
        self._services.fs.delete_tree(draft.new)
        warnings = self._create(draft.new, draft.attributes)
        return replace(draft, inspection=inspection, warnings=(*draft.warnings, *warnings))

    def _create(self, new: str, attributes: UnitAttributes) -> Sequence[str]:
        """Create the new directory of a unit with the attributes of the live one. Return warnings."""
        self._services.fs.mkdirs(new)
        return attributes.apply_to_directory(new, self._table.options.attributes, self._probes)

    def _write_once(self, draft: UnitDraft) -> WrittenUnit:
        started, live = self._services.clock.monotonic(), draft.plan.unit.location
        with self._services.phases.during("write"):
            written = self.groups.write(draft.inspection, live, draft.new, draft.attributes.file.replication)
        return self._finish(draft, written, started, lambda new: self.groups.verify(written, draft.new, new))

    def take(self, draft: UnitDraft, staged: StagedUnit) -> WrittenUnit:
        """Move the files of a unit from a joint write into its new directory.

        After an error the unit must not be written by itself: the rename may still be executed, and the directory would
        hold its rows twice.
        """
        started = self._services.clock.monotonic() - staged.seconds
        for file, named in zip(staged.files.data, staged.named.data):
            self._services.fs.rename(f"{staged.directory}/{file.name}", f"{draft.new}/{named.name}")
        return self._finish(draft, [staged.written], started, lambda new: staged.check(draft.new, new))

    def cause(self, plan: UnitPlan, error: Exception | Decision) -> Exception | Decision:
        """Return why a unit is not written.

        Files that were replaced while they were read, or that are still being written, cause errors of all kinds. Then
        the unit was in use, which is not a failure.
        """
        fs, location = self._services.fs, plan.unit.location
        of_bytes = isinstance(error, (Unreadable, WrongStatistics))
        plain = not isinstance(error, Exception) or (isinstance(error, Refusal) and not of_bytes)
        why = error if isinstance(error, Exception) else on_wire(error)[2]
        try:
            now = fs.list_files(location)
            opened = [] if plain else fs.open_files(location, [file.name for file in now.data])
        except FileNotFoundError:
            return UnitChanged(f"{location} was removed while the unit was compacted ({why})")
        except OSError:
            return error
        lost = differences(plan.inputs.files, now).lost if plan.inputs else ()
        if isinstance(error, Refusal) and plan.inputs:
            error.of_planned_files = now.fingerprint == plan.inputs.files.fingerprint
        if lost:
            return UnitChanged(f"{lost[0].name} was replaced or removed while the unit was compacted ({why})")
        if opened:
            return Refusal(RefusalCode.ACTIVE_WRITER, f"{location}/{opened[0]} is being written ({why})")
        return error

    def _finish(
        self,
        draft: UnitDraft,
        written: Sequence[WrittenGroup],
        started: float,
        verify: Callable[[FileListing], Sequence[str]],
    ) -> WrittenUnit:
        """Complete the new directory with flags and attributes, verify it, and create the intent.

        Args:
            verify: compares the files with those that were read. It returns warnings.
        """
        policy, new = self._table.options.attributes, draft.new
        self._copy_flags(draft.before, new)
        warnings = [*draft.warnings, *draft.attributes.apply_to_files(new, policy)]
        with self._services.phases.during("verify"):
            compacted = list_unit(self._services.fs, new)
            check_left(self._table.facts, self._table.options.bucketing, len(compacted.data))
            check_all_written(written, draft.before, draft.inspection.without_rows)
            warnings += verify(compacted)
        swap = self._prepare(draft.plan, draft.before, compacted, sum(group.result.rows for group in written))
        texts = [text for group in written for text in group.warnings]
        texts += ignored_properties(self._table.file_format, self._table.facts.properties)
        texts += bucket_warnings(self._table.facts, self._table.options.bucketing)
        seconds = draft.seconds + self._services.clock.monotonic() - started
        return WrittenUnit(
            draft.plan,
            swap,
            draft.inspection.codec,
            draft.attributes,
            seconds,
            (*texts, *warnings),
            self._table.strategy_of(draft.plan.inputs) if draft.plan.inputs else None,
            draft.written_by,
        )

    def _copy_flags(self, before: FileListing, new: str) -> None:
        """Copy the flags into the new directory before the swap, which is called off if one is gone from the live one.

        A job that waits for a flag finds it as soon as the rewritten directory is live.
        """
        for file in before.files:
            if file.is_flag:
                self._services.fs.create(f"{new}/{file.name}", b"")

    def _prepare(self, plan: UnitPlan, before: FileListing, compacted: FileListing, rows: int) -> Swap:
        """Return the intent, with the identities of both directories.

        All parent directories are created here and never later, so a fenced attempt cannot create them again.
        """
        fs, unit = self._services.fs, plan.unit
        live_id, new_id = fs.identity(unit.location), fs.identity(self._path(self._new_path(plan)))
        if live_id is None or new_id is None:
            raise UnitChanged(f"{unit.location} was removed while it was compacted")
        swap = Swap(
            spec=unit.spec,
            live=unit.location,
            new=self._new_path(plan),
            old=self._path_in(layout.old_directory, plan),
            aside=self._path_in(layout.aside_directory, plan),
            conflict=self._path_in(layout.conflict_directory, plan),
            live_id=live_id,
            new_id=new_id,
            originals=before,
            compacted=compacted,
            rows=rows,
        )
        for directory in (layout.old_directory, layout.aside_directory):
            self._create_above(directory, plan)
        return swap

    def _create_above(self, directory: Callable[[str], str], plan: UnitPlan) -> Sequence[str]:
        """Create the directories above a unit's path in the run. Return warnings."""
        path = self._path(self._path_in(directory, plan))
        return self._directories.create_above(path, self._path("").rstrip("/"), plan.unit.location)

    def _new_path(self, plan: UnitPlan) -> str:
        return self._path_in(layout.tmp_directory, plan)

    def _path_in(self, directory: Callable[[str], str], plan: UnitPlan) -> str:
        return f"{directory(self._stamp)}/{self._home.relative(plan.unit.location)}"

    def discard(self, plan: UnitPlan) -> None:
        """Delete what a failed write has left.

        The directory never was live and is in the run's own directory, so it holds no files of other writers.
        """
        path = self._path(self._new_path(plan))
        try:
            if self._services.fs.status(path) is not None:
                self._services.fs.delete_tree(path)
        except OSError as error:
            log.warning("could not delete %s: %s", path, error)

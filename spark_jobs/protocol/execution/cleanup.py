"""The cleanup of a run: it deletes the originals permanently, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.messages.errors import DamagedOriginals, LakekeeperError, OnlyCopy, Unsafe
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.remedies import accounts, originals
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values import layout
from spark_jobs.protocol.execution.ending import EndingWork
from spark_jobs.protocol.execution.originals_in_use import UseOfOriginals
from spark_jobs.protocol.execution.recovery import Recovery
from spark_jobs.protocol.execution.unit_results import (
    UnitResult,
    cleaned,
    not_deleted,
    reason_of,
    with_remedy,
)
from spark_jobs.protocol.file_system import FileSystemError, Status
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.working_directories import WorkingDirectories
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import files_of_originals, list_originals
from spark_jobs.protocol.swap.late_files import differences, move_hidden_files


@dataclass(frozen=True)
class Claim:
    """A unit whose originals may be deleted. `claimed`: an earlier cleanup has moved them to where they are deleted."""

    unit: UnitState
    claimed: bool

    @property
    def swap(self) -> Swap:
        return self.unit.swap


class Cleanup(EndingWork[Claim]):
    """The deletion of the originals of one run directory."""

    def __init__(self, services: Services, run: Run, recovery: Recovery, skip_trash: bool) -> None:
        super().__init__(services, run, recovery)
        self._use = UseOfOriginals(services.fs, recovery.policy, run.run_id)
        self._skip_trash = skip_trash
        self._claimed = layout.claimed_directory(run.state.stamp)
        self._directories = WorkingDirectories(services.fs)

    def check_trash(self) -> None:
        """Raise LakekeeperError if the trash is switched off.

        This is checked before anything is claimed: a claimed unit that cannot be deleted could neither be rolled back
        nor be cleaned up.
        """
        if not self._skip_trash and not self.services.fs.trash_enabled(self.entered.directory):
            raise LakekeeperError(
                "the trash is switched off (fs.trash.interval = 0); use --skip-trash to delete permanently"
            )

    def announced(self, item: UnitState) -> str:  # noqa: ARG002
        return "its originals would be deleted"

    def prepare(self, item: UnitState) -> Claim:
        if not self.check(item):
            return Claim(item, claimed=True)
        old = self.entered.path(item.swap.old)
        self._directories.create_above(self.claimed_path(item.swap), self.entered.directory, old)
        return Claim(item, claimed=False)

    def not_prepared(self, item: UnitState, error: Exception) -> UnitResult:
        return self.failed_result(item, error)

    def journal_intent(self, ready: Sequence[Claim]) -> None:
        units = [{"unit": item.swap.unit.key} for item in ready]
        self.entered.journal.append(journal.CLEANUP_CLAIMED, units=units)

    def act(self, ready: Claim) -> UnitResult:
        """Claim the originals by a rename, then delete them.

        After a crash in between, the next cleanup continues from the claim.
        """
        swap, fs = ready.swap, self.services.fs
        claimed = self.claimed_path(swap)
        if not ready.claimed:
            self._claim(swap, claimed)
        try:
            entries = fs.list(claimed)
        except FileNotFoundError:
            return cleaned(swap, trashed=False)  # An earlier cleanup has deleted them, or a person just now.
        if swap.live in self._use.places and any(entry.entry().belongs_to_writer for entry in entries):
            move_hidden_files(fs, claimed, swap.live)  # guard: hidden_files_back
            entries = fs.list(claimed)
        return cleaned(swap, trashed=self._delete(swap, claimed, entries))

    def _claim(self, swap: Swap, claimed: str) -> None:
        """Move the originals to where they are deleted. It is no error if somebody has just deleted them."""
        old = self.entered.path(swap.old)
        try:
            self.services.fs.move(old, claimed, swap.live_id)
        except FileNotFoundError:
            if self.services.fs.status(old) is not None:
                raise

    def not_acted(self, ready: Claim, error: Exception) -> UnitResult:
        return self.failed_result(ready.unit, error)

    def failed_result(self, item: UnitState, error: Exception) -> UnitResult:
        outcome = UnitOutcome.QUARANTINED if isinstance(error, Unsafe) else UnitOutcome.FAILED
        target, run_id = self.recovery.policy.target, self.entered.run_id
        reason = with_remedy(reason_of(error, item.swap.unit), error, target, run_id)
        return not_deleted(item.swap, outcome, reason, unknown=isinstance(error, FileSystemError))

    def claimed_path(self, swap: Swap) -> str:
        below = swap.old.split("/", 1)[1]
        return self.entered.path(f"{self._claimed}/{below}")

    def check(self, item: UnitState) -> bool:
        """Check that the originals are exactly what the journal lists, and that the table does not need them.

        Returns:
            Whether they still have to be claimed.

        Raises:
            Unsafe: the originals must not be deleted.
        """
        swap, fs = item.swap, self.services.fs
        old = self.entered.path(swap.old)
        if item.kind == journal.CLEANUP_CLAIMED and fs.status(old) is None:
            if fs.status(self.claimed_path(swap)) is not None:
                self._check_claimed_unused(swap, self.claimed_path(swap))  # guard: claimed_unused
            return False
        if fs.identity(old) != swap.live_id:  # guard: cleanup_identity
            raise DamagedOriginals(f"{old} {self._other(old)}; nothing was deleted")
        changes = differences(swap.originals, list_originals(fs, old))
        if changes:  # guard: cleanup_manifest
            raise DamagedOriginals(
                f"{old} does not hold the files that the journal lists ({changes}); nothing was deleted"
            )
        self._use.check_unused(swap, old)
        return True

    def _other(self, old: str) -> str:
        """Return what is wrong with a path that is not the directory of the originals."""
        if self.services.fs.status(old) is None:
            return "does not exist: somebody deleted or moved the originals"
        return "is not the directory that the journal names"

    def _check_claimed_unused(self, swap: Swap, claimed: str) -> None:
        """Check that the table does not need what a cleanup has claimed. Without all its files no job restores it."""
        try:
            self._use.check_unused(swap, claimed)
        except OnlyCopy as error:
            lost = differences(swap.originals, list_originals(self.services.fs, claimed)).lost
            if not lost:
                raise
            raise DamagedOriginals(
                f"{error}, and {lost[0].name} is missing there: a cleanup has begun to delete them. Copy what the table"
                f" needs: {originals.copy_claimed(claimed, error.place, exists=error.in_the_way is not None)}"
            ) from None

    def _delete(self, swap: Swap, directory: str, entries: Sequence[Status]) -> bool:
        """Delete a claimed directory. A part of it may be missing after an earlier deletion that was interrupted.

        Args:
            entries: what it holds, as it was listed just now.

        Returns:
            Whether the directory was moved to the trash.
        """
        self._check_claimed(swap, directory, entries)
        try:
            if self._skip_trash:
                self.services.fs.delete_tree(directory)
            elif not self.services.fs.trash(directory):
                raise LakekeeperError(f"{directory} could not be moved to the trash. {self._without_trash()}")
        except OSError as error:
            if self.services.fs.status(directory) is not None:
                raise (
                    error if self._skip_trash else type(error)(f"{error}. {self._without_trash()}")
                ) from None
        return not self._skip_trash

    def _without_trash(self) -> str:
        return accounts.no_trash(self.services.fs.user(), self.recovery.policy.target, self.entered.run_id)

    def check_originals(self, item: UnitState) -> None:
        """Check the originals of a unit as a cleanup does, and what it has claimed of them.

        Raises:
            DamagedOriginals: they are not, or not only, what the journal lists.
            Unsafe: they must not be deleted for another reason.
        """
        claimed = self.claimed_path(item.swap)
        if not self.check(item) and self.services.fs.status(claimed) is not None:
            self._check_claimed(item.swap, claimed, self.services.fs.list(claimed))

    def _check_claimed(self, swap: Swap, directory: str, entries: Sequence[Status]) -> None:
        present, known = files_of_originals(self.services.fs, directory, entries), set(swap.originals.files)
        unknown = [file.name for file in present.files if file not in known and not file.is_flag]
        if unknown:  # guard: cleanup_unknown_file
            raise DamagedOriginals(
                f"{directory} holds {unknown[0]}, which the journal does not list; it was not deleted"
            )

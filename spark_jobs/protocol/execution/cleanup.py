"""The cleanup of a run: it deletes the originals permanently, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from spark_jobs.core import journal, layout
from spark_jobs.core.eligibility import may_have_runs
from spark_jobs.core.errors import DamagedOriginals, LakekeeperError, OnlyCopy, Unsafe
from spark_jobs.core.journal import UnitState
from spark_jobs.core.layout import is_below, is_inside_home
from spark_jobs.core.model import parent
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.swap import Swap
from spark_jobs.protocol.execution.recovery import Recovery
from spark_jobs.protocol.execution.unit_results import UnitResult, cleaned, kept, reason_of
from spark_jobs.protocol.execution.waves import UnitWork
from spark_jobs.protocol.execution.ways_out import with_way_out, without_trash
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import list_originals
from spark_jobs.protocol.swap.late_files import differences, move_hidden_files
from spark_jobs.protocol.swap.locations import statement_back


class Cleanup(UnitWork[UnitState, UnitState]):
    """The deletion of the originals of one run folder."""

    def __init__(self, services: Services, run: Run, recovery: Recovery, skip_trash: bool) -> None:
        super().__init__(services, run, recovery)
        self._locations = locations = recovery.policy.locations
        self._skip_trash = skip_trash
        self._claimed = layout.claimed_folder(run.state.stamp)
        # A person may have set a partition's location to its backup: then the originals are the table's data.
        self._locations_in_homes = [location for location in locations.values() if is_inside_home(location)]

    def check_trash(self) -> None:
        """Raise LakekeeperError if the trash is switched off.

        This is checked before anything is claimed: a claimed unit that cannot be deleted could neither be rolled back
        nor be cleaned up.
        """
        if not self._skip_trash and not self.services.fs.trash_enabled(self.entered.folder):
            raise LakekeeperError(
                "the trash is switched off (fs.trash.interval = 0); use --skip-trash to delete permanently"
            )

    def would(self, units: Sequence[UnitState], parallelism: int) -> list[UnitResult]:
        """Return what a cleanup would do. Nothing is changed."""
        with self.services.pool(parallelism) as pool:
            return list(pool.map(self._dry_run, units))

    def _dry_run(self, item: UnitState) -> UnitResult:
        try:
            self._check(item)
        except Exception as error:
            return self.failed_result(item, error)
        return kept(item.swap, UnitOutcome.FLAGGED, "dry run: its originals would be deleted")

    def prepare(self, item: UnitState) -> UnitState:
        if self._check(item):
            self.services.fs.mkdirs(parent(self.claimed_path(item.swap)))
        return item

    def not_prepared(self, item: UnitState, error: Exception) -> UnitResult:
        return self.failed_result(item, error)

    def journal_intent(self, ready: Sequence[UnitState]) -> None:
        units = [{"unit": item.swap.unit.key} for item in ready]
        self.entered.journal.append(journal.CLEANUP_CLAIMED, units=units)

    def act(self, ready: UnitState) -> UnitResult:
        """Claim the originals by a rename, then delete them.

        After a crash in between, the next cleanup continues from the claim.
        """
        swap, fs = ready.swap, self.services.fs
        claimed = self.claimed_path(swap)
        if fs.status(self.entered.path(swap.old)) is not None:
            fs.move(self.entered.path(swap.old), claimed, swap.live_id)
        present = fs.status(claimed) is not None
        if present and swap.live in self._locations.values():
            move_hidden_files(fs, claimed, swap.live)  # guard: hidden_files_back
        return cleaned(swap, trashed=present and self._delete(swap, claimed))

    def not_acted(self, ready: UnitState, error: Exception) -> UnitResult:
        return self.failed_result(ready, error)

    def failed_result(self, item: UnitState, error: Exception) -> UnitResult:
        outcome = UnitOutcome.QUARANTINED if isinstance(error, Unsafe) else UnitOutcome.FAILED
        target, run_id = self.recovery.policy.target, self.entered.run_id
        reason = with_way_out(reason_of(error, item.swap.unit), error, target, run_id)
        return kept(item.swap, outcome, reason, unknown=isinstance(error, FileSystemError))

    def claimed_path(self, swap: Swap) -> str:
        below = swap.old.split("/", 1)[1]
        return self.entered.path(f"{self._claimed}/{below}")

    def _check(self, item: UnitState) -> bool:
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
        self._check_unused(swap, old)
        return True

    def _other(self, old: str) -> str:
        """Return what is wrong with a path that is not the directory of the originals."""
        if self.services.fs.status(old) is None:
            return "does not exist: somebody deleted or moved the originals"
        return "is not the directory that the journal names"

    def _check_claimed_unused(self, swap: Swap, claimed: str) -> None:
        """Check that the table does not need what a cleanup has claimed. Without all its files no job restores it."""
        try:
            self._check_unused(swap, claimed)
        except OnlyCopy as error:
            lost = differences(swap.originals, list_originals(self.services.fs, claimed)).lost
            if not lost:
                raise
            raise DamagedOriginals(
                f"{error}, and {lost[0].name} is missing there: a cleanup has begun to delete them. Copy what the table"
                f" needs: {_copy_of(claimed, error)}"
            ) from None

    def _check_unused(self, swap: Swap, old: str) -> None:
        for location in self._locations_in_homes:
            if location == old or is_below(location, old) or is_below(old, location):
                raise Unsafe(
                    f"the metastore uses {location}, which overlaps the originals in {old}; nothing was deleted."
                    f" {self._not_originals(swap, location)}"
                )
        now = self._locations.get(swap.unit.key)
        # Another partition may read the directory now: after a renaming, or since this one has a directory elsewhere.
        if swap.live in self._locations.values():  # guard: cleanup_live_renamed
            self._check_live(swap, old, swap.live)
        elif now is None and self.services.fs.status(swap.live) is None:
            now = self._by_identity.get(swap.new_id)  # guard: cleanup_live_moved
        if now is not None and now != swap.live:
            self._check_live(swap, old, now)

    def _not_originals(self, swap: Swap, location: str) -> str:
        """Return how a partition is pointed at another directory than the originals."""
        statement = self._statement_back(swap, location)
        if statement is None:
            return f"Give the partition at {location} a directory of its own (ALTER TABLE ... SET LOCATION)"
        return (
            f"Give the partition its location back ({statement}); if it should have the originals,"
            f" {self._rollback} then restores them"
        )

    def _statement_back(self, swap: Swap, place: str) -> str | None:
        """Return the statement that gives a unit its journaled location back; None where no rollback needs it."""
        policy = self.recovery.policy
        return None if policy.dropped else statement_back(swap, self._locations, policy.table, place)

    @property
    def _rollback(self) -> str:
        return f"`lakekeeper rollback {self.recovery.policy.target} --run-id {self.entered.run_id}`"

    @cached_property
    def _by_identity(self) -> dict[str | None, str]:
        """Return the locations of the metastore by the identities of their directories.

        This costs one call for each location, so it is done only for runs that need it.
        """
        places = [location for location in self._locations.values() if may_have_runs(location)]
        return {self.services.fs.identity(location): location for location in places}

    def _check_live(self, swap: Swap, old: str, place: str) -> None:
        """Raise Unsafe if the originals are the only copy of data that no writer has replaced.

        The partition may have been moved since the compaction, for instance to an archive. Its data is then at `place`,
        the location that the metastore has now.
        """
        try:
            live = self.services.fs.list_files(place)
        except FileNotFoundError:
            # guard: cleanup_live_missing
            text = f"{place} is missing although the metastore has it; its originals in {old} are kept"
            raise self._only_copy(text, swap, place, missing=True) from None
        if not live.data:  # guard: cleanup_live_empty
            raise self._only_copy(
                f"{place} holds no data any more; the originals in {old} are the only copy, and are kept. Write the"
                " data that the table should hold, or drop the partition",
                swap,
                place,
            )
        if self.recovery.policy.writers == "overwrite":
            return
        if not any(file.length for file in live.data):  # guard: cleanup_live_empty_files
            raise self._only_copy(
                f"{place} holds only empty files; the originals in {old} are the only copy, and are kept. If writers of"
                " this table overwrite it in place, set the table property lakekeeper.writers=overwrite",
                swap,
                place,
            )
        lost = [file.name for file in differences(swap.compacted, live).lost if file.is_data]
        if lost and self.services.fs.identity(place) == swap.new_id:  # guard: cleanup_live_incomplete
            raise self._only_copy(
                f"{lost[0]}, which the run wrote to {place}, is gone or changed; the originals in {old} are kept."
                " If writers of this table overwrite it in place, set the table property lakekeeper.writers=overwrite",
                swap,
                place,
            )

    def _only_copy(self, text: str, swap: Swap, place: str, *, missing: bool = False) -> OnlyCopy:
        return OnlyCopy(text, place, missing=missing, statement=self._statement_back(swap, place))

    def _delete(self, swap: Swap, folder: str) -> bool:
        """Delete a claimed folder. A part of it may be missing after an earlier deletion that was interrupted.

        Returns:
            Whether the folder was moved to the trash.
        """
        self._check_claimed(swap, folder)
        try:
            if self._skip_trash:
                self.services.fs.delete_tree(folder)
            elif not self.services.fs.trash(folder):
                raise LakekeeperError(f"{folder} could not be moved to the trash. {self._without_trash()}")
        except OSError as error:
            if self.services.fs.status(folder) is not None:
                raise (
                    error if self._skip_trash else type(error)(f"{error}. {self._without_trash()}")
                ) from None
        return not self._skip_trash

    def _without_trash(self) -> str:
        return without_trash(
            self.services.fs.user(), None if self.recovery.policy.dropped else self._rollback
        )

    def check_originals(self, item: UnitState) -> None:
        """Check the originals of a unit as a cleanup does, and what it has claimed of them.

        Raises:
            DamagedOriginals: they are not, or not only, what the journal lists.
            Unsafe: they must not be deleted for another reason.
        """
        claimed = self.claimed_path(item.swap)
        if not self._check(item) and self.services.fs.status(claimed) is not None:
            self._check_claimed(item.swap, claimed)

    def _check_claimed(self, swap: Swap, folder: str) -> None:
        present, known = list_originals(self.services.fs, folder), swap.originals.files
        unknown = [file.name for file in present.files if file not in known and not file.is_flag]
        if unknown:  # guard: cleanup_unknown_file
            raise DamagedOriginals(
                f"{folder} holds {unknown[0]}, which the journal does not list; it was not deleted"
            )


def _copy_of(claimed: str, error: OnlyCopy) -> str:
    """Return the command that gives a table what is left of its originals. FsShell copies into what exists."""
    if error.in_the_way is None:
        return f"hdfs dfs -cp -p '{claimed}' '{error.place}'"
    return f"hdfs dfs -cp -p '{claimed}'/* '{error.place}'/"

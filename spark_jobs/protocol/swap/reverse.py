"""The reverse swap of one unit: it moves the rewritten directory out, and the originals back to the live path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spark_jobs.core.messages.errors import DamagedOriginals, LakekeeperError
from spark_jobs.core.messages.remedies import originals
from spark_jobs.core.messages.remedies.verbs import of_table
from spark_jobs.core.records import journal
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.records.swap_state import SwapState
from spark_jobs.core.values.model import FileListing, parent
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import SwapPaths, check_closed, list_originals, list_unit
from spark_jobs.protocol.swap.late_files import differences, move_late_files
from spark_jobs.protocol.swap.legacy import check_nothing_left
from spark_jobs.protocol.swap.missing_live import check_stays_missing
from spark_jobs.protocol.swap.moved_unit import MovedUnit
from spark_jobs.protocol.swap.policy import SwapPolicy
from spark_jobs.protocol.swap.swap_executor import Action, SwapExecutor, SwapResult, overwritten


class CannotRollBack(LakekeeperError):
    """The originals must not be moved back. Nothing was moved."""


class ReverseSwap(SwapExecutor):
    """The swap of units in a rollback. It also finishes rollbacks that were interrupted.

    Args:
        live_missing: `prepare` found that the live directory did not exist, although the metastore had the unit.
    """

    def __init__(self, services: Services, run: Run, policy: SwapPolicy, live_missing: bool = False) -> None:
        super().__init__(services, run, policy)
        self._live_missing = live_missing

    def prepare(self, swap: Swap, on_new_data: str) -> bool:
        """Check that the originals may be moved back. Nothing is changed.

        Returns:
            Whether the live directory does not exist although the metastore has the unit. It is asked after the look: a
            drop with purge deletes the partition first, and then its directory.

        Raises:
            CannotRollBack: the live directory is not the one of this run, was overwritten, is not at the location that
                the metastore has, or has new files that `on_new_data` refuses.
            LakekeeperError: Lakekeeper 0.0.6 has moved the live directory.
            Refusal: a writer is active in the live directory, or there are sub-directories.
            Unsafe: the originals are not those that the journal lists.
        """
        paths = self.paths(swap)
        where = paths.look()
        self._check_originals(paths)
        if where is SwapState.SWAPPED:
            self._check_location(swap)
            self._check_live(paths, on_new_data)
        elif where is SwapState.OLD_ONLY:
            self._check_location(swap)
            check_nothing_left(self._fs, paths.live)
            base = parent(parent(self._run.directory))
            check_stays_missing(self._services, paths.live, base)  # guard: rollback_without_live
        else:
            raise CannotRollBack(self._other_live_message(paths))
        # guard: missing_while_registered
        return where is SwapState.OLD_ONLY and self._policy.still_registered(swap)

    def _other_live_message(self, paths: SwapPaths) -> str:
        known = self._policy.later
        later = known.of(paths.seen(paths.live)) if known else None
        replaced_by = str(later) if later else None
        return originals.of_another_run(
            paths.live, self._run.run_id, paths.old, of_table(self._policy.table), replaced_by
        )

    def changed_attributes_note(self, swap: Swap) -> str | None:
        """Return a note if mode, group or ACL were changed since the compaction: the originals have the earlier ones.

        Return None if they are equal, or cannot be read.
        """
        paths = self.paths(swap)
        try:
            now, then = (self._fs.attributes(path) for path in (paths.live, paths.old))
        except OSError:
            return None
        differing = [kind for kind in ("mode", "group", "acl") if getattr(now, kind) != getattr(then, kind)]
        return (
            f"restored with the attributes from before the compaction (changed since: {', '.join(differing)})"
            if differing
            else None
        )

    def _check_location(self, swap: Swap) -> None:
        if self._policy.registered(swap):  # guard: rollback_location
            return
        location = self._policy.locations.get(swap.unit.key)
        known = f"has it at {location}" if location else "does not have it any more"
        raise CannotRollBack(
            f"{swap.unit} was compacted at {swap.live}, but the metastore {known}; nothing was moved."
            f" {MovedUnit(self._fs, self._policy, swap, self._run.run_id).text(location)}"
        )

    def _check_live(self, paths: SwapPaths, on_new_data: str) -> None:
        # A pending file is moved under its own name, so that its writer still finds it.
        rules = replace(self._policy.rules, dead_before=None)
        changes = differences(paths.swap.compacted, list_unit(self._fs, paths.live, rules))
        lost = [file.name for file in changes.lost if file.is_data]  # guard: rollback_overwritten
        if lost:
            raise CannotRollBack(self._overwritten_message(paths, lost[0]))
        if not self._policy.footers:  # guard: rollback_open_files
            check_closed(self._fs, paths.live, paths.swap.compacted)
        added = [file.name for file in changes.added if file.is_data]
        if added and on_new_data == "refuse":
            raise CannotRollBack(
                f"{len(added)} files were added to {paths.live} since the compaction ({added[0]}), and on_new_data is"
                " 'refuse'"
            )

    def _overwritten_message(self, paths: SwapPaths, name: str) -> str:
        target, run_id = of_table(self._policy.table), self._run.run_id
        return originals.overwritten(name, paths.live, paths.old, target, run_id)

    def check_originals(self, swap: Swap) -> None:
        """Raise Unsafe if the originals are not those that the journal lists."""
        paths = self.paths(swap)
        paths.look()
        self._check_originals(paths)

    def _check_originals(self, paths: SwapPaths) -> None:
        same = paths.seen(paths.old) == paths.swap.live_id
        if not same or differences(paths.swap.originals, list_originals(self._fs, paths.old)):
            raise DamagedOriginals(self._not_the_originals_message(paths))

    def _not_the_originals_message(self, paths: SwapPaths) -> str:
        what = (
            "does not exist: somebody deleted or moved the originals"
            if self._fs.status(paths.old) is None
            else "does not hold the originals that the journal lists"
        )
        return f"{paths.old} {what}; nothing was changed"

    def _actions(self) -> Mapping[SwapState, Action]:
        return {
            SwapState.SWAPPED: self._swap_back,
            SwapState.BETWEEN_RENAMES: self._complete_or_reverse,
            SwapState.NOT_SWAPPED: self._end_or_reverse,
            SwapState.LIVE_ONLY: self._end_or_reverse,
            SwapState.FOREIGN_LIVE: self._end_after_replacement,
            SwapState.FOREIGN_LIVE_OLD_GONE: self._end_after_two_replacements,
            SwapState.DROPPED: self._end_after_drop,
            SwapState.OLD_ONLY: self._restore_without_rewritten,
            SwapState.FOREIGN_LIVE_IN_GAP: self._resolve_recreated,
            SwapState.FOREIGN_LIVE_AND_ASIDE: self._resolve_recreated,
            SwapState.FOREIGN_ASIDE_IN_GAP: self._move_aside_to_live,
            SwapState.SWAPPED_FOREIGN_OLD: self._move_live_to_aside,
            SwapState.FOREIGN_OLD_IN_GAP: self._move_old_to_live,
            SwapState.FOREIGN_OLD_AND_ASIDE: self._move_old_to_live,
            SwapState.LIVE_FOREIGN_ASIDE: self._move_live_to_old,
            SwapState.SWAPPED_FOREIGN_LIVE: self._commit_foreign_live,
        }

    def _swap_back(self, paths: SwapPaths, problem: str | None) -> SwapResult | None:
        """Do both renames at once. What a writer did right before them is checked afterwards.

        With a `problem`, the rollback was reversed, and the unit stays compacted.
        """
        swap = paths.swap
        if problem:
            moved_files = move_late_files(self._fs, swap.originals, paths.old, paths.live)
            return SwapResult(journal.COMMITTED, problem, moved_files)
        self._fs.move(paths.live, paths.aside, swap.new_id)  # guard: rollback_renames_aside
        self._fs.move(paths.old, paths.live, swap.live_id)
        return None

    def _complete_or_reverse(self, paths: SwapPaths, _: str | None) -> str | None:
        """Complete the rollback, unless a writer overwrote the rewritten files or changed the originals just before."""
        swap, source = paths.swap, paths.rewritten()
        problem = self._late_change(paths, source)
        if problem:
            self._fs.move(source, paths.live, swap.new_id)
            return problem
        self._fs.move(paths.old, paths.live, swap.live_id)
        return None

    def _late_change(self, paths: SwapPaths, source: str) -> str | None:
        lost = self._lost_or_reopened_file(paths, source, self._files_in(source))
        if lost:
            return self._overwritten_message(paths, lost)
        touched = differences(paths.swap.originals, self._fs.list_files(paths.old))
        return self._not_the_originals_message(paths) if touched else None

    def _end_or_reverse(self, paths: SwapPaths, _: str | None) -> SwapResult | str:
        """End the rollback, or reverse it if the rewritten files were overwritten right before they were moved.

        Files that were overwritten are the table's content.
        """
        source = paths.rewritten()
        here = self._files_in(source)
        lost = self._lost_or_reopened_file(paths, source, here)
        if not lost:
            # Files that HDFS was asked about may have been closed since, with other content: they are listed again.
            listed = here if self._policy.footers else None
            return SwapResult(journal.ROLLED_BACK, moved_files=self._move_late_files(paths, source, listed))
        self._fs.move(paths.live, paths.old, paths.swap.live_id)
        return self._overwritten_message(paths, lost)

    def _move_live_to_old(self, paths: SwapPaths, _: str | None) -> str:
        """Move the originals out again: a writer replaced the directory right before it was moved to `aside`.

        The writer's directory is the table. It is moved back once the next state shows that no other was replaced.
        """
        self._fs.move(paths.live, paths.old, paths.swap.live_id)
        return overwritten(paths)

    def _files_in(self, source: str) -> FileListing | None:
        try:
            return self._fs.list_files(source)
        except FileNotFoundError:
            return None

    def _lost_or_reopened_file(self, paths: SwapPaths, source: str, here: FileListing | None) -> str | None:
        """Return the name of a data file of this run that is missing, changed, or open again.

        Return None if there is no such file, or no directory.

        Args:
            here: the files in `source`; None if it does not exist.
        """
        if here is None:
            return None
        ours = paths.swap.compacted
        lost = [file.name for file in differences(ours, here).lost if file.is_data]
        try:
            if not lost and not self._policy.footers:  # guard: rollback_open_files_late
                lost += self._fs.open_files(source, [file.name for file in ours.data])
        except FileNotFoundError:
            return None
        return lost[0] if lost else None  # guard: rollback_overwritten_late

    def _end_after_replacement(self, paths: SwapPaths, _: str | None) -> SwapResult:
        """End the rollback: the originals were live again, and a writer has replaced them since.

        Files that were appended to the rewritten directory are moved into the live one, unless writers of this table
        overwrite.
        """
        overwrites = self._policy.writers == "overwrite"
        return SwapResult(
            journal.ROLLED_BACK,
            moved_files=0 if overwrites else self._move_late_files(paths, paths.rewritten()),
        )

    def _end_after_drop(self, _: SwapPaths, __: str | None) -> SwapResult:
        """End the rollback: the unit was dropped after its originals were back."""
        return SwapResult(journal.ROLLED_BACK)

    def _end_after_two_replacements(self, paths: SwapPaths, _: str | None) -> SwapResult:
        """End the rollback after two overwrites.

        One writer replaced the rewritten directory right before it was moved to `aside`, and another writer has
        replaced the originals since.
        """
        if self._writers_overwrite(paths):
            return SwapResult(journal.ROLLED_BACK)
        moved_files = self._move_files_when_quiet(paths, paths.aside, FileListing(()))
        return SwapResult(journal.ROLLED_BACK, moved_files=moved_files)

    def _restore_without_rewritten(self, paths: SwapPaths, _: str | None) -> SwapResult | None:
        """Move the originals back, unless the partition was dropped together with the rewritten directory.

        If the live directory was missing before, nobody has dropped the partition together with it: the metastore had
        the partition without its directory. Discovery drops such a partition, so the originals are what is wanted.
        """
        known = self._live_missing or self._policy.still_registered(paths.swap)  # guard: missing_comes_back
        if not known:  # guard: dropped_stays_dropped
            return self._dropped_result(paths)
        check_nothing_left(self._fs, paths.live)
        self._fs.move(paths.old, paths.live, paths.swap.live_id)
        return None

"""The forward swap of one unit: it moves the originals out, and the rewritten directory to the live path.

Nothing else happens between the two renames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from spark_jobs.core.messages.errors import UnitChanged, WriterActive
from spark_jobs.core.records import journal
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.records.swap_state import SwapState
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.file_system import FileSystemError, Status
from spark_jobs.protocol.swap.directories import OURS, Blocker, SwapPaths, list_unit, listed_unit
from spark_jobs.protocol.swap.late_files import differences, move_late_files
from spark_jobs.protocol.swap.legacy import check_nothing_left
from spark_jobs.protocol.swap.swap_executor import Action, SwapExecutor, SwapResult


class ForwardSwap(SwapExecutor):
    """The swap of units after a compaction. It also finishes swaps that were interrupted."""

    def swap(
        self, swap: Swap, last_check: Callable[[], None], check_files: Callable[[Sequence[Status]], None]
    ) -> SwapResult:
        """Rename live -> old, then new -> live.

        Args:
            last_check: raises an error to call the swap off while nothing has moved yet.
            check_files: does the same, by the last listing of the live directory.

        Raises:
            UnitChanged: one of the directories is not in the state that was planned on.
            Exception: whatever `last_check` and `finish` raise.
        """
        paths = self.paths(swap)
        last_check()
        self._check_unchanged(paths, check_files)
        try:
            self._fs.move(paths.live, paths.old, swap.live_id)  # guard: nothing_between_renames
            self._fs.move(paths.new, paths.live, swap.new_id)
        except FileExistsError:
            # A writer recreated the live directory before the second rename. This is not a failure: the table property
            # `lakekeeper.writers` says how to continue.
            return self.finish(swap)
        except FileSystemError:
            raise  # guard: late_swap_fenced
        except OSError as error:
            return replace(self.finish(swap, str(error)), failed=True)  # guard: settle_after_error
        return self.finish(swap)

    def _check_unchanged(self, paths: SwapPaths, check_files: Callable[[Sequence[Status]], None]) -> None:
        """Raise UnitChanged unless both directories are in the state that was planned on.

        Added files are allowed: they are moved after the swap. Each directory is listed once.
        """
        swap = paths.swap
        here = (paths.live, paths.new)
        for path, present, identity in zip(here, self._fs.identities(here), (swap.live_id, swap.new_id)):
            if present != identity:
                raise UnitChanged(f"{path} is a different directory now")
        live = listed_unit(self._fs, paths.live, self._policy.rules)
        check_files(live.entries)  # guard: file_attributes_kept
        now = live.files
        lost = differences(swap.originals, now).lost
        if lost:  # guard: replaced_before_swap
            raise UnitChanged(
                f"{paths.live} changed while it was compacted: {lost[0].name} is a different file now"
            )
        gone = _flags(swap.originals) - {file.name for file in now.files}
        if gone:  # guard: flags_before_swap
            raise UnitChanged(f"{paths.live} changed while it was compacted: {min(gone)} was removed")
        if swap.compacted.diff(list_unit(self._fs, paths.new, OURS)):
            raise UnitChanged(f"the files in {paths.new} are not those that were written and verified")

    def _actions(self) -> Mapping[SwapState, Action]:
        return {
            SwapState.NOT_SWAPPED: self._discard,
            SwapState.LIVE_ONLY: self._discard,
            SwapState.FOREIGN_LIVE: self._discard_overwritten,
            SwapState.DROPPED: self._discard_replaced_or_dropped,
            SwapState.BETWEEN_RENAMES: self._complete_or_reverse,
            SwapState.SWAPPED: self._finish_swapped,
            SwapState.OLD_ONLY: self._restore_without_rewritten,
            SwapState.FOREIGN_LIVE_IN_GAP: self._resolve_recreated,
            SwapState.FOREIGN_LIVE_AND_ASIDE: self._resolve_recreated,
            SwapState.FOREIGN_OLD_AND_ASIDE: self._move_aside_to_live,
            SwapState.SWAPPED_FOREIGN_OLD: self._move_live_to_aside,
            SwapState.FOREIGN_OLD_IN_GAP: self._move_old_to_live,
            SwapState.FOREIGN_ASIDE_IN_GAP: self._move_aside_to_live,
            SwapState.SWAPPED_FOREIGN_LIVE: self._commit_foreign_live,
        }

    def _discard(self, paths: SwapPaths, problem: str | None) -> SwapResult:
        """Discard the swap: the originals are live.

        Files that were added while the rewritten directory was live are moved to the originals. If it never was live,
        added files are from late tasks of this run, and their rows are live already.
        """
        source = paths.rewritten()
        moved_files = (
            self._move_late_files(paths, source) if source == paths.aside else 0
        )  # guard: carry_from_aside_only
        return SwapResult(journal.DISCARDED, problem or "the swap was interrupted", moved_files)

    def _discard_overwritten(self, paths: SwapPaths, problem: str | None) -> SwapResult:
        """Discard the swap: the writer's directory is the table.

        Files that were added while the rewritten directory was live belong to the table too, unless writers of this
        table overwrite.
        """
        source = paths.rewritten()
        appended = source == paths.aside and self._policy.writers != "overwrite"
        moved_files = (
            self._move_late_files(paths, source) if appended else 0
        )  # guard: appended_after_overwrite
        return replace(self._discard_replaced_or_dropped(paths, problem), moved_files=moved_files)

    def _discard_replaced_or_dropped(self, paths: SwapPaths, problem: str | None) -> SwapResult:
        """Discard the swap: a writer has replaced the live directory, or the unit was dropped."""
        return SwapResult(journal.DISCARDED, problem or f"{paths.live} was replaced by a writer, or dropped")

    def _complete_or_reverse(self, paths: SwapPaths, problem: str | None) -> None:
        """Complete the swap, or move the originals back.

        It is completed if the rewritten directory holds what was verified, and the metastore still has the unit.
        """
        swap, source = paths.swap, paths.rewritten()
        # guard: whole_before_forward
        if not problem and self._policy.still_registered(swap) and self._is_complete(paths, source):
            self._fs.move(source, paths.live, swap.new_id)
        else:
            self._fs.move(paths.old, paths.live, swap.live_id)

    def _is_complete(self, paths: SwapPaths, source: str) -> bool:
        """Return whether the rewritten directory holds all that was verified, and nothing else if it never was live."""
        changes = differences(paths.swap.compacted, self._fs.list_files(source))
        # guard: nothing_added_before_live
        return not changes.lost and (source == paths.aside or not changes.added)

    def _restore_without_rewritten(self, paths: SwapPaths, _: str | None) -> SwapResult | str:
        """Move the originals back. If the metastore has no unit there any more, commit, and keep the originals."""
        if not self._policy.still_registered(paths.swap):  # guard: dropped_stays_dropped_forward
            return self._dropped_result(paths)
        check_nothing_left(self._fs, paths.live)
        self._fs.move(paths.old, paths.live, paths.swap.live_id)
        return f"the rewritten directory of {paths.live} is missing"

    def _finish_swapped(self, paths: SwapPaths, _: str | None) -> SwapResult | str:
        """Commit the swap, or reverse it because of a writer that was active before the first rename.

        The effects of such a writer are visible in `old`. Files that it has closed are moved into the live directory.
        If it replaced files, or is still active, the swap is reversed at once.
        """
        files = self._find_blocker(paths, paths.old, paths.swap.originals)
        if isinstance(files, Blocker):
            return self._revert(paths, f"a writer is active in {paths.old} ({files.name})")
        reason = self._replacement_reason(paths, files)
        if reason:
            return self._revert(paths, reason)
        # guard: carry_late_files
        moved_files = move_late_files(self._fs, paths.swap.originals, paths.old, paths.live, files)
        return SwapResult(journal.COMMITTED, moved_files=moved_files)

    def _replacement_reason(self, paths: SwapPaths, now: FileListing) -> str | None:
        lost = differences(paths.swap.originals, now).lost
        # guard: replaced_during_swap
        return f"{lost[0].name} was replaced or removed during the swap" if lost else None

    def _revert(self, paths: SwapPaths, reason: str) -> SwapResult | str:
        """Reverse the swap at once, unless a writer is active in the rewritten directory, or has overwritten it.

        A directory that was overwritten is the table now.
        """
        files = self._find_blocker(paths, paths.live, paths.swap.compacted)
        if isinstance(files, Blocker):
            raise WriterActive(f"{reason}, and {files}")
        if differences(paths.swap.compacted, files).lost:
            return self._overwritten_result(paths)
        self._move_live_to_aside(paths, reason)
        return reason


def _flags(files: FileListing) -> set[str]:
    return {file.name for file in files.files if file.is_flag}

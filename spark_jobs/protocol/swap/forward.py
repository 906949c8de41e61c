"""The forward swap of one unit: originals out, rewritten directory in. Nothing happens between the two renames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from spark_jobs.core import journal
from spark_jobs.core.errors import Held, UnitChanged
from spark_jobs.core.journal import Swap
from spark_jobs.core.model import FileListing
from spark_jobs.core.swap_state import SwapState
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.swap.directories import OURS, SwapPaths, list_unit
from spark_jobs.protocol.swap.late_files import differences, move_late_files
from spark_jobs.protocol.swap.swap_executor import Action, SwapExecutor, SwapResult


class ForwardSwap(SwapExecutor):
    """Swaps units, and finishes swaps that were interrupted."""

    def swap(self, swap: Swap, last_check: Callable[[], None]) -> SwapResult:
        """Rename live -> old, new -> live. `last_check` raises to call the swap off while nothing has moved yet.

        Raises what `last_check` raises, UnitChanged, and all that `finish` does.
        """
        paths = self.paths(swap)
        last_check()
        self._check_unchanged(paths)
        try:
            self._fs.move(paths.live, paths.old, swap.live_id)  # guard: nothing_between_renames
            self._fs.move(paths.new, paths.live, swap.new_id)
        except FileExistsError:
            # The second rename lost a race to a writer: no failure; `lakekeeper.writers` says how to continue.
            return self.finish(swap)
        except FileSystemError:
            raise  # guard: late_swap_fenced
        except OSError as error:
            return replace(self.finish(swap, str(error)), failed=True)  # guard: settle_after_error
        return self.finish(swap)

    def _check_unchanged(self, paths: SwapPaths) -> None:
        """Commit only against the state that was planned on. Added files are no obstacle: they are moved afterwards."""
        swap = paths.swap
        for path, identity in ((paths.live, swap.live_id), (paths.new, swap.new_id)):
            if self._fs.identity(path) != identity:
                raise UnitChanged(f"{path} is not the directory that was read")
        now = list_unit(self._fs, paths.live, self._policy.rules)
        lost = differences(swap.originals, now).lost
        if lost:  # guard: replaced_before_swap
            raise UnitChanged(
                f"{paths.live} changed while it was compacted: {lost[0].name} is another file now"
            )
        gone = _flags(swap.originals) - {file.name for file in now.files}
        if gone:  # guard: flags_before_swap
            raise UnitChanged(f"{paths.live} changed while it was compacted: {min(gone)} was taken away")
        if swap.compacted.diff(list_unit(self._fs, paths.new, OURS)):
            raise UnitChanged(f"{paths.new} is not what was written and verified")

    def _actions(self) -> Mapping[SwapState, Action]:
        return {
            SwapState.NOT_SWAPPED: self._discard,
            SwapState.LIVE_ONLY: self._discard,
            SwapState.FOREIGN_LIVE: self._overwritten,
            SwapState.DROPPED: self._gone,
            SwapState.BETWEEN_RENAMES: self._in_the_gap,
            SwapState.SWAPPED: self._finish_swapped,
            SwapState.OLD_ONLY: self._without_new,
            SwapState.FOREIGN_LIVE_IN_GAP: self._recreated,
            SwapState.FOREIGN_LIVE_AND_ASIDE: self._recreated,
            SwapState.FOREIGN_OLD_AND_ASIDE: self._put_back,
            SwapState.SWAPPED_FOREIGN_OLD: self._aside,
            SwapState.FOREIGN_OLD_IN_GAP: self._old_back,
            SwapState.FOREIGN_ASIDE_IN_GAP: self._put_back,
            SwapState.SWAPPED_FOREIGN_LIVE: self._superseded,
        }

    def _discard(self, paths: SwapPaths, problem: str | None) -> SwapResult:
        """The originals are certainly live. Files that were added while the rewritten directory was live are moved to
        them; where it never was live, added files are from late tasks of this run, and their rows are live already."""
        source = paths.rewritten()
        moved_files = (
            self._move_late_files(paths, source) if source == paths.aside else 0
        )  # guard: carry_from_aside_only
        return SwapResult(journal.DISCARDED, problem or "the swap was interrupted", moved_files)

    def _overwritten(self, paths: SwapPaths, problem: str | None) -> SwapResult:
        """The writer's directory is the table. Files that were added while the rewritten directory was live belong to
        it too, unless writers of this table overwrite."""
        source = paths.rewritten()
        appended = source == paths.aside and self._policy.writers != "overwrite"
        moved_files = (
            self._move_late_files(paths, source) if appended else 0
        )  # guard: appended_after_overwrite
        return replace(self._gone(paths, problem), moved_files=moved_files)

    def _gone(self, paths: SwapPaths, problem: str | None) -> SwapResult:
        return SwapResult(journal.DISCARDED, problem or f"{paths.live} was replaced or dropped by somebody")

    def _in_the_gap(self, paths: SwapPaths, problem: str | None) -> None:
        """Forward, if the rewritten directory is what was verified and the metastore still has the unit; else back."""
        swap, source = paths.swap, paths.rewritten()
        # guard: whole_before_forward
        if not problem and self._policy.still_registered(swap) and self._whole(paths, source):
            self._fs.move(source, paths.live, swap.new_id)
        else:
            self._fs.move(paths.old, paths.live, swap.live_id)

    def _whole(self, paths: SwapPaths, source: str) -> bool:
        """Return whether the rewritten directory holds all that was verified, and nothing else if it never was live."""
        changes = differences(paths.swap.compacted, self._fs.list_files(source))
        # guard: nothing_added_before_live
        return not changes.lost and (source == paths.aside or not changes.added)

    def _without_new(self, paths: SwapPaths, _: str | None) -> SwapResult | str:
        if not self._policy.still_registered(paths.swap):
            return self._theirs(paths)
        self._fs.move(paths.old, paths.live, paths.swap.live_id)
        return f"what was written for {paths.live} is gone"

    def _finish_swapped(self, paths: SwapPaths, _: str | None) -> SwapResult | str:
        """A writer that was active before the first rename shows in `old`. Files that it has closed are moved into the
        live directory; if it replaced files, or is still active, the swap is reversed at once."""
        busy = self._busy(paths, paths.old, paths.swap.originals)
        reason = f"a writer is at work in {busy}" if busy else self._replaced(paths)
        if reason is None:
            # guard: carry_late_files
            moved_files = move_late_files(self._fs, _without_lost_flags(paths.swap), paths.old, paths.live)
            return SwapResult(journal.COMMITTED, moved_files=moved_files)
        return self._revert(paths, reason)

    def _replaced(self, paths: SwapPaths) -> str | None:
        lost = differences(paths.swap.originals, self._fs.list_files(paths.old)).lost
        # guard: replaced_during_swap
        return f"{lost[0].name} was replaced or removed during the swap" if lost else None

    def _revert(self, paths: SwapPaths, reason: str) -> SwapResult | str:
        """Reverse the swap at once, unless a writer is active in the new directory, or has overwritten it: then that is
        the table now."""
        busy = self._busy(paths, paths.live, paths.swap.compacted)
        if busy:
            raise Held(f"{reason}, and another in {paths.live} ({busy}); the next run resolves it")
        if not paths.complete(paths.live, paths.swap.compacted):
            return self._theirs(paths)
        self._aside(paths, reason)
        return reason


def _without_lost_flags(swap: Swap) -> FileListing:
    """The originals without the flags that were not copied: 0.1.0 copied only `_SUCCESS`."""
    copied = _flags(swap.compacted)
    return FileListing.of(file for file in swap.originals.files if not file.is_flag or file.name in copied)


def _flags(files: FileListing) -> set[str]:
    return {file.name for file in files.files if file.is_flag}

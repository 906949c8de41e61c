"""The reverse swap of one unit: rewritten directory out, originals in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spark_jobs.core import journal
from spark_jobs.core.errors import LakekeeperError, Unsafe
from spark_jobs.core.journal import Swap
from spark_jobs.core.model import FileListing, parent
from spark_jobs.core.swap_state import SwapState
from spark_jobs.protocol.swap.directories import SwapPaths, check_closed, list_unit
from spark_jobs.protocol.swap.late_files import differences, move_late_files
from spark_jobs.protocol.swap.swap_executor import Action, SwapExecutor, SwapResult, overwritten


class CannotRollBack(LakekeeperError):
    """The originals may not go back; nothing was moved."""


class ReverseSwap(SwapExecutor):
    """Moves originals back, and finishes rollbacks that were interrupted."""

    def prepare(self, swap: Swap, on_new_data: str) -> None:
        """Raise CannotRollBack, Refusal or Unsafe unless the originals may go back; nothing has moved yet."""
        paths = self.paths(swap)
        if paths.look() is not SwapState.SWAPPED:
            raise CannotRollBack(
                f"{swap.live} is not the directory that run {self._run.run_id} put there: a newer run has compacted it"
                f" again (roll that one back first), or a writer replaced it. The originals stay in {paths.old}"
            )
        self._check_location(swap)
        self._check_live(paths, on_new_data)
        self._check_originals(paths)
        self._fs.mkdirs(parent(paths.aside))

    def unlike(self, swap: Swap) -> str | None:
        """Return a note where mode, group or ACL were changed since the compaction: the originals have the former
        ones. None where they are the same, or unknown."""
        paths = self.paths(swap)
        try:
            now, then = (self._fs.attributes(path) for path in (paths.live, paths.old))
        except OSError:
            return None
        unlike = [kind for kind in ("mode", "group", "acl") if getattr(now, kind) != getattr(then, kind)]
        return f"as before the compaction, and not as since: its {', '.join(unlike)}" if unlike else None

    def _check_location(self, swap: Swap) -> None:
        if self._policy.registered(swap):
            return
        place = self._policy.locations.get(swap.unit.key)
        known = f"has it at {place}" if place else "does not have it any more"
        raise CannotRollBack(
            f"{swap.unit} was compacted at {swap.live}, but the metastore {known}; left as it is"
        )

    def _check_live(self, paths: SwapPaths, on_new_data: str) -> None:
        # A pending file is moved under its own name, so that its writer still finds it.
        rules = replace(self._policy.rules, dead_before=None)
        changes = differences(paths.swap.compacted, list_unit(self._fs, paths.live, rules))
        lost = [file.name for file in changes.lost if file.is_data]  # guard: rollback_overwritten
        if lost:
            raise CannotRollBack(f"{self._overwritten(paths, lost[0])}")
        if not self._policy.footers:  # guard: rollback_open_files
            check_closed(self._fs, paths.live, paths.swap.compacted)
        added = [file.name for file in changes.added if file.is_data]
        if added and on_new_data == "refuse":
            raise CannotRollBack(
                f"{len(added)} files were added to {paths.live} since ({added[0]}), and on_new_data is 'refuse'"
            )

    def _overwritten(self, paths: SwapPaths, name: str) -> str:
        return (
            f"{name} in {paths.live} was overwritten, removed or opened again since the compaction; a rollback would"
            f" bring old rows back. The originals stay in {paths.old}"
        )

    def _check_originals(self, paths: SwapPaths) -> None:
        same = self._fs.identity(paths.old) == paths.swap.live_id
        if not same or differences(paths.swap.originals, list_unit(self._fs, paths.old)):
            raise Unsafe(self._not_the_originals(paths))

    def _not_the_originals(self, paths: SwapPaths) -> str:
        return f"{paths.old} does not hold the originals that the journal lists; nothing was changed"

    def _actions(self) -> Mapping[SwapState, Action]:
        return {
            SwapState.SWAPPED: self._out,
            SwapState.BETWEEN_RENAMES: self._in_the_gap,
            SwapState.NOT_SWAPPED: self._restored,
            SwapState.LIVE_ONLY: self._restored,
            SwapState.FOREIGN_LIVE: self._replaced_since,
            SwapState.FOREIGN_LIVE_OLD_GONE: self._outrun,
            SwapState.DROPPED: self._dropped_since,
            SwapState.OLD_ONLY: self._without_new,
            SwapState.FOREIGN_LIVE_IN_GAP: self._recreated,
            SwapState.FOREIGN_LIVE_AND_ASIDE: self._recreated,
            SwapState.FOREIGN_ASIDE_IN_GAP: self._put_back,
            SwapState.SWAPPED_FOREIGN_OLD: self._aside,
            SwapState.FOREIGN_OLD_IN_GAP: self._old_back,
            SwapState.FOREIGN_OLD_AND_ASIDE: self._old_back,
            SwapState.LIVE_FOREIGN_ASIDE: self._give_way,
            SwapState.SWAPPED_FOREIGN_LIVE: self._superseded,
        }

    def _out(self, paths: SwapPaths, problem: str | None) -> SwapResult | None:
        """Both renames at once; what a writer did right before is checked afterwards."""
        swap = paths.swap
        if problem:
            moved_files = move_late_files(self._fs, swap.originals, paths.old, paths.live)
            return SwapResult(journal.COMMITTED, problem, moved_files)
        self._fs.move(paths.live, paths.aside, swap.new_id)  # guard: rollback_renames_aside
        self._fs.move(paths.old, paths.live, swap.live_id)
        return None

    def _in_the_gap(self, paths: SwapPaths, _: str | None) -> str | None:
        """Go on, unless a writer overwrote the rewritten files, or changed the originals, right before."""
        swap, source = paths.swap, paths.rewritten()
        problem = self._late_change(paths, source)
        if problem:
            self._fs.move(source, paths.live, swap.new_id)
            return problem
        self._fs.move(paths.old, paths.live, swap.live_id)
        return None

    def _late_change(self, paths: SwapPaths, source: str) -> str | None:
        lost = self._lost(paths, source)
        if lost:
            return self._overwritten(paths, lost)
        touched = differences(paths.swap.originals, self._fs.list_files(paths.old))
        return self._not_the_originals(paths) if touched else None

    def _restored(self, paths: SwapPaths, _: str | None) -> SwapResult | str:
        """Undo the rollback if the rewritten files were overwritten right before they moved: they are the table."""
        source = paths.rewritten()
        lost = self._lost(paths, source)
        if not lost:
            return SwapResult(journal.ROLLED_BACK, moved_files=self._move_late_files(paths, source))
        self._fs.move(paths.live, paths.old, paths.swap.live_id)
        return self._overwritten(paths, lost)

    def _give_way(self, paths: SwapPaths, _: str | None) -> str:
        """A writer replaced the directory right before it moved aside: the writer's is the table, and moves back once
        the next state shows that no other was replaced."""
        self._fs.move(paths.live, paths.old, paths.swap.live_id)
        return overwritten(paths)

    def _lost(self, paths: SwapPaths, source: str) -> str | None:
        """Return a data file of this run that is gone, changed, or open again; None if there is none, or no
        directory."""
        ours = paths.swap.compacted
        try:
            lost = [file.name for file in differences(ours, self._fs.list_files(source)).lost if file.is_data]
            if not lost and not self._policy.footers:  # guard: rollback_open_files_late
                lost += self._fs.open_files(source, [file.name for file in ours.data])
        except FileNotFoundError:
            return None
        return lost[0] if lost else None  # guard: rollback_overwritten_late

    def _replaced_since(self, paths: SwapPaths, _: str | None) -> SwapResult:
        """The originals were back, and a writer has replaced them since: the rollback is done. Files that were appended
        to the rewritten directory are moved, unless writers of this table overwrite."""
        overwrites = self._policy.writers == "overwrite"
        return SwapResult(
            journal.ROLLED_BACK,
            moved_files=0 if overwrites else self._move_late_files(paths, paths.rewritten()),
        )

    def _dropped_since(self, _: SwapPaths, __: str | None) -> SwapResult:
        return SwapResult(journal.ROLLED_BACK)

    def _outrun(self, paths: SwapPaths, _: str | None) -> SwapResult:
        """One writer replaced the rewritten directory right before it went aside, another the originals since."""
        if self._overwrites(paths):
            return SwapResult(journal.ROLLED_BACK)
        moved_files = self._move_files_when_quiet(paths, paths.aside, FileListing(()))
        return SwapResult(journal.ROLLED_BACK, moved_files=moved_files)

    def _without_new(self, paths: SwapPaths, _: str | None) -> SwapResult | None:
        if not self._policy.still_registered(paths.swap):  # guard: dropped_stays_dropped
            return self._theirs(paths)
        self._fs.move(paths.old, paths.live, paths.swap.live_id)
        return None

"""The only module that swaps directories. Nothing happens between the two renames, and nothing here makes a
directory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from spark_jobs.core.errors import UnitChanged, Unsafe
from spark_jobs.core.journal import Swap
from spark_jobs.core.recovery import Where, locate
from spark_jobs.shell.leftovers import carry, forget
from spark_jobs.shell.ports import FileSystem
from spark_jobs.shell.units import list_unit

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class Places:
    """The absolute paths of a swap, below the run folder as it is named now."""

    live: str
    old: str
    new: str

    @classmethod
    def of(cls, swap: Swap, folder: str) -> Places:
        return cls(swap.live, f"{folder}/{swap.old}", f"{folder}/{swap.new}")


class Executor:
    """Swaps, and undoes swaps, of one run folder."""

    def __init__(self, fs: FileSystem, folder: str) -> None:
        self._fs = fs
        self._folder = folder

    def swap(self, swap: Swap, last_check: Callable[[], None]) -> None:
        """live -> old, new -> live. Raises UnitChanged with the originals live again, or Unsafe with all copies kept.

        `last_check` raises to call the swap off while nothing has moved yet.
        """
        places = Places.of(swap, self._folder)
        last_check()
        self._check_unchanged(swap, places)
        try:
            self._fs.move(places.live, places.old, swap.live_id)
            self._fs.move(places.new, places.live, swap.new_id)
            self._sweep(swap, places)
        except BaseException as error:
            log.warning("%s: undoing the swap: %s", swap.unit, error)
            self._undo_or_say(swap, places, error)
            raise

    def _undo_or_say(self, swap: Swap, places: Places, cause: BaseException) -> None:
        """An undo that fails leaves the intent in the journal: only what was looked at may be called settled."""
        try:
            self.undo(swap)
        except Exception as error:
            raise Unsafe(
                f"{cause}; and putting the originals back failed too ({error}). They are in {places.live} or"
                f" {places.old}; the next try of this run looks and settles it"
            ) from error

    def _check_unchanged(self, swap: Swap, places: Places) -> None:
        """Commit only against the state that was planned on."""
        pairs = [(places.live, swap.originals, swap.live_id), (places.new, swap.compacted, swap.new_id)]
        for path, manifest, identity in pairs:
            if self._fs.identity(path) != identity:
                raise UnitChanged(f"{path} is not the directory that was read")
            changes = manifest.diff(list_unit(self._fs, path))
            if changes:
                raise UnitChanged(f"{path} changed while it was compacted: {changes}")

    def _sweep(self, swap: Swap, places: Places) -> None:
        """A writer that got in before the first rename shows in `old`: its rows are not in what was written."""
        changes = swap.originals.diff(list_unit(self._fs, places.old))
        if changes:
            raise UnitChanged(f"{places.live} changed during the swap: {changes}")

    def where(self, swap: Swap) -> Where:
        places = Places.of(swap, self._folder)
        found = [self._fs.identity(path) for path in (places.live, places.old, places.new)]
        return locate(found[0], found[1], found[2], swap.live_id, swap.new_id)

    def undo(self, swap: Swap) -> None:
        """Puts the originals back, from wherever the swap stands; raises Unsafe and moves nothing in any
        unknown state."""
        places = Places.of(swap, self._folder)
        where = self.where(swap)
        if where is Where.SWAPPED:
            self._fs.move(places.live, places.new, swap.new_id)
        if where in (Where.SWAPPED, Where.GAP, Where.NEW_LOST):
            self._fs.move(places.old, places.live, swap.live_id)
        after = self.where(swap)
        if after not in (Where.BEFORE, Where.RESTORED):
            raise Unsafe(f"{places.live} is in {after.value}; look at it, {places.old} and {places.new}")

    def discard(self, swap: Swap) -> None:
        """Clears what was written, once the originals are live for certain; raises Unsafe otherwise.

        It may have been live for a moment: what somebody added to it meanwhile goes back into the live directory.
        """
        places = Places.of(swap, self._folder)
        where = self.where(swap)
        if where not in (Where.BEFORE, Where.RESTORED):
            raise Unsafe(f"{places.live} is in {where.value}; look at it, {places.old} and {places.new}")
        carry(self._fs, swap.compacted, places.new, places.live)
        if not forget(self._fs, swap.compacted, places.new):
            raise Unsafe(f"{places.new} holds what this run did not write; it is kept")

"""Checks that a table does not need originals that are to be deleted."""

from __future__ import annotations


from spark_jobs.core.messages.errors import OnlyCopy, Unsafe
from spark_jobs.core.messages.remedies import originals
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.rules.eligibility import may_have_runs
from spark_jobs.core.values.layout import is_below, is_inside_home
from spark_jobs.core.values.legacy_leftovers import described
from spark_jobs.core.values.once import once
from spark_jobs.protocol.file_system import DataDirectories
from spark_jobs.protocol.swap.late_files import differences
from spark_jobs.protocol.swap.legacy import leftovers_beside
from spark_jobs.protocol.swap.locations import statement_back
from spark_jobs.protocol.swap.policy import SwapPolicy


class UseOfOriginals:
    """The use that a table makes of the originals of one run.

    Args:
        policy: has the locations of the metastore.
        run_id: for messages.
    """

    def __init__(self, fs: DataDirectories, policy: SwapPolicy, run_id: str) -> None:
        self._fs = fs
        self._policy = policy
        self._run_id = run_id
        self._locations = locations = policy.locations
        #: The live directories, for a quick look-up: a table may have thousands of them.
        self.places = frozenset(locations.values())
        # A person may have set a partition's location to its backup: then the originals are the table's data.
        self._locations_in_homes = [location for location in locations.values() if is_inside_home(location)]

    def check_unused(self, swap: Swap, old: str) -> None:
        """Raise Unsafe if the table needs the originals of a unit.

        Args:
            old: where they are now.
        """
        for location in self._locations_in_homes:
            if location == old or is_below(location, old) or is_below(old, location):
                raise Unsafe(
                    f"the metastore uses {location}, which overlaps the originals in {old}; nothing was deleted."
                    f" {self._not_originals(swap, location)}"
                )
        now = self._locations.get(swap.unit.key)
        # Another partition may read the directory now: after a renaming, or since this one has a directory elsewhere.
        if swap.live in self.places:  # guard: cleanup_live_renamed
            self._check_live(swap, old, swap.live)
        elif now is None and self._fs.status(swap.live) is None:
            now = self._by_identity.get(swap.new_id)  # guard: cleanup_live_moved
        if now is not None and now != swap.live:
            self._check_live(swap, old, now)

    def _not_originals(self, swap: Swap, location: str) -> str:
        """Return how a partition is pointed at another directory than the originals."""
        statement = self._statement_back(swap, location)
        return originals.not_originals(location, statement, self._policy.target, self._run_id)

    def _statement_back(self, swap: Swap, place: str) -> str | None:
        """Return the statement that gives a unit its journaled location back; None where no rollback needs it."""
        if self._policy.dropped:
            return None
        return statement_back(swap, self._locations, self._policy.table, place)

    @once
    def _by_identity(self) -> dict[str | None, str]:
        """Return the locations of the metastore by the identities of their directories.

        This costs one call for each location, so it is done only for runs that need it.
        """
        places = [location for location in self._locations.values() if may_have_runs(location)]
        return {self._fs.identity(location): location for location in places}

    def _check_live(self, swap: Swap, old: str, place: str) -> None:
        """Raise Unsafe if the originals are the only copy of data that no writer has replaced.

        The partition may have been moved since the compaction, for instance to an archive. Its data is then at `place`,
        the location that the metastore has now.
        """
        try:
            live = self._fs.list_files(place)
        except FileNotFoundError:
            # guard: cleanup_live_missing
            text = f"{place} is missing although the metastore has it; its originals in {old} are kept"
            left = leftovers_beside(self._fs, place)
            if left:  # Newer rows are there, so that no rollback is the way out.
                raise Unsafe(f"{text}. {described(left)}") from None
            raise self._only_copy(text, swap, place, missing=True) from None
        if not live.data:  # guard: cleanup_live_empty
            raise self._only_copy(originals.empty(place, old), swap, place)
        if self._policy.writers == "overwrite":
            return
        if not any(file.length for file in live.data):  # guard: cleanup_live_empty_files
            raise self._only_copy(originals.only_empty_files(place, old), swap, place)
        lost = [file.name for file in differences(swap.compacted, live).lost if file.is_data]
        if lost and self._fs.identity(place) == swap.new_id:  # guard: cleanup_live_incomplete
            raise self._only_copy(originals.lost_file(lost[0], place, old), swap, place)

    def _only_copy(self, text: str, swap: Swap, place: str, *, missing: bool = False) -> OnlyCopy:
        return OnlyCopy(text, place, missing=missing, statement=self._statement_back(swap, place))

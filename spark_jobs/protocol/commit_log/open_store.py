"""The units of a table that jobs find day after day: `<home>/log/survey/open-<number>`.

It is a hint: without it, reports do not say since when a unit is open. Analyses write it without a lease, so that a
note may be lost where two jobs write at once. What depends on an order is in a file of its own (`deferred_store`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping

from spark_jobs.core.commit_log.snapshots import BrokenLog, readable
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.layout import Home
from spark_jobs.core.open_units import OpenUnit, analysed, decode, encode
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.unit_plan import UnitPlan
from spark_jobs.protocol.commit_log.hint_folders import ensure_hint_folder
from spark_jobs.protocol.commit_log.numbered_hint import NumberedHint
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.trust import Trust

log = logging.getLogger("lakekeeper")

OpenUnits = Mapping[str, OpenUnit]


class OpenStore:
    """The file of one table, with the open units by key."""

    def __init__(self, fs: RecordFiles, home: str, trust: Trust) -> None:
        self._fs = fs
        self._file = NumberedHint(fs, home, trust, "open")

    @classmethod
    def of(cls, fs: RecordFiles, facts: TableFacts, trust: Trust) -> OpenStore:
        return cls(fs, Home.of_table(facts.storage.location, bool(facts.partition_keys)).path, trust)

    def read(self) -> OpenUnits:
        """Return the open units; none if the file cannot be read, or if another account wrote it."""
        try:
            found = self._file.read()
            return readable(found[0], lambda: decode(found[1])) if found else {}
        except (BrokenLog, OSError):
            return {}

    def note_analysis(self, plans: Iterable[UnitPlan], units: Collection[str], now: str) -> None:
        """Remember which units an analysis has found. Never raise.

        It does not create the home of a table: an analysis of a table that nobody compacts leaves nothing in it.

        Args:
            units: the keys of all units of the table.
            now: ISO 8601, UTC.
        """
        plans = list(plans)
        found = {plan.unit.key for plan in plans if plan.is_open}
        ended = {plan.unit.key for plan in plans if plan.outcome == UnitOutcome.HEALTHY}
        self.update(lambda before: analysed(before, found, ended, now), units, worth_a_home=False)

    def update(
        self, change: Callable[[OpenUnits], OpenUnits], units: Collection[str], *, worth_a_home: bool
    ) -> None:
        """Write what is open now, if it has changed. Never raise.

        Args:
            units: all units that the table has. A partition that was dropped is forgotten: one of the same values that
                is created later is another one.
        """
        before = self.read()
        after = {key: unit for key, unit in change(before).items() if key in units}
        if after == before:
            return
        try:
            if ensure_hint_folder(self._fs, self._file.folder, worth_a_home=worth_a_home):
                self._file.publish(encode(after))
        except Exception as error:
            log.info("which units are left undone could not be noted (%s)", error)

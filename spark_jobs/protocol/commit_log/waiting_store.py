"""What jobs have left undone of a table: `<home>/log/survey/waiting-<number>`. The next compaction takes it first.

It is a hint. Without it, the order of the next job is another one, and no report says how long a unit is open.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from spark_jobs.core.commit_log.snapshots import BrokenLog, readable
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.layout import Home
from spark_jobs.core.open_units import Waiting, decode, encode
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.unit_plan import UnitPlan
from spark_jobs.protocol.commit_log.hint_folders import ensure_hint_folder
from spark_jobs.protocol.commit_log.numbered_hint import NumberedHint
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.trust import Trust

log = logging.getLogger("lakekeeper")


class WaitingStore:
    """The file of one table."""

    def __init__(self, fs: RecordFiles, home: str, trust: Trust) -> None:
        self._fs = fs
        self._file = NumberedHint(fs, home, trust, "waiting")

    @classmethod
    def of(cls, fs: RecordFiles, facts: TableFacts, trust: Trust) -> WaitingStore:
        return cls(fs, Home.of_table(facts.storage.location, bool(facts.partition_keys)).path, trust)

    def read(self) -> Waiting:
        """Return what is left; nothing if the file cannot be read, or if another account wrote it."""
        try:
            found = self._file.read()
            return readable(found[0], lambda: decode(found[1])) if found else Waiting()
        except (BrokenLog, OSError):
            return Waiting()

    def note_analysis(
        self, before: Waiting, plans: Iterable[UnitPlan], units: Collection[str], now: str
    ) -> None:
        """Remember which units an analysis has found. Never raise.

        It does not create the home of a table: an analysis of a table that nobody compacts leaves nothing in it.
        """
        plans = list(plans)
        found = {plan.unit.key for plan in plans if plan.is_open}
        ended = {plan.unit.key for plan in plans if plan.outcome == UnitOutcome.HEALTHY}
        self.replace(before, before.analysed(found, ended, now).of(units), worth_a_home=False)

    def replace(self, before: Waiting, after: Waiting, *, worth_a_home: bool) -> None:
        """Write what is left now, if it has changed. Never raise."""
        if after == before:
            return
        try:
            if ensure_hint_folder(self._fs, self._file.folder, worth_a_home=worth_a_home):
                self._file.publish(encode(after))
        except Exception as error:
            log.info(
                "what is left undone could not be noted, so that the next job has an order of its own (%s)",
                error,
            )

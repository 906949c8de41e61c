"""The units of a table that jobs find day after day: `<home>/log/survey/open-<number>`.

It is a hint: without it, reports do not say since when a unit is open. Analyses write it too. What depends on an order
is in a file of its own (`deferred_store`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records import open_units
from spark_jobs.core.records.open_units import OpenUnit
from spark_jobs.protocol.commit_log.unit_hints import UnitHints


class OpenStore(UnitHints[OpenUnit]):
    """The open units of one table, by key."""

    name = "open"
    without = "which units are left undone could not be noted"

    def encode(self, values: Mapping[str, OpenUnit]) -> bytes:
        return open_units.encode(values)

    def decode(self, data: bytes, name: str) -> Mapping[str, OpenUnit]:
        return open_units.decode(data, name)

    def note_analysis(self, plans: Iterable[UnitPlan], units: Collection[str], now: str) -> None:
        """Remember which units an analysis has found. Never raise.

        It does not create the home of a table: an analysis of a table that nobody compacts leaves nothing in it.

        Args:
            units: the keys of all units of the table.
            now: ISO 8601, UTC.
        """
        plans = list(plans)
        now_open = {plan.unit.key for plan in plans if plan.is_open}
        ended = {plan.unit.key for plan in plans if plan.outcome == UnitOutcome.HEALTHY}
        self.update(
            lambda before: open_units.analysed(before, now_open, ended, now), units, worth_a_home=False
        )

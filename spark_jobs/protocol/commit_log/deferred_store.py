"""The units that jobs have deferred: `<home>/log/survey/deferred-<number>`. The next job takes them first.

It is a hint. Without it only the order of the next job is another one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from spark_jobs.core.records.record_files import packed, unpacked
from spark_jobs.protocol.commit_log.unit_hints import UnitHints


class DeferredStore(UnitHints[str]):
    """The deferred units of one table, by key, with the time at which each was deferred first (ISO 8601)."""

    name = "deferred"
    without = "the next job takes the deferred units in its own order: they could not be noted"

    def encode(self, values: Mapping[str, str]) -> bytes:
        return packed({"deferred": dict(values)})

    def decode(self, data: bytes, name: str) -> Mapping[str, str]:
        return {str(key): str(at) for key, at in unpacked(data, name)["deferred"].items()}

    def note(
        self,
        deferred: Collection[str],
        ended: Collection[str],
        had_turn: Collection[str],
        units: Collection[str],
        now: str,
    ) -> None:
        """Remember the units that were deferred, and forget those whose compaction has ended. Never raise.

        Args:
            had_turn: those that have failed. They count as deferred now: a unit that was first in each job, and failed
                alone as a canary, would keep all others from being compacted.
            units: the keys of all units of the table.
            now: ISO 8601, UTC.
        """

        def changed(before: Mapping[str, str]) -> Mapping[str, str]:
            since = {key: now if key in had_turn else at for key, at in before.items() if key not in ended}
            return {**since, **{key: before.get(key, now) for key in deferred}}

        self.update(changed, units, worth_a_home=True)

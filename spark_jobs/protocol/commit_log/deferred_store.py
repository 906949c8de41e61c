"""The units that jobs have deferred: `<home>/log/survey/deferred-<number>`. The next job takes them first.

It is a hint. Without it only the order of the next job is another one.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from spark_jobs.core.commit_log.snapshots import BrokenLog, packed, readable, unpacked
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.layout import Home
from spark_jobs.protocol.commit_log.hint_folders import ensure_hint_folder
from spark_jobs.protocol.commit_log.numbered_hint import NumberedHint
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.trust import Trust

log = logging.getLogger("lakekeeper")


class DeferredStore:
    """The deferred units of one table, by key, with the time at which each was deferred first (ISO 8601)."""

    def __init__(self, fs: RecordFiles, home: str, trust: Trust) -> None:
        self._fs = fs
        self._file = NumberedHint(fs, home, trust, "deferred")

    @classmethod
    def of(cls, fs: RecordFiles, facts: TableFacts, trust: Trust) -> DeferredStore:
        return cls(fs, Home.of_table(facts.storage.location, bool(facts.partition_keys)).path, trust)

    def read(self) -> Mapping[str, str]:
        """Return the deferred units; none if the file cannot be read, or if another account wrote it."""
        try:
            found = self._file.read()
            return readable(found[0], lambda: _decoded(found[1])) if found else {}
        except (BrokenLog, OSError):
            return {}

    def update(
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
            units: all units that the table has. A partition that was dropped is forgotten: one of the same values that
                is created later is another one.
        """
        before = self.read()
        since = {key: at for key, at in before.items() if key not in ended and key in units}
        since = {key: now if key in had_turn else at for key, at in since.items()}
        since = {**since, **{key: before.get(key, now) for key in deferred}}
        if since == before:
            return
        try:
            if ensure_hint_folder(self._fs, self._file.folder, worth_a_home=True):
                self._file.publish(packed({"deferred": since}))
        except Exception as error:
            log.info(
                "the next job takes the deferred units in its own order: they could not be noted (%s)", error
            )


def _decoded(data: bytes) -> dict[str, str]:
    return {str(key): str(at) for key, at in unpacked(data)["deferred"].items()}

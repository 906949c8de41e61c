"""The survey of a table: the figures and verdicts of earlier plans, by which unchanged units are not read again.

It decides only what an analysis says. A compaction lists and checks each unit that it touches.
"""

from __future__ import annotations

import logging

from spark_jobs.core.commit_log.cache import Cache, basis, merged
from spark_jobs.core.commit_log.snapshots import BrokenLog
from spark_jobs.core.plan import TablePlan
from spark_jobs.protocol.commit_log.analysis_store import AnalysisStore
from spark_jobs.protocol.commit_log.hint_folders import ensure_hint_folder
from spark_jobs.protocol.commit_log.publisher import log_of
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.trust import Trust

log = logging.getLogger("lakekeeper")

#: An analysis creates the home of a table only if its survey then saves so many listings.
_WORTH_A_HOME = 1000


class Survey:
    """The survey of one table. Tables without partitions have none, because each listing of theirs is one call."""

    def __init__(self, table: Table, trust: Trust) -> None:
        self._table = table
        self._log = log_of(table.services.fs, table.facts, table.services.now, table.options.trusted_owners)
        self._analysed = AnalysisStore(table.services.fs, self._log.home, trust)

    @property
    def basis(self) -> str:
        """Return what a verdict of this job is based on."""
        options = self._table.options
        environment = self._table.services.environment
        return basis(self._table.facts, options.thresholds(), options.readers, environment)

    def known(self, analysis: bool) -> Cache:
        """Return the figures of earlier plans. Without them all units are listed, and the plan is the same.

        Args:
            analysis: also those that the last analysis has kept.
        """
        if not self._table.partitioned:
            return {}
        try:
            published = self._log.survey()
        except (BrokenLog, OSError):
            published = {}
        return _newest(published, self._analysed.read()) if analysis else published

    def keep(self, plan: TablePlan) -> None:
        """Keep what an analysis has found for the next one.

        It is a hint: no lease is needed, because nothing depends on it and each file has a name of its own. An account
        that may not write here analyses too.
        """
        if not self._table.partitioned:
            return
        before = self._analysed.read()
        now = merged(before, plan.cached, {unit.key for unit in self._table.units})
        if now == before:
            return
        try:
            worth = len(now) >= _WORTH_A_HOME
            if ensure_hint_folder(self._table.services.fs, self._analysed.folder, worth_a_home=worth):
                self._analysed.publish(now)
        except Exception as error:
            log.info(
                "the next analysis of %s reads all files again: its survey could not be written (%s)",
                self._table.facts.name,
                error,
            )


def _newest(one: Cache, other: Cache) -> Cache:
    """Return the figures of both, for each unit those of the later listing."""
    later = {
        key: cached
        for key, cached in other.items()
        if key not in one or one[key].listed_at <= cached.listed_at
    }
    return {**one, **later}

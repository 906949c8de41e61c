"""The survey of a table: the figures and verdicts of earlier plans, by which unchanged units are not read again.

It decides only what an analysis says. A compaction lists and checks each unit that it touches.
"""

from __future__ import annotations

import logging

from spark_jobs.core.commit_log.cache import Cache, basis, merged
from spark_jobs.core.commit_log.snapshots import BrokenLog
from spark_jobs.core.model import parent
from spark_jobs.core.plan import TablePlan
from spark_jobs.protocol.commit_log.analysis_store import AnalysisStore
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
        self._log = log_of(table.services.fs, table.facts, table.services.now)
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
            if self._has_place(len(now)):
                self._analysed.publish(now)
        except Exception as error:
            log.info(
                "the next analysis of %s reads all files again: its survey could not be written (%s)",
                self._table.facts.name,
                error,
            )

    def _has_place(self, units: int) -> bool:
        """Tell whether there is a directory for the survey, and create it in the home.

        A directory belongs to the account that creates it, and the account that compacts must be able to write to it.
        So an analysis creates directories only in those of its own account, and the home only where no other could.
        """
        fs, folder = self._table.services.fs, self._analysed.folder
        if fs.status(folder) is not None:
            return True
        above = fs.status(parent(folder)) or fs.status(self._log.home)
        if above is None:
            root = fs.status(self._table.root)
            if root is None or units < _WORTH_A_HOME or root.shared:
                return False
            above = root
        if above.owner not in ("", fs.user()):
            return False
        fs.mkdirs(folder)
        return True


def _newest(one: Cache, other: Cache) -> Cache:
    """Return the figures of both, for each unit those of the later listing."""
    later = {
        key: cached
        for key, cached in other.items()
        if key not in one or one[key].listed_at <= cached.listed_at
    }
    return {**one, **later}

"""The order in which a job takes its tables, where limits may keep it from doing all of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import TableReport
from spark_jobs.protocol.planning.planner import Planner
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.native import analyze_native, native_session
from spark_jobs.verbs.planned import is_flagged_by_files

log = logging.getLogger("lakekeeper")
_LIMITS = ("deadline", "max_bytes", "max_files", "max_units", "canary", "max_failures")

#: The place of a table: whether no unit was deferred before, since when, and what it gains for each byte, negated.
Rank = tuple[bool, str, float]
_LAST: Rank = (True, "", 0.0)


def by_gain(job: Job, names: Sequence[TableName]) -> Sequence[TableName]:
    """Return the tables of a compaction, those with deferred units first, then those with the most gain for each byte.

    It is the order of a plan. The caller's own order stays: that of a plan, of an analysis, or `order` itself. Without
    limits all tables are compacted, so none of them is looked at before its turn.
    """
    options = job.layers.resolve()
    named = job.planned is not None or job.request.units is not None
    if (
        named
        or len(names) < 2
        or options.order != "score"
        or not any(getattr(options, limit) for limit in _LIMITS)
    ):
        return names
    log.info("%s tables are listed, so that limits leave out those with the least gain", len(names))
    return sorted(names, key=lambda name: _rank_now(job, name))


def _rank_now(job: Job, name: TableName) -> Rank:
    try:
        native = native_session(job, name)
        return rank(analyze_native(job, native) if native else Planner(job.table(name)).preview().report())
    except Exception as error:
        log.info("%s is taken last: %s", name, error)  # Its turn reports the error.
        return _LAST


def rank(table: TableReport) -> Rank:
    """Return the place of a table by the units that are due."""
    due = [unit for unit in table.units if is_flagged_by_files(unit)]
    since = min((unit.deferred_since for unit in due if unit.deferred_since), default="")
    size = sum(unit.bytes or 0 for unit in due)
    gain = sum((unit.score or 0) * (unit.bytes or 0) for unit in due)
    return not since, since, -gain / max(size, 1)

"""Tells which units with small files are due, by the conditions of the request and by the commit log."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from spark_jobs.core.messages.errors import LakekeeperError, OtherVersion
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.planning.decisions import Leave
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.history import of_table
from spark_jobs.core.records.snapshots import ADD, COMPACT, Snapshot
from spark_jobs.core.rules.due import Candidate, Conditions, FileFigures, Judge, LogFigures
from spark_jobs.core.values.file_times import AHEAD, future_from
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.commit_log.publisher import log_of
from spark_jobs.protocol.commit_log.unit_hints import DeferredStore
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.settled_store import SettledStore
from spark_jobs.protocol.runs.trust import Trust

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class Resumed:
    """The run that a compaction resumes. A retry must finish what the first attempt found due.

    So conditions of the table are judged as before the run: its units that are swapped count with their originals, by
    unit key, and its own compaction is not the last one.
    """

    run_id: str
    originals: Mapping[str, FileListing] = field(default_factory=dict)

    @classmethod
    def of(cls, run_id: str, directories: Iterable[Run]) -> Resumed:
        """Return the run with these directories; a run without any begins only now."""
        held = (unit for run in directories for unit in run.state.units.values() if not unit.final)
        return cls(run_id, {each.swap.unit.key: each.swap.originals for each in held if each.committed_at})


class DueUnits:
    """The conditions of one table.

    Args:
        deferred: the units that earlier compactions have deferred.
        selected: units were requested one by one, because an analysis flagged them. It has judged the trigger
            conditions by all units of the table; by these units alone, the same conditions would find something else.
            Only `idle_for` is judged again: since the analysis, a file may have been added.
    """

    def __init__(
        self, table: Table, trust: Trust, deferred: DeferredStore, *, selected: bool, resumed: Resumed | None
    ) -> None:
        conditions = table.options.conditions()
        self.conditions = Conditions(conditions.idle_for) if selected else conditions
        #: What the report must say of how the units were judged.
        self.warnings: list[str] = []
        self._table = table
        self._trust = trust
        self._deferred = deferred
        self._resumed = resumed

    def can_judge(self, figures: FileFigures | None) -> bool:
        """Tell whether a unit can be judged by figures of an earlier listing."""
        small_below, now = self._table.options.thresholds().small_file, self._table.services.now()
        return self.conditions.can_judge(figures, small_below, now)

    def judge(self, plans: Iterable[UnitPlan]) -> Judge:
        """Return the judge of these units, which are all that were selected."""
        now = self._table.services.now()
        if not self.conditions.given:
            return Judge(self.conditions, now)
        done = self._swapped()
        candidates = [unit for plan in plans if (unit := candidate_of(plan, now)) and unit.key not in done]
        deferred = self._deferred.read() if self.conditions.triggers else {}
        return Judge.of(self.conditions, [*candidates, *done.values()], self._of_log(), now, deferred)

    def _swapped(self) -> dict[str, Candidate]:
        """Return the units that the resumed run has swapped, as they were before."""
        small_below, now = self._table.options.thresholds().small_file, self._table.services.now()
        originals = self._resumed.originals if self._resumed else {}
        return {key: _candidate(key, files, small_below, now) for key, files in originals.items()}

    def _of_log(self) -> LogFigures:
        """Return what the log says. Without a log that can be read, the conditions on it hold."""
        if not self.conditions.of_log:
            return LogFigures()
        try:
            log_figures = self._read_log()
        except OtherVersion:
            raise
        except (LakekeeperError, OSError) as error:
            log.warning("when %s was compacted last is not known: %s", self._table.facts.name, error)
            return LogFigures()
        if log_figures.last and log_figures.last - self._table.services.now() > AHEAD:
            text = f"the last compaction is of {log_figures.last:%Y-%m-%d}, so that trigger_interval does not count"
            self.warnings.append(WarningCode.TIME_IN_FUTURE.text(text))
        return log_figures

    def _read_log(self) -> LogFigures:
        """Return the figures of the newest snapshots that are not of the resumed run."""
        facts, fs = self._table.facts, self._table.services.fs
        commit_log = log_of(fs, facts, self._table.services.now, self._table.options.trusted_owners)
        newest: Snapshot | None = None
        last: Snapshot | None = None
        for snapshot in commit_log.newest_first():
            if not self._counts(snapshot):
                continue
            newest = newest or snapshot
            if snapshot.kind == COMPACT:
                last = snapshot
                break
        if newest is None:
            return LogFigures()
        if last is None:
            # The snapshots of runs whose originals are deleted move from the log to the record of settled runs.
            record = SettledStore(fs, commit_log.home, self._trust).read()
            compactions = [each for each in record.snapshots if each.kind == COMPACT and self._counts(each)]
            last = max(compactions, key=lambda each: each.committed_at, default=None)
        figures = LogFigures(last.committed_at if last else None)
        if self.conditions.growth is None:
            return figures
        added = (entry.unit for entry in commit_log.files(newest) if entry.kind == ADD)
        return replace(figures, written=Counter(added))

    def _counts(self, snapshot: Snapshot) -> bool:
        facts = self._table.facts
        own = self._resumed is not None and snapshot.run_id == self._resumed.run_id
        return not own and bool(of_table([snapshot], facts.name, facts.storage.location))


def candidate_of(plan: UnitPlan, now: datetime) -> Candidate | None:
    """Return the figures by which it is judged whether a unit is due; None if its files are not small.

    A unit that is refused by the verdict of an earlier analysis counts too. Otherwise, what the conditions of a table
    find would depend on whether its footers were read before.
    """
    health = plan.health
    if health is None or not health.needs_compaction:
        return None
    figures = plan.surveyed.figures if plan.surveyed else None
    if plan.inputs is not None:
        figures = FileFigures.of(plan.inputs.files, health.threshold, future_from(now))
    return Candidate(plan.unit.key, health.files, health.avg_file_size, figures)


def judged(plan: UnitPlan, judge: Judge) -> UnitPlan:
    """Return the plan of a unit, which is left alone if it is not due."""
    candidate = candidate_of(plan, judge.now) if judge.conditions.given else None
    reason = judge.reason(candidate) if candidate else None
    if reason is None:
        return plan
    return replace(plan, decision=Leave(reason), inputs=None)


def _candidate(key: str, files: FileListing, small_below: int, now: datetime) -> Candidate:
    count = len(files.data)
    return Candidate(
        key, count, files.bytes // (count or 1), FileFigures.of(files, small_below, future_from(now))
    )

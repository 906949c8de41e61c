"""What ended runs have left: the originals that can be rolled back, and when their compactions wrote files.

It is for people only. What a rollback or a cleanup does follows from all records of a run; this follows from the last
one, which is all that a job reads of a run that has ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from spark_jobs.core.records.journal import COMMITTED, Record, RunState
from spark_jobs.core.records.journal_bounds import is_same_table
from spark_jobs.core.values.file_times import millis_of
from spark_jobs.core.wire.report import utc


@dataclass(frozen=True)
class EndedRun:
    """One directory of a run that has ended.

    Attributes:
        table, location: those of its table, as they were then.
        owner: the account of its job.
        started, finished: from when and until when its compaction wrote files, by the clock of the file system.
        held_bytes: the bytes of originals in it that can be rolled back.
    """

    run_id: str
    table: str
    location: str
    owner: str
    started: datetime
    finished: datetime
    held_bytes: int

    @classmethod
    def of(cls, run_id: str, owner: str, last: Record) -> EndedRun | None:
        """Return what the closing record of a run's directory says; None if it cannot be read."""
        size, started, finished = (last.body.get(name) for name in ("held_bytes", "started", "finished"))
        try:
            began = datetime.fromisoformat(str(started))
            ended = datetime.fromisoformat(str(finished)) if finished else last.filed or last.at
        except ValueError:
            return None
        if not isinstance(size, int) or size < 0 or None in (began.tzinfo, ended.tzinfo):
            return None
        table, location = (str(last.body.get(name)) for name in ("table", "location"))
        return cls(run_id, table, location, owner, began, ended, size)

    def is_of(self, table: str, location: str) -> bool:
        """Tell whether it was a run of the table."""
        return is_same_table(self.table, self.location, table, location)


def writing_times(runs: Iterable[EndedRun]) -> dict[str, list[tuple[int, int]]]:
    """Return, by account, when compactions of it wrote files, in ms since the epoch."""
    found: dict[str, list[tuple[int, int]]] = {}
    for run in runs:
        found.setdefault(run.owner, []).append((millis_of(run.started), millis_of(run.finished)))
    return found


def closing_fields(state: RunState) -> dict[str, Any]:
    """Return the fields of a closing record that `EndedRun.of` reads."""
    return {
        "table": state.table,
        "location": state.location,
        "held_bytes": held_in(state),
        "started": state.started.isoformat(),
        "finished": state.finished.isoformat() if state.finished else None,
    }


def held_in(state: RunState, but: Collection[str] = ()) -> int:
    """Return the bytes of the originals that a run's directory keeps.

    Args:
        but: the units, by their names in the journal, that were restored since
    """
    committed = ((key, unit) for key, unit in state.units.items() if unit.kind == COMMITTED)
    return sum(unit.swap.originals.bytes for key, unit in committed if key not in but)


@dataclass(frozen=True)
class Held:
    """The originals of some runs.

    Attributes:
        runs: the ids of the runs that can be rolled back.
        since: when the oldest of them began.
    """

    runs: frozenset[str] = field(default_factory=frozenset)
    bytes: int = 0
    since: datetime | None = None

    @classmethod
    def of(cls, directories: Iterable[tuple[str, int, datetime]]) -> Held:
        """Return what directories of runs hold: the id of the run, the bytes, and when it began."""
        holding = [(run_id, size, started) for run_id, size, started in directories if size]
        since = min((started for _, _, started in holding), default=None)
        return cls(frozenset(run_id for run_id, _, _ in holding), sum(size for _, size, _ in holding), since)

    @classmethod
    def of_ended(cls, runs: Iterable[EndedRun]) -> Held:
        """Return what ended runs hold."""
        return cls.of((run.run_id, run.held_bytes, run.started) for run in runs)

    def plus(self, other: Held) -> Held:
        """Return both together."""
        times = [since for since in (self.since, other.since) if since]
        return Held(self.runs | other.runs, self.bytes + other.bytes, min(times, default=None))

    def report(self) -> dict[str, Any]:
        """Return the fields of a table's report."""
        since = utc(self.since) if self.since else None
        return {"held_bytes": self.bytes, "held_runs": len(self.runs), "held_since": since}

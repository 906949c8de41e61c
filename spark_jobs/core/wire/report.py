"""The report of a job, as docs/wire.md defines it. For the request to a job see `request`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from spark_jobs.core.messages.outcomes import JobOutcome, TableOutcome, UnitOutcome
from spark_jobs.core.messages.printable import printable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.rules.health import Health
from spark_jobs.core.values.amount import Amount
from spark_jobs.core.wire.checks import Check

SCHEMA_VERSION = 1
SENTINEL = "LAKEKEEPER_REPORT"

BAD_UNITS = (UnitOutcome.FAILED, UnitOutcome.QUARANTINED)
_BAD_TABLES = {
    TableOutcome.FAILED,
    TableOutcome.PARTIAL,
    TableOutcome.BUSY,
    TableOutcome.REFUSED,
    TableOutcome.DAMAGED,
}
#: Refusals by which a rollback has left a run that it was to undo.
_NOT_ROLLED_BACK = tuple(
    code.name for code in (RefusalCode.OTHER_VERSION, RefusalCode.NEWER_COMMITS, RefusalCode.NO_CATALOG)
)
#: Fields of a table that are left out where they are None.
_OPTIONAL = (
    *("partition_types", "held_bytes", "held_runs", "held_since", "history", "snapshots", "findings", "left"),
    *("small_file_writers", "files_per_day", "listed_units", "options", "snapshot_before", "snapshot_after"),
    "pyarrow",
)
#: Fields of a unit that are left out where they are None.
_OPTIONAL_OF_UNIT = (
    "read_tasks",
    "score",
    "deferred_since",
    "engine",
    "engine_reason",
    "estimated_seconds",
    "strategy",
    "strategy_reason",
    "open_since",
    "open_days",
    "open_attempts",
)
#: The code of a table whose journal cannot be acted on.
UNSAFE = "UNSAFE"


def utc(instant: datetime) -> str:
    return instant.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class UnitReport:
    """The part of the report for one unit. A figure that does not apply is None.

    Attributes:
        read_tasks: the tasks that will read the files, if they are more than `target_files`: then rows are shuffled.
            The report has the field only in this case.
        score: of a unit that needs a compaction, the files that are removed for each GB that is read.
        deferred_since: when an earlier job has deferred the unit.
        engine: in a plan, what will write the unit: rows by Spark or Arrow, records (copy) or stripes (merge); in a
            compaction, `arrow` if it has.
        engine_reason: why Arrow does not, or has not, although the options ask for it.
        strategy, strategy_reason: what is done with large files, and why, where there are any:
            they are copied (minor), or rewritten (full).
        open_since, open_days, open_attempts: of a unit that was found on an earlier day too: since when, on how many
            days, and why jobs have not compacted it.
        estimated_seconds: in a plan, how long it will take, at the pace of the table's earlier compactions.
    """

    unit: dict[str, str | None]
    outcome: UnitOutcome
    code: str | None = None
    reason: str | None = None
    needs_compaction: bool | None = None
    files: int | None = None
    bytes: int | None = None
    avg_file_size: int | None = None
    median_file_size: int | None = None
    threshold: int | None = None
    target_files: int | None = None
    fingerprint: str | None = None
    files_after: int | None = None
    bytes_after: int | None = None
    rows: int | None = None
    seconds: float | None = None
    read_tasks: int | None = None
    score: float | None = None
    deferred_since: str | None = None
    engine: str | None = None
    engine_reason: str | None = None
    estimated_seconds: float | None = None
    strategy: str | None = None
    strategy_reason: str | None = None
    open_since: str | None = None
    open_days: int | None = None
    open_attempts: Sequence[Mapping[str, Any]] | None = None

    @classmethod
    def of(
        cls, unit: dict[str, str | None], outcome: UnitOutcome, health: Health | None = None, **more: Any
    ) -> UnitReport:
        return cls(unit=unit, outcome=outcome, **(health.figures if health else {}), **more)

    @property
    def amount(self) -> Amount:
        """Return what a compaction reads, or has read, of the unit."""
        return Amount(1, self.files or 0, self.bytes or 0)

    def to_json(self) -> dict[str, Any]:
        """Return the fields, without those that are left out where they are None."""
        fields = {
            k: value for k, value in vars(self).items() if value is not None or k not in _OPTIONAL_OF_UNIT
        }
        return {**fields, "reason": _sentence(self.reason)} if self.reason else fields


@dataclass(frozen=True)
class TableReport:
    """The part of the report for one table.

    Only the verb `history` sets `history` and, on request, `snapshots`; only `check` sets `findings` and `left`.

    Attributes:
        partition_types: the Hive types of the partition keys, by key, in an analysis, a compaction and a rollback of a
            partitioned table.
        held_bytes, held_runs, held_since: in an analysis and in what changes them, the bytes of originals that the
            table keeps afterwards, how many compactions can be rolled back for it, and when the oldest of them began.
        small_file_writers, files_per_day, listed_units: who makes the small files, in an analysis and a plan. See
            docs/wire.md.
        options: those by which a plan was made; a compaction of this plan takes them.
        snapshot_before, snapshot_after: of a table that its own format has compacted, the commits before and after.
        pyarrow: its version on all executors, if Arrow has written units.
        left: what the table has of ours: hidden directories by their URIs, and its properties by their names.
    """

    table: str
    outcome: TableOutcome = TableOutcome.DONE
    code: str | None = None
    reason: str | None = None
    run_id: str | None = None
    format: str | None = None
    codec: str | None = None
    location: str | None = None
    partition_types: Mapping[str, str] | None = None
    backup_table: str | None = None
    freed_bytes: int = 0
    trashed_bytes: int = 0
    units: Sequence[UnitReport] = ()
    warnings: Sequence[str] = ()
    held_bytes: int | None = None
    held_runs: int | None = None
    held_since: str | None = None
    history: Sequence[dict[str, Any]] | None = None
    snapshots: Sequence[dict[str, Any]] | None = None
    findings: Sequence[dict[str, Any]] | None = None
    left: Sequence[str] | None = None
    small_file_writers: Sequence[dict[str, Any]] | None = None
    files_per_day: float | None = None
    listed_units: int | None = None
    options: Mapping[str, Any] | None = None
    snapshot_before: str | None = None
    snapshot_after: str | None = None
    pyarrow: str | None = None

    def conclude(self, acted: Iterable[UnitOutcome]) -> TableReport:
        """Return the report with the outcome that follows from the outcomes of the units.

        A failure is `partial` if any work was done, else `failed`. Without a failure it is `done` or `nothing`.

        Args:
            acted: the outcomes that count as work done.
        """
        outcomes = [u.outcome for u in self.units]
        did = any(o in tuple(acted) for o in outcomes)
        bad = any(o in BAD_UNITS for o in outcomes)
        ended = (
            (TableOutcome.FAILED, TableOutcome.PARTIAL) if bad else (TableOutcome.NOTHING, TableOutcome.DONE)
        )
        return replace(self, outcome=ended[did])

    @property
    def is_unsafe(self) -> bool:
        """Tell whether a person must look at the table before anything else runs."""
        return self.code == UNSAFE or any(u.outcome == UnitOutcome.QUARANTINED for u in self.units)

    def to_json(self) -> dict[str, Any]:
        units = self.units
        after = [(_value_or(u.files_after, u.files), _value_or(u.bytes_after, u.bytes)) for u in units]
        rows = [u.rows for u in units if u.rows is not None]
        known = {k: value for k, value in vars(self).items() if k not in _OPTIONAL or value is not None}
        # guard: warnings_are_lines
        return {
            **known,
            # There may be tens of thousands of units, so their values are not copied one by one.
            "units": [unit.to_json() for unit in units],
            "reason": _sentence(self.reason),
            "warnings": [printable(text) for text in self.warnings],
            "before": {"files": sum(u.files or 0 for u in units), "bytes": sum(u.bytes or 0 for u in units)},
            "after": {"files": sum(f for f, _ in after), "bytes": sum(b for _, b in after)},
            "rows": sum(rows) if rows else None,
        }


def _sentence(text: str | None) -> str | None:
    """Return a text for a person as one line. All other values of a report are exact."""
    return None if text is None else printable(text)  # guard: sentences_are_lines


def _value_or(value: int | None, default: int | None) -> int:
    return value if value is not None else (default or 0)


@dataclass
class Report:
    """The whole report of one job."""

    verb: str
    version: str
    run_id: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    error: str | None = None
    usage: bool = False
    complete: bool = True
    by_name: bool = False
    tables: list[TableReport] = field(default_factory=list)
    phases: Mapping[str, float] = field(default_factory=dict)
    namenode_calls: int = 0
    checks: Sequence[Check] | None = None

    @property
    def namenode_calls_per_second(self) -> float | None:
        """Return the average over the job; None if it took no time that is known."""
        seconds = (self.ended - self.started).total_seconds() if self.started and self.ended else 0.0
        return round(self.namenode_calls / seconds, 1) if seconds > 0 else None

    @property
    def outcome(self) -> JobOutcome:
        """Return the most serious outcome. A refusal counts only if the table was requested by name.

        It always counts where a rollback has left a run that it was to undo: it undoes all, or fails.
        """
        if self.usage:
            return JobOutcome.USAGE
        if self.checks is not None:
            wrong = self.error or not self.complete or any(check.is_bad for check in self.checks)
            return JobOutcome.FAILED if wrong else JobOutcome.DONE
        if any(table.is_unsafe for table in self.tables):
            return JobOutcome.UNSAFE
        outcomes = {t.outcome for t in self.tables if t.outcome != TableOutcome.REFUSED or self._counts(t)}
        if outcomes & _BAD_TABLES or self.error or not self.complete:
            did = outcomes & {TableOutcome.DONE, TableOutcome.PARTIAL}
            return JobOutcome.PARTIAL if did else JobOutcome.FAILED
        return JobOutcome.DONE if TableOutcome.DONE in outcomes else JobOutcome.NOTHING

    def _counts(self, refused: TableReport) -> bool:
        hidden = self.verb == "rollback" and refused.code in _NOT_ROLLED_BACK
        return self.by_name or hidden  # guard: hidden_runs_fail_a_rollback

    @property
    def exit_code(self) -> int:
        return self.outcome.exit_code

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "verb": self.verb,
            "version": self.version,
            "run_id": self.run_id,
            "outcome": self.outcome,
            "started": utc(self.started) if self.started else None,
            "ended": utc(self.ended) if self.ended else None,
            "error": _sentence(self.error),
            "phases": dict(self.phases),
            "namenode_calls": self.namenode_calls,
            "namenode_calls_per_second": self.namenode_calls_per_second,
            "tables": [t.to_json() for t in self.tables],
            **({} if self.checks is None else {"checks": [check.to_json() for check in self.checks]}),
        }

    def summary_line(self, nonce: str | None = None) -> str:
        """Return one line for stdout: the report without healthy units, of which there may be tens of thousands.

        Args:
            nonce: the word of the caller, by which no text of a table can be taken for this line.
        """
        data = self.to_json()
        for table in data["tables"]:
            table["units"] = [u for u in table["units"] if u["outcome"] != UnitOutcome.HEALTHY]
        return " ".join(filter(None, [SENTINEL, nonce, json.dumps(data, ensure_ascii=True)]))

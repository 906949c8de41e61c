"""What became of a unit, for the report and for the log."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from spark_jobs.core.errors import Deferred, LakekeeperError, Refusal, UnitChanged, Unsafe
from spark_jobs.core.health import Health
from spark_jobs.core.journal import Swap
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.plan import UnitPlan
from spark_jobs.core.wire import UnitReport

log = logging.getLogger("lakekeeper")


@dataclass
class Outcome:
    """What became of one unit; `swap` is set where it was compacted, `record` where COMMITTED is to be journaled.
    `doubtful`: a call failed, and the server may still carry it out."""

    report: UnitReport
    swap: Swap | None = None
    record: dict[str, object] | None = None
    codec: str | None = None
    warnings: Sequence[str] = field(default_factory=tuple)
    outcome_unknown: bool = False


def compacted_report(
    swap: Swap, health: Health | None = None, seconds: float | None = None, moved_files: int = 0
) -> UnitReport:
    """The line of a unit that is swapped, also where an earlier attempt did it."""
    figures = asdict(health) if health else {"files": len(swap.originals.data), "bytes": swap.originals.bytes}
    return UnitReport(
        unit=swap.unit.to_json(),
        outcome=UnitOutcome.COMPACTED,
        reason=f"{moved_files} files that were added meanwhile stay in the table" if moved_files else None,
        **figures,
        fingerprint=swap.originals.fingerprint(),
        files_after=len(swap.compacted.data) + moved_files,
        bytes_after=swap.compacted.bytes,
        rows=swap.rows,
        seconds=round(seconds, 3) if seconds is not None else None,
    )


_OUTCOMES: tuple[tuple[type[Exception], UnitOutcome], ...] = (
    (UnitChanged, UnitOutcome.CHANGED),
    (Deferred, UnitOutcome.DEFERRED),
    (Unsafe, UnitOutcome.QUARANTINED),
)


def failed(plan: UnitPlan, error: Exception) -> Outcome:
    """The outcome that an error stands for."""
    unit = plan.unit.to_json()
    if isinstance(error, Refusal):
        outcome = UnitOutcome.CHANGED if error.code == "ACTIVE_WRITER" else UnitOutcome.SKIPPED
        return Outcome(UnitReport.of(unit, outcome, plan.health, code=error.code, reason=error.reason))
    if not isinstance(error, (LakekeeperError, OSError)):
        log.exception("%s failed", plan.unit)
    outcome = next((name for kind, name in _OUTCOMES if isinstance(error, kind)), UnitOutcome.FAILED)
    return Outcome(UnitReport.of(unit, outcome, plan.health, reason=str(error) or type(error).__name__))


def describe(report: UnitReport) -> str:
    """One line of progress."""
    unit = "/".join(f"{k}={v}" for k, v in report.unit.items()) or "table"
    if report.outcome != UnitOutcome.COMPACTED:
        return f"{unit}: {report.outcome}: {report.reason}"
    return f"{unit}: {report.files} -> {report.files_after} files, {report.rows} rows, {report.seconds:.1f} s"

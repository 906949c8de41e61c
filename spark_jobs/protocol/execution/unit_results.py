"""The result of a unit, which is one value for all verbs, and the functions that create it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spark_jobs.core.messages.errors import (
    DamagedOriginals,
    LakekeeperError,
    NoRule,
    OnlyCopy,
    Refusal,
    UnitChanged,
    Unsafe,
    in_one_line,
)
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies import originals, verbs
from spark_jobs.core.messages.remedies.accounts import with_quota_command
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.selection import text_of
from spark_jobs.core.planning.decisions import Decision, Fail, Irreducible, Refuse, YieldToWriter, on_wire
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.rules.health import Health, irreducible_health
from spark_jobs.core.values.model import Unit
from spark_jobs.core.wire.report import TableReport, UnitReport, utc
from spark_jobs.protocol.swap.swap_executor import SwapResult

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class UnitResult:
    """The result of one unit of a run.

    Attributes:
        unit_key: the unit's name in the journal.
        report: the unit's part of the report.
        kind: the kind of the record to journal. Empty if there is none, or if it is published already.
        record: the unit's part of that record.
        codec: the codec of the files that were written.
        outcome_unknown: a call failed, and the server may still execute it.
        refusal: why the unit was refused; None if it was not.
        freed, trashed: the bytes of originals that were deleted, or moved to the trash.
        instead_of_arrow: Spark has written it, although Arrow was to; the report says why.
    """

    unit_key: str
    report: UnitReport
    kind: str = ""
    record: Mapping[str, object] = field(default_factory=dict)
    codec: str | None = None
    warnings: tuple[str, ...] = ()
    outcome_unknown: bool = False
    refusal: Refusal | None = None
    freed: int = 0
    trashed: int = 0
    instead_of_arrow: bool = False


def not_by_arrow(results: Sequence[UnitResult]) -> list[str]:
    """Return the warning that Spark has written units instead of Arrow; none if it has not.

    There is one for all of them, because the report has the reason of each.
    """
    instead = [result.report for result in results if result.instead_of_arrow]
    if not instead:
        return []
    first, *others = instead
    more = f" and {len(others)} more" if others else ""
    place = f" (partition {text_of(first.unit)}{more})" if first.unit else ""
    return [WarningCode.ARROW_NOT_USED.text(f"{first.engine_reason}{place}")]


def uncompacted(
    unit: Unit, decision: Decision, health: Health | None = None, *, unknown: bool = False
) -> UnitResult:
    """Return the result of a unit that was not compacted."""
    if isinstance(decision, Irreducible):
        health = irreducible_health(health, decision.target_files) if health else None
    outcome, code, reason = on_wire(decision)
    report = UnitReport.of(unit.to_json(), outcome, health, code=code, reason=reason)
    return UnitResult(unit.key, report, outcome_unknown=unknown)


def of_error(
    unit: Unit, error: Exception, health: Health | None = None, *, unknown: bool = False
) -> UnitResult:
    """Return the result of a unit whose compaction ended with this error."""
    refusal = error if isinstance(error, Refusal) else None
    result = uncompacted(unit, decision_of(error, unit), health, unknown=unknown and refusal is None)
    return replace(result, refusal=refusal)


def decision_of(error: Exception, unit: Unit) -> Decision:
    """Return what an error means for a unit that is compacted."""
    if isinstance(error, Refusal):
        active = error.code == RefusalCode.ACTIVE_WRITER.name
        return YieldToWriter(error.reason, error.code) if active else Refuse(error)
    reason = reason_of(error, unit)
    if isinstance(error, UnitChanged):
        return YieldToWriter(reason)
    return Fail(reason, quarantined=isinstance(error, Unsafe))


def reason_of(error: Exception, unit: Unit) -> str:
    """Return what a report says about an error of one unit. An unexpected error is logged with its traceback."""
    if isinstance(error, (LakekeeperError, OSError)):
        return with_quota_command(str(error)) or type(error).__name__
    log.error("%s failed", unit, exc_info=error)
    return in_one_line(error)


def unresolved(
    swap: Swap, error: Exception, target: str, run_id: str, *, unknown: bool = False
) -> UnitResult:
    """Return the result of a unit that is left as it is: its intent stays open, or it cannot be rolled back.

    It is `quarantined` only for Unsafe, which a person must resolve. Otherwise the next job resolves it.
    """
    outcome = UnitOutcome.QUARANTINED if isinstance(error, Unsafe) else UnitOutcome.FAILED
    code = error.code if isinstance(error, Refusal) else None
    reason = with_remedy(reason_of(error, swap.unit), error, target, run_id)
    report = UnitReport.of(swap.unit.to_json(), outcome, code=code, reason=reason)
    return UnitResult(swap.unit.key, report, outcome_unknown=unknown)


def compacted_report(
    swap: Swap, health: Health | None = None, seconds: float | None = None, moved_files: int = 0
) -> UnitReport:
    """Return the report of a unit that is swapped, also if an earlier attempt has swapped it."""
    figures = health.figures if health else {"files": len(swap.originals.data), "bytes": swap.originals.bytes}
    return UnitReport(
        unit=swap.unit.to_json(),
        outcome=UnitOutcome.COMPACTED,
        reason=f"{moved_files} files that were added during the compaction stay in the table"
        if moved_files
        else None,
        **figures,
        fingerprint=swap.originals.fingerprint,
        files_after=len(swap.compacted.data) + moved_files,
        bytes_after=swap.compacted.bytes,
        rows=swap.rows,
        seconds=round(seconds, 3) if seconds is not None else None,
    )


def restored(swap: Swap, result: SwapResult, seconds: float, note: str | None = None) -> UnitResult:
    """Return the result of a rollback: the originals are live again, or the swap ended in another way."""
    key, kind, record = swap.unit.key, result.kind, result.body(swap)
    if result.kind != journal.ROLLED_BACK:
        report = UnitReport.of(swap.unit.to_json(), UnitOutcome.FAILED, reason=result.problem)
        return UnitResult(key, report, kind, record)
    added = (
        f"{result.moved_files} files that were added since the compaction stay in the table"
        if result.moved_files
        else None
    )
    report = UnitReport(
        unit=swap.unit.to_json(),
        outcome=UnitOutcome.RESTORED,
        reason="; ".join(text for text in (added, note) if text) or None,
        files=len(swap.compacted.data) + result.moved_files,
        bytes=swap.compacted.bytes,
        files_after=len(swap.originals.data) + result.moved_files,
        bytes_after=swap.originals.bytes,
        rows=swap.rows,
        seconds=round(seconds, 3),
    )
    return UnitResult(key, report, kind, record)


def deleted_originals(unit: UnitState) -> UnitReport:
    """Return the report of a unit that a rollback cannot restore, because its originals were deleted."""
    code = RefusalCode.ORIGINALS_DELETED
    how = "forgotten" if unit.forgotten else "deleted"
    reason = f"its originals were {how} at {utc(unit.at)}; it stays compacted"
    files, size = len(unit.swap.compacted.data), unit.swap.compacted.bytes
    values = unit.swap.unit.to_json()
    return UnitReport(values, UnitOutcome.SKIPPED, code.name, reason, files=files, bytes=size)


def not_deleted(swap: Swap, outcome: UnitOutcome, reason: str, *, unknown: bool = False) -> UnitResult:
    """Return the result of a cleanup that deleted nothing of this unit, or of a dry run."""
    return UnitResult(swap.unit.key, _originals_report(swap, outcome, reason), outcome_unknown=unknown)


def cleaned(swap: Swap, *, trashed: bool) -> UnitResult:
    """Return the result of a cleanup that deleted the unit's originals, or moved them to the trash."""
    size, key = swap.originals.bytes, swap.unit.key
    report = replace(_originals_report(swap, UnitOutcome.CLEANED, None), files_after=0, bytes_after=0)
    freed, moved = (0, size) if trashed else (size, 0)
    return UnitResult(key, report, journal.CLEANED, {"unit": key}, freed=freed, trashed=moved)


def _originals_report(swap: Swap, outcome: UnitOutcome, reason: str | None) -> UnitReport:
    files, size = len(swap.originals.files), swap.originals.bytes
    return UnitReport(swap.unit.to_json(), outcome, reason=reason, files=files, bytes=size)


def describe(report: UnitReport) -> str:
    """Return one line for the progress log."""
    unit = "/".join(f"{k}={v}" for k, v in report.unit.items()) or "table"
    if report.outcome != UnitOutcome.COMPACTED:
        return f"{unit}: {report.outcome}" + (f": {report.reason}" if report.reason else "")
    return f"{unit}: {report.files} -> {report.files_after} files, {report.rows} rows, {report.seconds:.1f} s"


def with_remedy(reason: str, error: Exception, target: str, run_id: str) -> str:
    """Return the reason, and the command that ends the state.

    Args:
        error: why a unit was left as it is.
        target: the flag that names the table (`remedies.verbs`).
        run_id: the run to which the unit's originals belong.
    """
    if isinstance(error, (DamagedOriginals, NoRule)):
        return f"{reason}. {originals.forget(target, run_id)}"
    if isinstance(error, OnlyCopy) and verbs.is_dropped(target):
        return f"{reason}. {originals.read_by_another_table()}"
    if isinstance(error, OnlyCopy):
        restore = originals.restore(target, run_id, error.place, error.in_the_way, error.statement)
        return f"{reason}. {restore}"
    return reason


def with_units(report: TableReport, units: Sequence[UnitReport]) -> TableReport:
    """Replace the reports of these units, and append the reports of other units."""
    new = {unit_values(unit): unit for unit in units}
    kept = [new.pop(unit_values(unit), unit) for unit in report.units]
    return replace(report, units=[*kept, *new.values()])


def unit_values(report: UnitReport) -> tuple[tuple[str, str | None], ...]:
    """Return the partition values of a unit, to compare them."""
    return tuple(sorted(report.unit.items()))


def unique(*texts: Iterable[str]) -> list[str]:
    """Return all texts in their order, each of them once."""
    return list(dict.fromkeys(text for each in texts for text in each))


def describe_restored(reports: Sequence[UnitReport]) -> str:
    """Return which units could not be restored."""
    left = [
        "/".join(f"{key}={value}" for key, value in report.unit.items()) or "the table"
        for report in reports
        if report.outcome != UnitOutcome.RESTORED
    ]
    return f"{', '.join(left)} could not be restored" if left else "the others were restored"

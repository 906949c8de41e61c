"""A unit that is written and verified, and what becomes of it in the swap."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_jobs.core import journal
from spark_jobs.core.errors import UnitChanged
from spark_jobs.core.footers import Profile
from spark_jobs.core.journal import Swap
from spark_jobs.core.plan import UnitPlan
from spark_jobs.protocol.execution.unit_attributes import UnitAttributes
from spark_jobs.protocol.execution.unit_results import Outcome, compacted_report, failed
from spark_jobs.protocol.swap.swap_executor import SwapResult


@dataclass(frozen=True)
class Written:
    """A unit that is written and verified, and waits for its swap; by an earlier attempt where `profile` is None."""

    plan: UnitPlan
    swap: Swap
    profile: Profile | None = None
    attributes: UnitAttributes | None = None
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


def resolved_outcome(item: Written, outcome: Outcome, result: SwapResult | None) -> Outcome:
    """What became of a unit after all; it is journaled already."""
    if result is None or result.kind != journal.COMMITTED:
        return outcome
    return replace(swapped_outcome(item, result), record=None)


def swapped_outcome(item: Written, result: SwapResult) -> Outcome:
    body = result.body(item.swap)
    if result.problem:
        return replace(failed(item.plan, UnitChanged(result.problem)), record=body)
    report = compacted_report(item.swap, item.plan.health, item.seconds, result.moved_files)
    codec = item.profile.codec if item.profile else None
    return Outcome(report, item.swap, body, codec, item.warnings)

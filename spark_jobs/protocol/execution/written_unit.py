"""A unit that is written and verified, and what becomes of it in the swap."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_jobs.core import journal
from spark_jobs.core.errors import UnitChanged
from spark_jobs.core.footers import Profile
from spark_jobs.core.journal import Swap
from spark_jobs.protocol.execution.unit_attributes import Clothes
from spark_jobs.protocol.execution.unit_results import Outcome, compacted_report, failed
from spark_jobs.protocol.planning.planner import UnitSurvey
from spark_jobs.protocol.swap.swap_executor import Verdict


@dataclass(frozen=True)
class Written:
    """A unit that is written and verified, and waits for its swap; by an earlier attempt where `profile` is None."""

    survey: UnitSurvey
    swap: Swap
    profile: Profile | None = None
    clothes: Clothes | None = None
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


def settled_outcome(item: Written, outcome: Outcome, verdict: Verdict | None) -> Outcome:
    """What became of a unit after all; it is journaled already."""
    if verdict is None or verdict.kind != journal.COMMITTED:
        return outcome
    return replace(swapped_outcome(item, verdict), record=None)


def swapped_outcome(item: Written, verdict: Verdict) -> Outcome:
    body = verdict.body(item.swap)
    if verdict.problem:
        return replace(failed(item.survey, UnitChanged(verdict.problem)), record=body)
    report = compacted_report(item.swap, item.survey.health, item.seconds, verdict.carried)
    codec = item.profile.codec if item.profile else None
    return Outcome(report, item.swap, body, codec, item.warnings)

"""What is decided on a unit, by a plan and then by its compaction, and what a report says of it.

A plan decides to rewrite a unit, to recover it, to leave it, to defer it, or to refuse it; or it fails to decide. A
compaction that does not end with a swap ends with a decision too: to leave or defer the unit after all, to refuse it,
to return it to a writer, or to fail.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.outcomes import UnitOutcome


@dataclass(frozen=True)
class Rewrite:
    """Its files are small, and it is due: they are rewritten."""


@dataclass(frozen=True)
class Recover:
    """A run was interrupted on it, which is recovered first. Then its files are rewritten if they are small."""

    reason: str


@dataclass(frozen=True)
class Leave:
    """It needs no compaction, or is not due, and `reason` says why."""

    reason: str | None = None


@dataclass(frozen=True)
class Irreducible:
    """Its files are small, but differ in schema: a compaction would leave `target_files`, no fewer than there are."""

    reason: str
    target_files: int


@dataclass(frozen=True)
class Defer:
    """It is left to the next job, which takes it first. `core/planning/admission.py` alone decides so.

    Attributes:
        reason: the limit, or the deadline.
        instead: what would be done without the limit.
    """

    reason: str
    instead: Rewrite | Recover = field(default_factory=Rewrite)


@dataclass(frozen=True)
class Refuse:
    """It must not be compacted."""

    refusal: Refusal


@dataclass(frozen=True)
class YieldToWriter:
    """A writer was active in it while it was compacted, or has replaced what was written. The next job takes it."""

    reason: str
    code: str | None = None


@dataclass(frozen=True)
class Fail:
    """An error occurred; or, if it is quarantined, no rule covers its swap state, and a person must look at it."""

    reason: str
    quarantined: bool = False


Decision = Union[Rewrite, Recover, Leave, Irreducible, Defer, Refuse, YieldToWriter, Fail]

_OUTCOMES: dict[type, UnitOutcome] = {
    Rewrite: UnitOutcome.FLAGGED,
    Recover: UnitOutcome.FLAGGED,
    Leave: UnitOutcome.HEALTHY,
    Irreducible: UnitOutcome.HEALTHY,
    Defer: UnitOutcome.DEFERRED,
    Refuse: UnitOutcome.SKIPPED,
    YieldToWriter: UnitOutcome.CHANGED,
    Fail: UnitOutcome.FAILED,
}


def on_wire(decision: Decision) -> tuple[UnitOutcome, str | None, str | None]:
    """Return what a report says of a decision: outcome, code and reason."""
    outcome = _OUTCOMES[type(decision)]
    if isinstance(decision, Refuse):
        return outcome, decision.refusal.code, decision.refusal.reason
    if isinstance(decision, Fail) and decision.quarantined:
        outcome = UnitOutcome.QUARANTINED
    return outcome, getattr(decision, "code", None), getattr(decision, "reason", None)

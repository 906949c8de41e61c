"""What came out of a suite, and the table of all of them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """The counts of one suite; `missed`: it could not run here."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    note: str = ""
    missed: bool = False

    def but_failed(self, note: str) -> Outcome:
        return replace(self, failed=self.failed + 1, note=note)


def read_junit(name: str, report: Path, seconds: float) -> Outcome:
    """An error in a fixture counts as a failure. No report, no test."""
    if not report.exists():
        return Outcome(name, seconds=seconds)
    total, failed, errors, skipped = _counts(report)
    bad = failed + errors
    # A test whose teardown breaks is reported twice, as passed and as an error.
    return Outcome(name, max(0, total - bad - skipped), bad, skipped, seconds)


def _counts(report: Path) -> list[int]:
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    names = ("tests", "failures", "errors", "skipped")
    return [sum(int(suite.get(name, 0)) for suite in suites) for name in names]


def summary(outcomes: Sequence[Outcome]) -> str:
    """A line per suite, then the plain total."""
    rows = [_row("suite", "passed", "failed", "skipped", "seconds")]
    rows += [_row(*_counted(outcome)) + f"  {outcome.note}" for outcome in outcomes]
    missed = [f"!!! {outcome.name} DID NOT RUN: {outcome.note}\n" for outcome in outcomes if outcome.missed]
    return "\n" + "\n".join(row.rstrip() for row in rows) + "\n\n" + "".join(missed) + total(outcomes)


def _counted(outcome: Outcome) -> tuple[object, ...]:
    return outcome.name, outcome.passed, outcome.failed, outcome.skipped, f"{outcome.seconds:.0f}"


def _row(name: object, *counts: object) -> str:
    return f"{name:<18}" + "".join(f"{count:>9}" for count in counts)


def total(outcomes: Sequence[Outcome]) -> str:
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    return f"{passed} passed, {failed} failed, {skipped} skipped"

"""What came out of a suite, from pytest's report log, and the table of all suites."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.harness.resources import NOTHING, Usage

SLOWEST = 15


@dataclass(frozen=True)
class Outcome:
    """The counts of one suite; `missed`: it could not run here, and `note` says why.

    `failures` are the tests that failed, `left` those of another set.
    """

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    usage: Usage = NOTHING
    note: str = ""
    missed: bool = False
    left: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    slowest: tuple[tuple[float, str], ...] = ()

    def but_failed(self, note: str) -> Outcome:
        return replace(self, failed=self.failed + 1, note=note)


@dataclass
class _Test:
    """One test in the report log, whose phases are written as they end; seconds over all of them."""

    outcomes: list[str] = field(default_factory=list)
    seconds: float = 0
    ended: bool = False

    @property
    def outcome(self) -> str:
        return next((each for each in ("failed", "skipped") if each in self.outcomes), "passed")


def read_report_log(name: str, log: Path) -> Outcome:
    """An error in a fixture counts as a failure; no log, no test. What was running when the log ends is noted."""
    tests = _tests(log)
    outcomes = [test.outcome for test in tests.values() if test.ended]
    ranked = sorted(((test.seconds, node) for node, test in tests.items()), reverse=True)
    running = [node for node, test in tests.items() if not test.ended]
    return Outcome(
        name,
        *(outcomes.count(each) for each in ("passed", "failed", "skipped")),
        note=f"in {running[-1]}" if running else "",
        failures=tuple(node for node, test in tests.items() if test.ended and test.outcome == "failed"),
        slowest=tuple(ranked[:SLOWEST]),
    )


def _tests(log: Path) -> dict[str, _Test]:
    tests: dict[str, _Test] = {}
    for report in _reports(log):
        test = tests.setdefault(report["nodeid"], _Test())
        test.outcomes.append(report["outcome"])
        test.seconds += report["duration"]
        test.ended = report["when"] == "teardown"
    return tests


def _reports(log: Path) -> Iterator[dict[str, Any]]:
    """The reports of tests; a line that was being written when pytest was stopped is none."""
    for line in log.read_text().splitlines() if log.exists() else ():
        try:
            report = json.loads(line)
        except ValueError:
            continue
        if report["$report_type"] == "TestReport":
            yield report


def slowest(outcome: Outcome) -> str:
    """The slowest tests of a suite, set-up and tear-down included."""
    rows = [f"  {seconds:7.1f} s  {node}" for seconds, node in outcome.slowest if seconds >= 0.05]
    return "\n".join([f"slowest tests of {outcome.name}:", *rows]) if rows else ""


def summary(outcomes: Sequence[Outcome], out: Path) -> str:
    """The slowest tests, a line per suite, what was left out (by name below `out`), what failed, and the plain total.

    Only what could not run here comes after the total: a reader of the last line must not miss it.
    """
    blocks = [
        *filter(None, map(slowest, outcomes)),
        "\n".join(_table(outcomes)),
        *filter(None, [_left(outcomes, out), _failures(outcomes)]),
        "\n".join([total(outcomes), *_missed(outcomes)]),
    ]
    return "\n" + "\n\n".join(blocks)


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    heading = _row("suite", "passed", "failed", "skipped", "wall s", "cpu s", "peak MB")
    return [heading, *(f"{_row(*_cells(outcome))}  {outcome.note}".rstrip() for outcome in outcomes)]


def _cells(outcome: Outcome) -> tuple[object, ...]:
    usage = outcome.usage
    counts = outcome.passed, outcome.failed, outcome.skipped
    return outcome.name, *counts, f"{usage.wall:.0f}", f"{usage.cpu:.0f}", f"{usage.peak / 1e6:.0f}"


def _row(name: object, *counts: object) -> str:
    return f"{name:<18}" + "".join(f"{count:>9}" for count in counts)


def _left(outcomes: Sequence[Outcome], out: Path) -> str:
    left = [outcome for outcome in outcomes if outcome.left]
    if not left:
        return ""
    rows = [f"  {outcome.name:<18}{len(outcome.left):>7} tests" for outcome in left]
    count = sum(len(outcome.left) for outcome in left)
    return "\n".join([f"left to `make test-all`: {count} tests, by name in {out}/*/left.txt", *rows])


def _failures(outcomes: Sequence[Outcome]) -> str:
    """The tests and checks that failed, by name, once more: what went before is thousands of lines."""
    rows = [f"  {outcome.name:<18}{name}" for outcome in outcomes for name in _failed(outcome)]
    return "\n".join(["failed:", *rows]) if rows else ""


def _failed(outcome: Outcome) -> tuple[str, ...]:
    """Its tests that failed, and what failed besides them: a check, or the whole suite."""
    besides = outcome.failed > len(outcome.failures)
    return (*outcome.failures, *([outcome.note or "see its output above"] if besides else []))


def _missed(outcomes: Sequence[Outcome]) -> list[str]:
    return [f"!!! {outcome.name} DID NOT RUN: {outcome.note}" for outcome in outcomes if outcome.missed]


def total(outcomes: Sequence[Outcome]) -> str:
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    return f"{passed} passed, {failed} failed, {skipped} skipped"

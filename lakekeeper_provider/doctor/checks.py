"""One check of ``doctor``: what was tried, what was found, and what to do; and all of them as a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lakekeeper_provider.exceptions import ReportError
from lakekeeper_provider.launch.redaction import redacted_text
from lakekeeper_provider.printable import one_line

GOOD, ADVICE, BAD, NOT_ASKED = OUTCOMES = ("good", "advice", "bad", "not-asked")
#: Where a check is made.
SHELL, WORKER, DRIVER = "shell", "worker", "driver"
_INDENT = " " * 18
#: What an answer is made of, beside its outcome.
_TEXTS = ("check", "where", "tried", "found")


@dataclass(frozen=True)
class Check:
    """One check, as docs/wire.md describes it. Its texts are lines without credentials.

    Args:
        check: its name, a stable word
        where: the machine that has made it
        outcome: one of ``OUTCOMES``
        action: what a person does about it; None if there is nothing to do
    """

    check: str
    where: str
    outcome: str
    tried: str
    found: str
    action: str | None = None

    def __post_init__(self) -> None:
        for name in (*_TEXTS, "action"):
            value = getattr(self, name)
            if value is not None:
                shown = redacted_text(one_line(value))  # guard: checks_shown_safely
                object.__setattr__(self, name, shown)

    @classmethod
    def of_job(cls, data: Any) -> Check:
        """Return a check from the report of a job. Raise ReportError if it is none."""
        if (
            not isinstance(data, Mapping)
            or data.get("outcome") not in OUTCOMES
            or not all(isinstance(data.get(name), str) for name in _TEXTS)
        ):
            raise ReportError(f"the report has a check that is none: {str(data)[:200]}")
        action = data.get("action")
        texts = {name: data[name] for name in _TEXTS}
        return cls(**texts, outcome=data["outcome"], action=None if action is None else str(action))

    def to_json(self) -> dict[str, Any]:
        """Return the check for a report."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the check for a person."""
        shown = f"{self.outcome:<9} {self.where:<7} {self.check}: {self.tried}: {self.found}"
        return [shown, *([f"{_INDENT}-> {self.action}"] if self.action else [])]


@dataclass(frozen=True)
class Desk:
    """Makes checks of one machine.

    Args:
        where: the machine
    """

    where: str

    def good(self, check: str, tried: str, found: str) -> Check:
        """Return a check that is as it should be."""
        return Check(check, self.where, GOOD, tried, found)

    def advice(self, check: str, tried: str, found: str, action: str) -> Check:
        """Return a check of what would better be otherwise."""
        return Check(check, self.where, ADVICE, tried, found, action)

    def bad(self, check: str, tried: str, found: str, action: str) -> Check:
        """Return a check of what jobs fail on."""
        return Check(check, self.where, BAD, tried, found, action)

    def not_asked(self, check: str, tried: str, because: str) -> Check:
        """Return a check that cannot be made here."""
        return Check(check, self.where, NOT_ASKED, tried, f"not asked here, because {because}")


def is_bad(checks: Sequence[Check]) -> bool:
    """Tell whether any of the checks is bad."""
    return any(check.outcome == BAD for check in checks)


def text(checks: Sequence[Check]) -> str:
    """Return all checks for a person, and a last line with the bad ones."""
    lines = [line for check in checks for line in check.lines()]
    return "\n".join([*lines, summary(checks)])


def summary(checks: Sequence[Check]) -> str:
    """Return one line: which checks are bad, and how many are not."""
    bad = [f"{check.check} ({check.where})" for check in checks if check.outcome == BAD]
    counts = {outcome: sum(check.outcome == outcome for check in checks) for outcome in OUTCOMES}
    rest = ", ".join(f"{counts[each]} {each}" for each in (GOOD, ADVICE, NOT_ASKED) if counts[each])
    return f"{len(bad)} bad: {', '.join(bad)}; {rest}" if bad else f"nothing is wrong: {rest}"

"""What the proofs counted, for the table that pytest prints at its end. The assertions are in the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Figures:
    """One line of the table: what was tried, and how often the promise was broken."""

    subject: str
    points: int = 0
    modes: str = ""
    depth: int = 1
    states: int = 0
    recoveries: int = 0
    notes: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    def violated(self, where: object, texts: Sequence[str]) -> None:
        self.violations += [f"{where}: {text}" for text in texts]

    def note(self, what: str, by: int = 1) -> None:
        """A count that is neither good nor bad, such as of units that wait for a person."""
        self.notes[what] = self.notes.get(what, 0) + by

    def _count(self, *words: str) -> int:
        return sum(any(word in text for word in words) for text in self.violations)

    def __str__(self) -> str:
        notes = "".join(f", {what} {number}" for what, number in sorted(self.notes.items()))
        return (
            f"crash: {self.subject}: {self.points} points x {self.modes}, depth {self.depth}: {self.states} states,"
            f" {self.recoveries} recoveries, lost {self._count('are lost')}, duplicated {self._count('live twice')},"
            f" stuck {self._count('stuck')}{notes}"
        )


TABLE: list[Figures] = []


def figures(subject: str, modes: str = "1 mode", depth: int = 1) -> Figures:
    """A new line of the table."""
    line = Figures(subject, modes=modes, depth=depth)
    TABLE.append(line)
    return line

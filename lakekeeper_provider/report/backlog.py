"""What is still to compact after a night, and how many nights that takes at last week's pace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: The nights by which the pace is measured.
NIGHTS = 7


@dataclass(frozen=True)
class Night:
    """The files of flagged partitions in one night.

    Attributes:
        found: the files of the partitions that its analyses have flagged.
        removed: how many files less its compactions have left.
        left: the files of flagged partitions that were not compacted.
    """

    found: int
    removed: int
    left: int

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Night | None:
        """Return a night from its XCom; None if another version has written it."""
        try:
            return cls(int(value["found"]), int(value["removed"]), int(value["left"]))
        except (KeyError, TypeError, ValueError):
            return None


@dataclass(frozen=True)
class Backlog:
    """The nights of the last week, the newest last; none after a run that was no night."""

    nights: Sequence[Night]

    @classmethod
    def after(cls, night: Night, earlier: Sequence[Mapping[str, Any]] | None) -> Backlog:
        """Return the backlog after a night.

        Args:
            earlier: the nights before it, as in the XCom of the last summary; None if there is none
        """
        known = (Night.of(value) for value in earlier or ())
        return cls([*(each for each in known if each), night][-NIGHTS:])

    def to_json(self) -> list[dict[str, int]]:
        """Return the nights for XCom."""
        return [asdict(night) for night in self.nights]

    @property
    def nights_left(self) -> float | None:
        """Return how many nights the files that are left take at this pace; None if nothing was removed."""
        removed = sum(night.removed for night in self.nights)
        return self.nights[-1].left * len(self.nights) / removed if removed > 0 else None

    @property
    def grows(self) -> bool:
        """Tell whether each of the last three nights has left more than the one before it."""
        left = [night.left for night in self.nights[-3:]]
        return len(left) == 3 and left[0] < left[1] < left[2]

    @property
    def line(self) -> str:
        """Return a sentence; empty if nothing is left."""
        left = self.nights[-1].left if self.nights else 0
        if not left:
            return ""
        what = f"backlog: {left:,} files of flagged partitions are not compacted"
        if self.nights_left is None:
            return f"{what}; no file was removed in the last {_nights(len(self.nights))}"
        pace = f"at the pace of the last {_nights(len(self.nights))}"
        return f"{what}; {pace}, about {_nights(max(1, round(self.nights_left)))} more"


def _nights(number: int) -> str:
    return f"{number} night{'' if number == 1 else 's'}"

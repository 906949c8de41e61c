"""An amount of work: units, and their files and bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Amount:
    """An amount of work; files and bytes are 0 where they are not known before."""

    units: int = 1
    files: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.units + other.units, self.files + other.files, self.bytes + other.bytes)


NONE = Amount(0)

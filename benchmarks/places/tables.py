"""Tables of a case, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.datasets import outputs
from benchmarks.measuring import RunFailed


@dataclass(frozen=True)
class Unit:
    """A directory that is rewritten: its path, that for the output of the plain rewrite, its files and bytes."""

    source: str
    output: str
    files: int
    size: int


class Tables(Protocol):
    """Tables that are compacted together, as they are before each step."""

    @property
    def full_names(self) -> str:
        """Return the names, separated by commas."""

    @property
    def schema(self) -> str:
        """Return the columns of the files, which all tables have in common."""

    def units(self) -> list[Unit]:
        """Return all directories with files."""

    def reset(self) -> None:
        """Bring files and metastore into the state before the first step, and the page cache into the same state."""

    def count(self, directory: str) -> int:
        """Return the number of visible files in a directory, and not below it."""


def facts(tables: Tables) -> dict[str, Any]:
    """Return what the page says of the tables."""
    units = tables.units()
    return {
        "tables": tables.full_names.count(",") + 1,
        "units": len(units),
        "files": sum(unit.files for unit in units),
        "bytes": sum(unit.size for unit in units),
        "outputs": sum(outputs(unit.size) for unit in units),
    }


def require_compacted(tables: Tables, label: str, *, bare: bool = False) -> int:
    """Return how many files there are after a step.

    Raises:
        RunFailed: they are not as many as the bytes ask for: what was measured is not a compaction.
    """
    units = tables.units()
    found = sum(tables.count(unit.output if bare else unit.source) for unit in units)
    expected = sum(outputs(unit.size) for unit in units)
    if found != expected:
        raise RunFailed(f"{label}: {found} files, expected {expected}")
    return found

"""The check for shared and nested directories of units: a swap of one unit would move the data of the other."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import Unit


def overlapping(units: Sequence[Unit], facts: TableFacts) -> dict[str, str]:
    """Return the units whose directories overlap another unit's, or contain the table's root.

    Returns:
        The location with which the unit overlaps, by unit key.
    """
    overlapped: dict[str, str] = {}
    enclosing: list[Unit] = []
    for unit in sorted(units, key=lambda u: u.location + "/"):
        while enclosing and not _within(unit.location, enclosing[-1].location):
            enclosing.pop()
        if enclosing:
            overlapped[unit.key] = enclosing[-1].location
            overlapped.setdefault(enclosing[-1].key, unit.location)
        enclosing.append(unit)
    root = facts.storage.location
    overlapped.update({u.key: root for u in units if u.spec and _within(root, u.location)})
    return overlapped


def _within(inner: str, outer: str) -> bool:
    return (inner.rstrip("/") + "/").startswith(outer.rstrip("/") + "/")  # guard: path_below_path

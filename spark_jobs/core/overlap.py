"""Units whose directories are shared or nested: swapping one would move the other's data."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.model import Unit


def overlapping(units: Sequence[Unit], facts: TableFacts) -> dict[str, str]:
    """Keys of the units that overlap another one, or that hold the table's root, with the location they clash with."""
    clashes: dict[str, str] = {}
    holders: list[Unit] = []
    for unit in sorted(units, key=lambda u: u.location + "/"):
        while holders and not _within(unit.location, holders[-1].location):
            holders.pop()
        if holders:
            clashes[unit.key] = holders[-1].location
            clashes.setdefault(holders[-1].key, unit.location)
        holders.append(unit)
    root = facts.storage.location
    clashes.update({u.key: root for u in units if u.spec and _within(root, u.location)})
    return clashes


def _within(inner: str, outer: str) -> bool:
    return (inner.rstrip("/") + "/").startswith(outer.rstrip("/") + "/")  # guard: path_below_path

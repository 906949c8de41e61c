"""The order in which units are compacted: those with the most gain for each byte first, deferred ones before all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.rules.health import Health, score

_KEYS: Mapping[str, Callable[[Health], float]] = {
    "score": lambda health: -score(health),
    "none": lambda _: 0,
    "bytes-asc": lambda health: health.bytes,
    "bytes-desc": lambda health: -health.bytes,
    "files-asc": lambda health: health.files,
    "files-desc": lambda health: -health.files,
}


def ordered(units: Sequence[UnitPlan], order: str) -> list[UnitPlan]:
    """Return the units in the order of their compaction.

    Units that have to be recovered come first, because they cost little and their table is not in order. Then those
    that an earlier job has deferred, the longest first. Units that are equal stay as they are listed.
    """
    return sorted(units, key=lambda unit: _rank(unit, _KEYS[order]))


def _rank(unit: UnitPlan, key: Callable[[Health], float]) -> tuple[int, str, float]:
    if not unit.to_rewrite or unit.health is None:
        return 0 if unit.flagged else 3, "", 0
    return 1 if unit.deferred_since else 2, unit.deferred_since or "", key(unit.health)

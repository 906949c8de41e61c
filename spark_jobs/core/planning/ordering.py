"""The order in which units are compacted, and their division into waves.

First come those with the most gain for each byte, and deferred ones before all. A wave costs two records, and a kill
loses the work of one. Units that are written one by one come in small waves. Small units are written together, so a
wave has many of them: as much data as a wave of large units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.rules.health import Health, score

#: The number of large units in a wave is this number times `parallelism`.
UNITS_PER_THREAD = 4
#: The most units of a wave. Each of them is a partition of a shuffle, and a line in two records.
MOST_UNITS = 256
#: The most files of small units in a wave: their footers and paths are in the driver's memory.
MOST_FILES = 50_000
#: The most files of all units in a wave, unless one unit has more: the record of the wave has each of them, with about
#: 140 bytes, and one that is larger than `record_files.MOST_BYTES` is not read any more.
MOST_RECORDED = 1_000_000

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


def waves(
    units: Sequence[UnitPlan], parallelism: int, target_bytes: int, jointly: bool
) -> Iterator[list[UnitPlan]]:
    """Divide the units into waves, in their order.

    Args:
        target_bytes: the size of the files to write. A unit of this size counts as a large unit.
        jointly: small units are written together.
    """
    wave: list[UnitPlan] = []
    room, files, recorded = float(parallelism * UNITS_PER_THREAD), MOST_FILES, MOST_RECORDED
    for unit in units:
        share, count = _share(unit, target_bytes) if jointly else 1.0, _files(unit)
        small = count if is_small(unit) else 0
        if wave and (share > room or small > files or count > recorded or len(wave) == MOST_UNITS):
            yield wave
            wave, room = [], float(parallelism * UNITS_PER_THREAD)
            files, recorded = MOST_FILES, MOST_RECORDED
        wave.append(unit)
        room, files, recorded = room - share, files - small, recorded - count
    if wave:
        yield wave


def is_small(unit: UnitPlan) -> bool:
    """Tell whether a unit becomes one file, by the listing of its plan."""
    return unit.inputs is not None and unit.inputs.health.target_files == 1


def _share(unit: UnitPlan, target_bytes: int) -> float:
    """Return the part of a large unit's work that this unit is."""
    if unit.inputs is None or not is_small(unit):
        return 1.0
    return min(1.0, unit.inputs.health.bytes / target_bytes)


def _files(unit: UnitPlan) -> int:
    return unit.inputs.health.files if unit.inputs is not None else 0

"""The division of units into waves.

A wave costs two records, and a kill loses the work of one. Units that are written one by one come in small waves. Small
units are written together, so a wave has many of them: as much data as a wave of large units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_jobs.core.planning.unit_plan import UnitPlan

#: The number of large units in a wave is this number times `parallelism`.
UNITS_PER_THREAD = 4
#: The most units of a wave. Each of them is a partition of a shuffle, and a line in two records.
MOST_UNITS = 256
#: The most files of small units in a wave: their footers and paths are in the driver's memory.
MOST_FILES = 50_000


def waves(
    units: Sequence[UnitPlan], parallelism: int, target_bytes: int, jointly: bool
) -> Iterator[list[UnitPlan]]:
    """Divide the units into waves, in their order.

    Args:
        target_bytes: the size of the files to write. A unit of this size counts as a large unit.
        jointly: small units are written together.
    """
    wave: list[UnitPlan] = []
    room, files = float(parallelism * UNITS_PER_THREAD), MOST_FILES
    for unit in units:
        share, size = _share(unit, target_bytes) if jointly else 1.0, _files(unit)
        if wave and (share > room or size > files or len(wave) == MOST_UNITS):
            yield wave
            wave, room, files = [], float(parallelism * UNITS_PER_THREAD), MOST_FILES
        wave.append(unit)
        room, files = room - share, files - size
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
    return unit.inputs.health.files if unit.inputs is not None and is_small(unit) else 0

"""The decision how the tasks of Spark share the rewrite of a unit.

Each file is written by one task. By default the same task also reads its share of the originals (a coalesce). Then
65,000 files that become 23 are read by 23 tasks, however many could run at the same time. The other way is to read with
many tasks, and to send the rows to the tasks that write: a shuffle, which costs time and local disk.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

_MB = 1024 * 1024
#: What Spark adds to the size of each file when it shares files among tasks (spark.sql.files.openCostInBytes).
OPEN_COST = 4 * _MB
#: What one task reads at most, with this addition (spark.sql.files.maxPartitionBytes).
SCAN_BYTES = 128 * _MB
#: Seconds of one task: the order of magnitude of what was measured with Parquet on a local disk (1 ms to open and read
#: a file of 90 KB, 9 ms to write a MB, 10 ms to shuffle one). They only have to tell small files from large ones.
_OPEN = 0.002
_READ = 0.005 / _MB
_WRITE = 0.020 / _MB
_SHUFFLE = 0.005 / _MB  # on each side
_SECOND_STAGE = 1.0
#: Rows are shuffled only if the unit takes at most this part of the time without a shuffle.
_WORTHWHILE = 0.75
#: This many tasks read for each file that is written, that the files become about equal.
_READERS_OF_A_FILE = 8


@dataclass(frozen=True)
class TaskPlan:
    """The number of tasks that read a unit, and of those that write it, one for each file."""

    read: int
    write: int

    @property
    def shuffled(self) -> bool:
        """Tell whether other tasks read than write, so that rows are sent from one to another."""
        return self.read > self.write


def plan_tasks(files: int, size: int, target_files: int, slots: int) -> TaskPlan:
    """Return the plan that takes less time.

    Args:
        files, size: the number and the bytes of the originals.
        target_files: the number of files to write.
        slots: the tasks that run at the same time for this unit.
    """
    together = TaskPlan(target_files, target_files)
    if slots <= target_files:
        return together
    wide = TaskPlan(scan_tasks(files, size, target_files, slots), target_files)
    seconds = _seconds_shuffled(files, size, wide, slots)
    return wide if wide.shuffled and seconds < _WORTHWHILE * _seconds(files, size, together) else together


def scan_tasks(files: int, size: int, target_files: int, slots: int) -> int:
    """Return the number of tasks among which Spark shares the files, if it is told to use all slots."""
    cost = size + files * OPEN_COST
    wanted = max(slots, _READERS_OF_A_FILE * target_files)
    return max(1, math.ceil(cost / min(SCAN_BYTES, max(OPEN_COST, cost // wanted))))


def balanced(sizes: Sequence[int], parts: int) -> list[int]:
    """Return the part of each size, so that the sums of the parts are about equal: the largest first."""
    heap = [(0, part) for part in range(parts)]
    shares = [0] * len(sizes)
    for position in sorted(range(len(sizes)), key=lambda each: -sizes[each]):
        total, part = heapq.heappop(heap)
        shares[position] = part
        heapq.heappush(heap, (total + sizes[position], part))
    return shares


def _seconds(files: int, size: int, plan: TaskPlan) -> float:
    return (_reading(files, size) + size * _WRITE) / plan.write


def _seconds_shuffled(files: int, size: int, plan: TaskPlan, slots: int) -> float:
    reading = (_reading(files, size) + size * _SHUFFLE) / min(plan.read, slots)
    return reading + size * (_SHUFFLE + _WRITE) / plan.write + _SECOND_STAGE


def _reading(files: int, size: int) -> float:
    return files * _OPEN + size * _READ

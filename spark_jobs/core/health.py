"""The decision whether a directory needs a compaction, and into how many files."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spark_jobs.core.model import FileListing
from spark_jobs.core.strategy import target_files

_GB = 1024**3
#: What a unit costs at least, in bytes, so that the score of empty files is a number: HDFS reads a packet of 64 KB.
_LEAST_BYTES = 64 * 1024


@dataclass(frozen=True)
class Thresholds:
    """The limits for small files.

    `block_size` and `target_file_size` are in bytes (0: the block size). A file is small if it is smaller than
    `block_size / ratio`. `minor`: files of the target size and above are kept as they are.
    """

    block_size: int = 128 * 1024 * 1024
    ratio: float = 10.0
    min_input_files: int = 2
    target_file_size: int = 0
    minor: bool = False

    @property
    def small_file(self) -> int:
        return int(self.block_size / self.ratio)

    @property
    def target(self) -> int:
        return self.target_file_size or self.block_size


@dataclass(frozen=True)
class Health:
    """The figures on which the decision is based. Sizes are in bytes."""

    files: int
    bytes: int
    avg_file_size: int
    median_file_size: int
    threshold: int
    target_files: int
    needs_compaction: bool


def settled(health: Health, left: int) -> Health:
    """Return the health of files of which a compaction would leave as many."""
    return replace(health, target_files=left, needs_compaction=False)


def assess(files: FileListing, thresholds: Thresholds) -> Health:
    """Return the health of the files in a listing."""
    sizes = [f.length for f in files.data]
    health = reassess(len(sizes), sum(sizes), *_average_and_median(sizes), thresholds)
    if not thresholds.minor:
        return health
    left = target_files(sizes, thresholds.target)
    worthwhile = _worthwhile(len(sizes), left, thresholds)
    # Large files keep their bytes, so they do not count: some small ones among many large ones are found too.
    small = (
        min(_average_and_median([size for size in sizes if size < thresholds.target])) < thresholds.small_file
    )
    return replace(health, target_files=left, needs_compaction=small and worthwhile)


def reassess(files: int, size: int, average: int, median: int, thresholds: Thresholds) -> Health:
    """Return the health by figures of an earlier listing; the thresholds may have changed since.

    The decision uses the minimum of average and median. So it finds directories with only small files, and those with
    many small files and a few large ones.

    Args:
        size, average, median: in bytes.
    """
    left = max(1, math.ceil(size / thresholds.target))  # guard: files_by_target_size
    small = min(average, median) < thresholds.small_file
    return Health(
        files=files,
        bytes=size,
        avg_file_size=average,
        median_file_size=median,
        threshold=thresholds.small_file,
        target_files=left,
        needs_compaction=small and _worthwhile(files, left, thresholds),
    )


def _average_and_median(sizes: Sequence[int]) -> tuple[int, int]:
    return (sum(sizes) // len(sizes), int(statistics.median(sizes))) if sizes else (0, 0)


def _worthwhile(files: int, left: int, thresholds: Thresholds) -> bool:
    return files >= max(2, thresholds.min_input_files) and left < files


def score(health: Health, pressure: float = 0.0) -> float:
    """Return the files that are removed for each GB that is read, weighted by the pressure on the namespace.

    The trait is that of AutoComp (benefit by cost), with its weight `1 + used / limit` of the namespace's quota.

    Args:
        pressure: the used part of the fullest namespace quota above the unit, from 0 to 1; 0 without a quota.
    """
    removed = max(0, health.files - health.target_files)
    return round(removed * _GB / max(health.bytes, _LEAST_BYTES) * (1 + pressure), 3)

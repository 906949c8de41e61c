"""The decision whether a directory needs a compaction, and into how many files."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from spark_jobs.core.rules.strategy import AUTO, MINOR, large_from, target_files
from spark_jobs.core.values.model import FileListing

_GB = 1024**3
#: What a unit costs at least, in bytes, so that the score of empty files is a number: HDFS reads a packet of 64 KB.
_LEAST_BYTES = 64 * 1024


@dataclass(frozen=True)
class Thresholds:
    """The limits for small files.

    `block_size` and `target_file_size` are in bytes (0: the block size). A file is small if it is smaller than
    `block_size / ratio`. By the strategy `auto`, a directory of which average and median are not small is compacted if
    it has at least `min_small_files`, and `min_files_per_gb` of them go away for each GB that is read.
    """

    block_size: int = 128 * 1024 * 1024
    ratio: float = 10.0
    min_input_files: int = 2
    target_file_size: int = 0
    strategy: str = AUTO
    min_small_files: int = 30
    min_files_per_gb: float = 10.0

    @property
    def small_file(self) -> int:
        return int(self.block_size / self.ratio)

    @property
    def target(self) -> int:
        return self.target_file_size or self.block_size

    @property
    def large_from(self) -> int:
        """Return the size from which a file is large, in bytes."""
        return large_from(self.target, self.small_file, self.strategy)


@dataclass(frozen=True)
class SizeFigures:
    """What the decision needs of the sizes of the data files. All sizes are in bytes.

    Attributes:
        small, small_bytes: of the files that are smaller than `Thresholds.small_file`.
        large, large_bytes: of the files from `Thresholds.large_from` on.
    """

    files: int
    bytes: int
    average: int
    median: int
    small: int = 0
    small_bytes: int = 0
    large: int = 0
    large_bytes: int = 0

    @classmethod
    def of(cls, sizes: Sequence[int], thresholds: Thresholds) -> SizeFigures:
        small_below, large_from = (
            thresholds.small_file,
            thresholds.large_from,
        )  # computed once, not for each file
        small = [size for size in sizes if size < small_below]
        large = [size for size in sizes if size >= large_from]
        figures = (len(small), sum(small), len(large), sum(large))
        return cls(len(sizes), sum(sizes), *_average_and_median(sizes), *figures)

    def left(self, thresholds: Thresholds) -> int:
        """Return the number of files after a compaction: by `auto`, large files are neither rewritten nor split."""
        if thresholds.strategy != AUTO:
            return self.left_of_all(thresholds)
        rest = math.ceil((self.bytes - self.large_bytes) / thresholds.target)
        return max(1, self.large + rest)

    def left_of_all(self, thresholds: Thresholds) -> int:
        """Return the number of files if all of them are rewritten."""
        return max(1, math.ceil(self.bytes / thresholds.target))  # guard: files_by_target_size

    def removed_per_gb(self, thresholds: Thresholds) -> float:
        """Return how many small files go away for each GB that is read, if only they are counted."""
        removed = self.small - max(1, math.ceil(self.small_bytes / thresholds.target))
        return removed * _GB / max(self.bytes, _LEAST_BYTES)


@dataclass(frozen=True)
class Health:
    """The figures on which the decision is based. Sizes are in bytes.

    Attributes:
        note: what small files beside larger ones have decided: why the directory is compacted, or left alone.
    """

    files: int
    bytes: int
    avg_file_size: int
    median_file_size: int
    threshold: int
    target_files: int
    needs_compaction: bool
    note: str | None = None

    @property
    def figures(self) -> dict[str, Any]:
        """Return the fields that a report has of each unit."""
        return {name: value for name, value in vars(self).items() if name != "note"}


def irreducible_health(health: Health, left: int) -> Health:
    """Return the health of files of which a compaction would leave as many."""
    note = f"its {health.files} files cannot be fewer: {left} would be left"
    return replace(health, target_files=left, needs_compaction=False, note=note)


def assess(files: FileListing, thresholds: Thresholds) -> Health:
    """Return the health of the files in a listing."""
    sizes = [f.length for f in files.data]
    health = reassess(SizeFigures.of(sizes, thresholds), thresholds)
    if thresholds.strategy != MINOR:
        return health
    left = target_files(sizes, thresholds.target)
    worthwhile = _worthwhile(len(sizes), left, thresholds)
    # Large files keep their bytes, so they do not count: some small ones among many large ones are found too.
    below = [size for size in sizes if size < thresholds.target]
    small = bool(below) and min(_average_and_median(below)) < thresholds.small_file
    note = _why_not_worthwhile(len(sizes), left, thresholds) if small and not worthwhile else None
    return replace(health, target_files=left, needs_compaction=small and worthwhile, note=note)


def reassess(sizes: SizeFigures, thresholds: Thresholds) -> Health:
    """Return the health by figures of an earlier listing; the thresholds may have changed since.

    The decision uses the minimum of average and median. So it finds directories with only small files, and those with
    many small files and a few large ones. It is made as if all files were rewritten: a few small files beside very
    large ones are not worth the copy of these. By `auto`, small files beside larger ones decide besides, if they are
    worth the reading of all files.
    """
    left = sizes.left(thresholds)
    worthwhile = _worthwhile(sizes.files, left, thresholds)
    below = min(sizes.average, sizes.median) < thresholds.small_file
    small = below and sizes.left_of_all(thresholds) < sizes.files
    by_small = thresholds.strategy == AUTO and worthwhile and not small
    enough, note = _by_small_files(sizes, thresholds, told=below) if by_small else (False, None)
    if below and not worthwhile:
        note = _why_not_worthwhile(sizes.files, left, thresholds)
    return Health(
        files=sizes.files,
        bytes=sizes.bytes,
        avg_file_size=sizes.average,
        median_file_size=sizes.median,
        threshold=thresholds.small_file,
        target_files=left,
        needs_compaction=(small or enough) and worthwhile,
        note=note,
    )


def _why_not_worthwhile(files: int, left: int, thresholds: Thresholds) -> str | None:
    """Return why small files are left alone; None for a single file, of which nobody expects anything."""
    if files < 2:
        return None
    if files < thresholds.min_input_files:
        return f"it has {files} files; min_input_files is {thresholds.min_input_files}"
    return f"its {files} files cannot be fewer: {left} would be left"


def _by_small_files(sizes: SizeFigures, thresholds: Thresholds, *, told: bool) -> tuple[bool, str | None]:
    """Return whether the small files alone are worth a compaction, and why.

    Args:
        told: say so too if there are only few of them, because average or median are small.
    """
    if sizes.small < thresholds.min_small_files:
        few = (
            f"its {sizes.small} small files beside larger ones are fewer than min_small_files"
            f" ({thresholds.min_small_files})"
        )
        return False, few if told else None
    removed, least = sizes.removed_per_gb(thresholds), thresholds.min_files_per_gb
    return removed >= least, (
        f"of its {sizes.small} small files beside larger ones, {removed:.1f} would go away for each GB that is read;"
        f" min_files_per_gb is {least:g}"
    )


def _average_and_median(sizes: Sequence[int]) -> tuple[int, int]:
    return (sum(sizes) // len(sizes), int(statistics.median(sizes))) if sizes else (0, 0)


def _worthwhile(files: int, left: int, thresholds: Thresholds) -> bool:
    return files >= max(2, thresholds.min_input_files) and left < files


def score(health: Health, pressure: float = 0.0) -> float:
    """Return the files that are removed for each GB that is read, weighted by the pressure on the namespace.

    AutoComp has this trait (benefit by cost), with its weight `1 + used / limit` of the namespace's quota.

    Args:
        pressure: the used part of the fullest namespace quota above the unit, from 0 to 1; 0 without a quota.
    """
    removed = max(0, health.files - health.target_files)
    return round(removed * _GB / max(health.bytes, _LEAST_BYTES) * (1 + pressure), 3)

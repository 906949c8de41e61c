"""Which files of a unit are rewritten: all of them, or only the small ones.

Large files that are not rewritten keep their bytes: they are copied beside the rewritten ones, because a directory is
swapped as a whole, and the originals must stay as they are for a rollback.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.formats.registry import FORMATS, has_footer
from spark_jobs.core.values.model import FileListing

#: Large files are never rewritten (auto), always (full), or where that costs less (minor).
AUTO, FULL, MINOR = "auto", "full", "minor"
STRATEGIES = (AUTO, FULL, MINOR)

#: By `auto`, a file is large from this part of the target size on: what a compaction has written is somewhat smaller
#: than the target, and would be rewritten each time. It is the part that Iceberg's `min-file-size-bytes` has.
_LARGE = 0.75
_MB = 1024 * 1024
#: Seconds, in orders of magnitude: to create, complete and compare a file; to copy a MB; to decode and encode one.
_EACH = 0.05
_COPY = 0.010 / _MB
_REWRITE = 0.025 / _MB


@dataclass(frozen=True)
class Choice:
    """What is done with the data files of a unit.

    Attributes:
        copied: those that are copied; none in a full compaction.
        reason: why a minor compaction is a full one.
    """

    rewritten: FileListing
    copied: FileListing
    reason: str | None = None

    @property
    def strategy(self) -> str:
        return MINOR if self.copied.files else FULL


def large_from(target: int, small_file: int, strategy: str) -> int:
    """Return the size from which a file is large, in bytes.

    Args:
        small_file: a file below this size is small, and so not large: who asks for files below the target size to be
            compacted gets that.
    """
    return max(math.ceil(target * _LARGE), min(small_file, target)) if strategy == AUTO else target


def choose(files: FileListing, target: int, large_from: int, strategy: str) -> Choice:
    """Return what a compaction does with these files.

    Args:
        target: the size of the files to write, in bytes.
        large_from: the size from which a file is large, in bytes.
    """
    if strategy == FULL:
        return Choice(files, FileListing(()))
    reason = _why_full([file.length for file in files.data], target) if strategy == MINOR else None
    if reason is not None:
        return Choice(files, FileListing(()), reason)
    large = FileListing.of(file for file in files.data if file.length >= large_from)
    if not large.files:
        return Choice(files, large)
    return Choice(FileListing.of(file for file in files.data if file.length < large_from), large)


def target_files(sizes: Sequence[int], target: int) -> int:
    """Return the number of files that a minor compaction leaves of files of these sizes."""
    if _why_full(sizes, target) is not None:
        return max(1, math.ceil(sum(sizes) / target))
    small = [size for size in sizes if size < target]
    return len(sizes) - len(small) + max(1, math.ceil(sum(small) / target))


def _why_full(sizes: Sequence[int], target: int) -> str | None:
    large = [size for size in sizes if size >= target]
    small = [size for size in sizes if size < target]
    if not large:
        return "none of its files has the target size"
    if not sum(small) or len(small) <= math.ceil(sum(small) / target):
        return "its small files would not be fewer by themselves"
    if len(large) * _EACH + sum(large) * _COPY > sum(large) * _REWRITE:
        return f"to copy its {len(large)} large files costs more than to rewrite them"
    return None


def why_table_is_full(file_format: str, sort_columns: Sequence[str]) -> str | None:
    """Return why no unit of a table can be compacted in part; None if they can.

    Args:
        sort_columns: the option's, or the table's.
    """
    if sort_columns:  # guard: sorted_is_full
        return "its rows are sorted, and a sort needs all of them"
    if file_format in FORMATS and not has_footer(file_format):  # guard: footers_for_minor
        return f"files of the format {file_format} have no footers that would prove the rows"
    return None

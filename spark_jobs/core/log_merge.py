"""Which manifests of the commit log are merged into one, and when.

The model is Apache Paimon's ManifestFileMerger (paimon-core, org.apache.paimon.operation), with readings of ours:

- Its files come once and leave once. Ours come back, for a rollback restores what a compaction took: the entries of
  a file are summed, and a DELETE followed by an ADD cancels like an ADD followed by a DELETE.
- Its log begins with its table, ours does not. A DELETE whose ADD nobody saw is of a file from before the log. It is
  kept until a full merge, after which no ADD of that file is left that it could still cancel.
- A minor merge joins neighbours only. Between two entries of a file that are merged must lie none that is not, or a
  file that left and came back would look as if it had been added twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.commit_log import ManifestMeta

MB = 1024 * 1024
#: A manifest of this size is worth keeping as it is.
TARGET_BYTES = 8 * MB
#: From this size on, all that is small or holds a DELETE is merged.
FULL_BYTES = 16 * MB
#: So many small manifests are merged even where they do not add up to a large one.
MIN_COUNT = 30


@dataclass(frozen=True)
class MergePlan:
    """Manifests in order, cut into parts; a part of several becomes one manifest, a part of one stays as it is.

    A `full` plan has no parts: `due` are merged as a whole, with whatever else holds an ADD of a file that they DELETE.
    """

    parts: tuple[tuple[ManifestMeta, ...], ...] = ()
    full: bool = False
    due: frozenset[str] = frozenset()


def plan_merge(manifests: Sequence[ManifestMeta]) -> MergePlan:
    """Full, where those that are small or hold a DELETE reach 16 MB together; else wherever neighbours that are small
    reach 8 MB, or are 30 and more at the end of their row. A manifest of 8 MB is skipped, and ends a row."""
    due = [meta for meta in manifests if meta.deleted or meta.bytes < TARGET_BYTES]
    if sum(meta.bytes for meta in due) >= FULL_BYTES:
        return MergePlan(full=True, due=frozenset(meta.name for meta in due))
    parts: list[tuple[ManifestMeta, ...]] = []
    row: list[ManifestMeta] = []
    for meta in manifests:
        if meta.bytes >= TARGET_BYTES:
            parts += [*_last(row), (meta,)]
            row = []
            continue
        row.append(meta)
        if sum(small.bytes for small in row) >= TARGET_BYTES:
            parts.append(tuple(row))
            row = []
    return MergePlan(tuple([*parts, *_last(row)]))


def _last(row: Sequence[ManifestMeta]) -> list[tuple[ManifestMeta, ...]]:
    """What did not reach the size is merged for its number, or left alone."""
    return [tuple(row)] if len(row) >= MIN_COUNT else [(meta,) for meta in row]

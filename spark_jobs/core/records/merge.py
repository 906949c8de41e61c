"""The decision which manifests of the commit log are merged into one, and when.

It is modelled on Apache Paimon's ManifestFileMerger (paimon-core, org.apache.paimon.operation), with these differences:

- In Paimon, a file is added once and deleted once. Here, a rollback adds the files again that a compaction deleted. So
  the entries of a file are summed, and a DELETE followed by an ADD cancels like an ADD followed by a DELETE.
- Paimon's log begins with the table, this one does not. A DELETE without an ADD is of a file that existed before the
  log. It is kept until a full merge, after which no ADD of that file is left that it could still cancel.
- A minor merge joins only neighbours. There must be no unmerged entry between two merged entries of a file. Otherwise a
  file that was deleted and added again would look as if it had been added twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.records.snapshots import ManifestMeta

MB = 1024 * 1024
#: A manifest of at least this size is not merged by a minor merge.
TARGET_BYTES = 8 * MB
#: From this total size on, all manifests that are small or have a DELETE are merged.
FULL_BYTES = 16 * MB
#: This many small manifests are merged even if their total size is below `TARGET_BYTES`.
MIN_COUNT = 30


@dataclass(frozen=True)
class MergePlan:
    """The manifests that are merged.

    Attributes:
        parts: all manifests, in order. Those of one part become one manifest. A part of one stays as it is.
        full: all of `due` are merged into one, with each manifest that has an ADD of a file that they DELETE. Then
            there are no parts.
        due: the names of these manifests.
    """

    parts: tuple[tuple[ManifestMeta, ...], ...] = ()
    full: bool = False
    due: frozenset[str] = frozenset()


def plan_merge(manifests: Sequence[ManifestMeta]) -> MergePlan:
    """Return the manifests to merge.

    The merge is full if the manifests that are small (under 8 MB) or have a DELETE are 16 MB or more in total.
    Otherwise small neighbours are merged as soon as they reach 8 MB in total. Those left at the end of a group are
    merged if they are 30 or more. A manifest of 8 MB or more is kept, and ends a group.
    """
    due = [meta for meta in manifests if meta.deleted or meta.bytes < TARGET_BYTES]
    if sum(meta.bytes for meta in due) >= FULL_BYTES:
        return MergePlan(full=True, due=frozenset(meta.name for meta in due))
    parts: list[tuple[ManifestMeta, ...]] = []
    current_group: list[ManifestMeta] = []
    for meta in manifests:
        if meta.bytes >= TARGET_BYTES:
            parts += [*_parts_of_rest(current_group), (meta,)]
            current_group = []
            continue
        current_group.append(meta)
        if sum(small.bytes for small in current_group) >= TARGET_BYTES:
            parts.append(tuple(current_group))
            current_group = []
    return MergePlan(tuple([*parts, *_parts_of_rest(current_group)]))


def _parts_of_rest(current_group: Sequence[ManifestMeta]) -> list[tuple[ManifestMeta, ...]]:
    """Return the parts of a group that is too small in bytes: merged if it has enough manifests, else as they are."""
    return [tuple(current_group)] if len(current_group) >= MIN_COUNT else [(meta,) for meta in current_group]

"""The files of one attempt to publish a snapshot of the commit log."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence

from spark_jobs.core.records import row_counts
from spark_jobs.core.records.row_counts import RowCounts, Rows
from spark_jobs.core.records.snapshots import (
    ADD,
    DELETE,
    Entry,
    ManifestList,
    ManifestMeta,
    Snapshot,
    UnitChange,
    encode_entries,
)
from spark_jobs.protocol.file_system import RecordFiles


class SnapshotDraft:
    """Writes files under random names. Nothing refers to them until the snapshot has its number."""

    def __init__(self, fs: RecordFiles, directory: Callable[[str], str]) -> None:
        self._fs = fs
        self._directory = directory
        self._paths: list[str] = []
        self.uuid = uuid.uuid4().hex
        self.staged = f"{directory('snapshot')}/.snapshot-{self.uuid}"

    def manifest(self, entries: Sequence[Entry]) -> list[ManifestMeta]:
        """Write a manifest of these entries. Return its description, or an empty list without entries."""
        if not entries:
            return []
        data, kinds = encode_entries(entries), [entry.kind for entry in entries]
        name = self._write("manifest", f"manifest-{uuid.uuid4().hex}", data)
        return [ManifestMeta(name, len(data), kinds.count(ADD), kinds.count(DELETE))]

    def list(self, manifests: Sequence[ManifestMeta], units: Sequence[UnitChange] = ()) -> str:
        """Write a list of manifests, and return its file name."""
        data = ManifestList(tuple(manifests), tuple(units)).encode()
        return self._write("manifest", f"manifest-list-{uuid.uuid4().hex}", data)

    def rows(self, before: Rows, after: Rows) -> RowCounts:
        """Write the rows of each unit after the change."""
        name = self._write("manifest", f"rows-{uuid.uuid4().hex}", row_counts.encode(after))
        return RowCounts(sum(before.values()), sum(after.values()), len(after), name)

    def survey(self, data: bytes) -> str:
        return self._write("survey", f"survey-{uuid.uuid4().hex}", data)

    def stage(self, snapshot: Snapshot) -> None:
        """Write the snapshot under a hidden name. A rename then gives it its number."""
        self._write("snapshot", f".snapshot-{self.uuid}", snapshot.encode())

    def discard(self) -> None:
        """Delete the files that were written. A later sweep deletes those that cannot be deleted now."""
        for path in reversed(self._paths):
            try:
                self._fs.delete_file(path)
            except OSError:
                continue

    def _write(self, directory: str, name: str, data: bytes) -> str:
        """Write a file. Its name is noted before, because a call may fail after the server has executed it."""
        path = f"{self._directory(directory)}/{name}"
        self._paths.append(path)
        self._fs.create(path, data)
        return name

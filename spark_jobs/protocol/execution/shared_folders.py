"""Directories that the units of many partitions share."""

from __future__ import annotations

from spark_jobs.protocol.file_system import RecordFiles


class SharedFolders:
    """Creates each directory once.

    A directory is created before the record that announces renames into it. If it is gone later, because the run was
    taken over, those renames fail.
    """

    def __init__(self, fs: RecordFiles) -> None:
        self._fs = fs
        self._created: set[str] = set()

    def create(self, folder: str) -> None:
        """Create a directory and its parents, unless this object has done so before."""
        if folder not in self._created:
            self._fs.mkdirs(folder)
            self._created.add(folder)

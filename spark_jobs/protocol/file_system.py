"""The port of the file system: one interface for each kind of user, and `FileSystem`, which is all of them.

`RecordFiles` is what journal, leases and commit log need; `DataDirectories` adds what a swap needs; `HdfsAttributes` is
what HDFS knows of a path besides its content. In production Hadoop's client stands behind them
(`adapters/hadoop/file_system.py`), in the crash tests a model with HDFS's rules.

All paths are fully qualified, decoded URIs (`hdfs://nn/warehouse/a b`). Any call may raise FileSystemError although it
took effect: what happened is found out by looking, never from the answer.
"""

from __future__ import annotations

import getpass
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.attributes import Attributes, LostAttribute
from spark_jobs.core.model import FileEntry, FileListing, name_of
from spark_jobs.core.quota import Quota

#: Larger files are rare, and would fill the driver's memory.
_KEPT_BYTES = 256 * 1024


class FileSystemError(OSError):
    """A failure of the file system without a more specific type; whether the call took effect is unknown."""


@dataclass(frozen=True)
class Status:
    """One entry of a directory.

    Attributes:
        mtime: in ms since the epoch.
        file_id: the fileId of HDFS; None where the file system has none.
        access: equal where owner, group, mode and replication are equal, as far as a listing shows them.
        owner: empty where a listing does not show it (a local disk).
        shared: who else may write to it by its mode and the mask of its ACL: `group`, `others`, or empty.
    """

    path: str
    is_dir: bool
    length: int
    mtime: int
    file_id: int | None = None
    access: str = ""
    owner: str = ""
    shared: str = ""

    @property
    def name(self) -> str:
        return name_of(self.path)

    def entry(self) -> FileEntry:
        return FileEntry(self.name, self.length, self.mtime, self.file_id)


class RecordFiles(ABC):
    """Small files that are written once, listed and renamed: journal records, leases, files of the commit log."""

    @abstractmethod
    def list(self, path: str) -> Sequence[Status]:
        """Return the entries of a directory, in one call; raise FileNotFoundError."""

    @abstractmethod
    def status(self, path: str) -> Status | None:
        """Return the entry itself, or None where there is nothing."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Rename a path. Raise FileExistsError if the target exists, FileNotFoundError if its parent does not."""

    @abstractmethod
    def mkdirs(self, path: str) -> None:
        """Create a directory and its parents."""

    @abstractmethod
    def create(self, path: str, data: bytes) -> None:
        """Write a new file and flush it to disk; never create its directory.

        Raises:
            FileExistsError: there is one.
            FileNotFoundError: the directory does not exist.
        """

    @abstractmethod
    def touch(self, path: str, mtime: int) -> None:
        """Set the modification time (ms since the epoch). Raise FileNotFoundError."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Return the whole content of a file."""

    @abstractmethod
    def replace(self, path: str, data: bytes) -> None:
        """Write a file whether or not there is one; for reports and hints, never for what must not be lost."""

    @abstractmethod
    def delete_file(self, path: str) -> None:
        """Delete one file; no error where there is none."""

    def read_once(self, path: str) -> bytes:
        """Return the content of a file that never changes once it is there; a second call does not read it again."""
        kept: dict[str, bytes] = self.__dict__.setdefault("_kept", {})
        data = kept.get(path)
        if data is None:
            data = self.read(path)
            if len(data) <= _KEPT_BYTES:
                kept[path] = data
        return data


class DataDirectories(RecordFiles):
    """Directories of data files, which are swapped by rename."""

    @abstractmethod
    def identity(self, path: str) -> str | None:
        """Return what identifies this very directory also after renames, or None where there is nothing."""

    @abstractmethod
    def open_files(self, path: str, names: Sequence[str]) -> Sequence[str]:
        """Return which of these files of a directory a writer holds open; none where the file system cannot tell."""

    @abstractmethod
    def delete_empty(self, path: str) -> bool:
        """Delete a directory if it is empty; the file system itself refuses otherwise."""

    @abstractmethod
    def delete_tree(self, path: str) -> None:
        """Delete a directory and all below it. Callers pass only what the journal names."""

    @abstractmethod
    def trash(self, path: str) -> bool:
        """Move a directory to the user's trash; return False where the trash is switched off."""

    @abstractmethod
    def trash_enabled(self, path: str) -> bool:
        """Tell whether `trash` would keep what it is given."""

    def move(self, source: str, target: str, identity: str) -> None:
        """Rename the directory of this identity. After an error, its location tells whether the rename was executed."""
        try:
            self.rename(source, target)
        except OSError:
            if self.identity(target) != identity:  # guard: rename_answer_lost
                raise

    def list_files(self, path: str) -> FileListing:
        """Return the files of a directory; directories in it are left out."""
        return FileListing.of(s.entry() for s in self.list(path) if not s.is_dir)


class HdfsAttributes(ABC):
    """What HDFS knows of a path besides its content."""

    @abstractmethod
    def attributes(self, path: str) -> Attributes:
        """Return owner, mode, ACL, extended attributes and policies; raise FileNotFoundError."""

    @abstractmethod
    def set_attributes(self, path: str, wanted: Attributes) -> Sequence[LostAttribute]:
        """Give a path the attributes that it lacks; return those that could not be set."""

    @abstractmethod
    def encryption_zone(self, path: str) -> str | None:
        """Return the root of the encryption zone that a path lies in; None outside of all."""

    @abstractmethod
    def snapshottable(self, path: str) -> bool:
        """Tell whether snapshots of this very directory are allowed."""

    @abstractmethod
    def quota(self, path: str) -> Quota | None:
        """Return the quotas of this very directory; None where it has none, or where they may not be read."""


class FileSystem(DataDirectories, HdfsAttributes):
    """All that the jobs ask of a file system."""

    @abstractmethod
    def qualify(self, path: str) -> str:
        """Return `path` with scheme and authority; a bare path is on the default file system, and one of a viewfs is
        where its mounts lead."""

    def user(self) -> str:
        """Return the account of this job, for people who read the journal later."""
        return getpass.getuser()

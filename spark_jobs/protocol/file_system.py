"""The port of the file system: one interface for each kind of use, and `FileSystem`, which has all of them.

`RecordFiles` has the calls for the journal, leases and the commit log. `DataDirectories` adds the calls for a swap.
`HdfsAttributes` has the calls for what HDFS knows of a path besides its content. `adapters/hadoop/file_system.py`
implements them with Hadoop's client; the crash tests have a model with the rules of HDFS.

All paths are fully qualified, decoded URIs (`hdfs://nn/warehouse/a b`). A call may raise FileSystemError although the
server has executed it. So the caller looks at the paths to find out what has happened, and never relies on the error.
"""

from __future__ import annotations

import getpass
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from spark_jobs.core.rules.quota import Quota
from spark_jobs.core.values.attributes import Attributes, LostAttribute
from spark_jobs.core.values.model import FileEntry, FileListing, name_of

#: `read_once` keeps files up to this size. Larger files are rare, and would fill the driver's memory.
_KEPT_BYTES = 256 * 1024


class FileSystemError(OSError):
    """A failure of the file system without a more specific type. It is not known whether the call was executed."""


class UnusableFileSystem(FileSystemError):
    """Hadoop's client cannot use the file system of a path: it lacks its class, or does not know its server.

    No server was asked, so that a retry changes nothing before a setting is changed.
    """


class Status(NamedTuple):
    """One entry of a directory.

    Attributes:
        mtime: in ms since the epoch.
        file_id: the fileId of HDFS; None where the file system has none.
        access: two entries have the same text if owner, group, mode and replication are equal in the listing.
        owner: empty if the listing has no owners (a local disk).
        shared: who else may write to it by its mode and the mask of its ACL: `group`, `others`, or empty.
        replication: of a file; None if the listing does not have it.
        link: it is a symbolic link of a local disk, and the other values describe its target.
    """

    path: str
    is_dir: bool
    length: int
    mtime: int
    file_id: int | None = None
    access: str = ""
    owner: str = ""
    shared: str = ""
    replication: int | None = None
    link: bool = False

    @property
    def name(self) -> str:
        return name_of(self.path)

    def entry(self) -> FileEntry:
        return FileEntry(name_of(self.path), self.length, self.mtime, self.file_id)


class RecordFiles(ABC):
    """Small files that are written once, listed and renamed: journal records, leases, files of the commit log."""

    @abstractmethod
    def list(self, path: str) -> Sequence[Status]:
        """Return the entries of a directory, in one call. Raise FileNotFoundError if it does not exist."""

    def list_each(self, paths: Sequence[str]) -> Iterator[Sequence[Status] | OSError]:
        """Yield the entries of each directory, in this order, or the error that prevents its listing.

        Thousands of directories are listed with a few round trips to Hadoop's client.
        """
        for path in paths:
            try:
                yield self.list(path)
            except OSError as error:
                yield error

    @abstractmethod
    def status(self, path: str) -> Status | None:
        """Return the entry of a path; None if it does not exist."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Rename a path. Raise FileExistsError if the target exists, FileNotFoundError if its parent does not."""

    @abstractmethod
    def mkdirs(self, path: str) -> None:
        """Create a directory and its parents."""

    @abstractmethod
    def create(self, path: str, data: bytes) -> None:
        """Write a new file and flush it to disk. Its directory is never created.

        Raises:
            FileExistsError: the file exists.
            FileNotFoundError: the directory does not exist.
        """

    @abstractmethod
    def touch(self, path: str, mtime: int) -> None:
        """Set the modification time (ms since the epoch). Raise FileNotFoundError if the file does not exist."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Return the whole content of a file."""

    @abstractmethod
    def replace(self, path: str, data: bytes) -> None:
        """Write a file, also over an existing one. For reports only: the old content may be lost."""

    @abstractmethod
    def delete_file(self, path: str) -> None:
        """Delete one file. It is no error if it does not exist."""

    def at_once(self) -> AbstractContextManager[None]:
        """Within this context, calls of this thread do not wait for a limit of calls per second."""
        return nullcontext()

    def user(self) -> str:
        """Return the account of this job, for people who read the journal later."""
        return getpass.getuser()

    def read_once(self, path: str) -> bytes:
        """Return the content of a file that is never changed after its creation. Small files are read only once."""
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
        """Return the identity of a directory, which renames do not change; None if the directory does not exist."""

    def identities(self, paths: Sequence[str]) -> Sequence[str | None]:
        """Return the identity of each directory. A file system may answer all of them in one round trip."""
        return [self.identity(path) for path in paths]

    @abstractmethod
    def open_files(self, path: str, names: Sequence[str]) -> Sequence[str]:
        """Return those files of a directory that a writer has open; none if the file system does not know it."""

    @abstractmethod
    def delete_empty(self, path: str) -> bool:
        """Delete a directory if it is empty. The file system itself refuses to delete any other."""

    @abstractmethod
    def delete_tree(self, path: str) -> None:
        """Delete a directory and all that is below it. Callers pass only directories that a journal names."""

    @abstractmethod
    def trash(self, path: str) -> bool:
        """Move a directory to the user's trash. Return False if the trash is switched off."""

    @abstractmethod
    def trash_enabled(self, path: str) -> bool:
        """Tell whether the trash is switched on for a path."""

    def move(self, source: str, target: str, identity: str) -> None:
        """Rename the directory of this identity. After an error, its location tells whether the rename was executed."""
        try:
            self.rename(source, target)
        except OSError:
            if self.identity(target) != identity:  # guard: rename_answer_lost
                raise

    def list_files(self, path: str) -> FileListing:
        """Return the files of a directory, without the directories in it."""
        return FileListing.of(s.entry() for s in self.list(path) if not s.is_dir)


class HdfsAttributes(ABC):
    """What HDFS knows of a path besides its content."""

    @abstractmethod
    def attributes(self, path: str) -> Attributes:
        """Return owner, mode, ACL, extended attributes and policies. Raise FileNotFoundError."""

    @abstractmethod
    def set_attributes(self, path: str, wanted: Attributes) -> Sequence[LostAttribute]:
        """Set the attributes of a path that differ from these. Return those that could not be set."""

    @abstractmethod
    def encryption_zone(self, path: str) -> str | None:
        """Return the root of the encryption zone that contains a path; None if there is none."""

    @abstractmethod
    def snapshottable(self, path: str) -> bool:
        """Tell whether snapshots of this directory itself are allowed."""

    @abstractmethod
    def quota(self, path: str) -> Quota | None:
        """Return the quotas of this directory itself; None if it has none, or if they may not be read."""


class FileSystem(DataDirectories, HdfsAttributes):
    """All that the jobs ask of a file system."""

    @abstractmethod
    def qualify(self, path: str) -> str:
        """Return a path with scheme and authority.

        A path without them is on the default file system. A path of a viewfs is resolved by its mount table.
        """

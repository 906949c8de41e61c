"""The one seam for effects: what the jobs ask of a file system, a metastore, Spark and time.

Production goes through Hadoop's clients (`fs`, `metastore`, `footers`, `rewrite`, `clock`); the crash tests put a model
in their place that has HDFS's quirks. Nothing above this seam touches the world in any other way.
"""

from __future__ import annotations

import getpass
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from spark_jobs.core.attributes import Attributes, LostAttribute
from spark_jobs.core.eligibility import Storage, TableFacts
from spark_jobs.core.encoding import Encoding
from spark_jobs.core.footers import Footer, Profile
from spark_jobs.core.model import FileEntry, FileListing, TableName, Unit, name_of
from spark_jobs.core.quota import Quota

#: Larger files are rare, and would fill the driver's memory.
_KEPT_BYTES = 256 * 1024


class FileSystemError(OSError):
    """A failure of the file system that has no better name; whether the act took effect is unknown."""


@dataclass(frozen=True)
class Status:
    """One entry of a directory; times in ms since the epoch. `access` is equal where owner, group, mode and
    replication are, as far as a listing shows them; `owner` is empty where it does not (a local disk).
    `shared`: who else may write to it, as its mode and the mask of its ACL tell: `group`, `others`, or nobody."""

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


class FileSystem(ABC):
    """Files and directories. All paths are fully qualified, decoded URIs (`hdfs://nn/warehouse/a b`).

    Any call may raise FileSystemError although it took effect: what happened is told by looking, never by the answer.
    """

    @abstractmethod
    def qualify(self, path: str) -> str:
        """`path` with its scheme and authority; a bare path is on the default file system, and one of a viewfs is where
        its mounts lead."""

    @abstractmethod
    def list(self, path: str) -> Sequence[Status]:
        """The entries of a directory in one call; raises FileNotFoundError."""

    @abstractmethod
    def status(self, path: str) -> Status | None:
        """The entry itself, or None where there is nothing."""

    @abstractmethod
    def identity(self, path: str) -> str | None:
        """A proof of which directory this is that survives renames, or None where there is nothing."""

    @abstractmethod
    def open_files(self, path: str, names: Sequence[str]) -> Sequence[str]:
        """Which of these files of a directory a writer holds open; none where the file system cannot tell."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Renames, or raises: FileExistsError where the target exists, FileNotFoundError where a parent is not."""

    @abstractmethod
    def mkdirs(self, path: str) -> None:
        """Makes a directory and its parents, or raises."""

    @abstractmethod
    def create(self, path: str, data: bytes) -> None:
        """Writes a new file and flushes it to disk; raises FileExistsError where there is one.

        Raises FileNotFoundError where the folder is missing, and never makes it.
        """

    @abstractmethod
    def touch(self, path: str, mtime: int) -> None:
        """Sets the modification time (ms since the epoch); raises FileNotFoundError."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The whole content of a file."""

    @abstractmethod
    def replace(self, path: str, data: bytes) -> None:
        """Writes a file whether or not there is one; for reports and hints, never for what must not be lost."""

    @abstractmethod
    def delete_file(self, path: str) -> None:
        """Deletes one file; no error where there is none."""

    @abstractmethod
    def delete_empty(self, path: str) -> bool:
        """Deletes a directory if it is empty; the file system itself refuses otherwise."""

    @abstractmethod
    def delete_tree(self, path: str) -> None:
        """Deletes a directory and all below it. Callers pass only what the journal names."""

    @abstractmethod
    def trash(self, path: str) -> bool:
        """Moves a directory to the user's trash; False where trash is switched off."""

    @abstractmethod
    def trash_enabled(self, path: str) -> bool:
        """Would `trash` keep what it is given?"""

    @abstractmethod
    def attributes(self, path: str) -> Attributes:
        """What a path has besides its content; raises FileNotFoundError."""

    @abstractmethod
    def set_attributes(self, path: str, wanted: Attributes) -> Sequence[LostAttribute]:
        """Gives a path the attributes that it lacks; returns those that could not be given."""

    @abstractmethod
    def encryption_zone(self, path: str) -> str | None:
        """The root of the encryption zone that a path lies in; None outside of all."""

    @abstractmethod
    def snapshottable(self, path: str) -> bool:
        """May this very directory have snapshots?"""

    @abstractmethod
    def quota(self, path: str) -> Quota | None:
        """The quotas of this very directory; None where it has none, or where they may not be known."""

    def user(self) -> str:
        """Who works here, for people who read the journal later."""
        return getpass.getuser()

    def move(self, source: str, target: str, identity: str) -> None:
        """Renames the directory of this identity; an error after success is told from a failure by where it is then."""
        try:
            self.rename(source, target)
        except OSError:
            if self.identity(target) != identity:  # guard: rename_answer_lost
                raise

    def read_once(self, path: str) -> bytes:
        """The content of a file that never changes once it is there; asked for again, it is not read again."""
        kept: dict[str, bytes] = self.__dict__.setdefault("_kept", {})
        data = kept.get(path)
        if data is None:
            data = self.read(path)
            if len(data) <= _KEPT_BYTES:
                kept[path] = data
        return data

    def list_files(self, path: str) -> FileListing:
        """The files of a directory that holds files only; directories are the caller's to judge."""
        return FileListing.of(s.entry() for s in self.list(path) if not s.is_dir)


class Catalog(Protocol):
    """The Hive metastore. Every method raises MetastoreError rather than read an error as 'there is none'."""

    def database_exists(self, database: str) -> bool: ...
    def table_exists(self, table: TableName) -> bool: ...
    def tables(self, database: str) -> list[str]: ...
    def table(self, name: TableName) -> TableFacts: ...
    def properties(self, name: TableName) -> dict[str, str]: ...
    def units(self, facts: TableFacts) -> list[tuple[Unit, Storage]]: ...
    def matching(self, facts: TableFacts, units: Sequence[Unit], where: str) -> list[Unit]: ...
    def create_backup(
        self,
        backup: TableName,
        source: TableFacts,
        run_id: str,
        location: str,
        units: Sequence[tuple[Unit, str]],
    ) -> None: ...
    def backup_tables(self, run_id: str, database: str, source: str) -> list[TableName]: ...
    def drop_backup(self, backup: TableName, run_id: str, source: str) -> bool: ...
    def drop_backup_partitions(self, backup: TableName, units: Sequence[Unit]) -> None: ...
    def analyze(self, name: TableName, unit: Unit) -> None: ...


class Footers(Protocol):
    """Reads what the files of a unit say of themselves."""

    def read(self, files: Sequence[str], file_format: str) -> list[Footer]: ...


@dataclass(frozen=True)
class RewriteRequest:
    """What to write: non-empty input files and the target folder, which is there and empty, as URIs.

    `target_bytes` is the size to aim for, `replication` that of the files (None: the file system's); `options` go to
    the format's writer; `hashed` compares values and not only counts.
    """

    files: Sequence[str]
    file_format: str
    target: str
    target_files: int
    target_bytes: int
    profile: Profile
    encoding: Encoding = field(default_factory=Encoding)
    replication: int | None = None
    hashed: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    sort_columns: Sequence[str] = ()


@dataclass(frozen=True)
class RewriteResult:
    """What a rewrite has done: so many rows, and what there is to say about it."""

    rows: int
    warnings: Sequence[str] = ()


class FileRewriter(Protocol):
    """Writes the rows of some files into fewer."""

    def encoding(self, profile: Profile, file_format: str) -> Encoding: ...
    def write(self, request: RewriteRequest) -> RewriteResult: ...


class Clock(Protocol):
    """Time, and work that goes on in the background."""

    def now(self) -> datetime:
        """The wall clock, for people and for retention."""

    def monotonic(self) -> float:
        """Seconds that never jump: the only clock by which another process is judged."""

    def sleep(self, seconds: float) -> None: ...

    def every(self, seconds: float, act: Callable[[], None]) -> Callable[[], None]:
        """Calls `act` at this interval in the background until the returned function is called."""


class Pool(Protocol):
    """Works on several items side by side."""

    def map(self, act: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]: ...


PoolFactory = Callable[[int], AbstractContextManager[Pool]]

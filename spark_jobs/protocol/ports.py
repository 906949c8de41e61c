"""The ports of the protocol: metastore, footers, rewriting, time and threads.

The port of the file system is in `file_system.py`. The adapters implement the ports; in the crash tests a model does.
The protocol has effects through ports only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values.model import FileEntry, FileListing, TableName, Unit
from spark_jobs.core.values.parameters import ParameterChange, UnitParameters


class Catalog(Protocol):
    """The Hive metastore.

    Each method raises MetastoreError if the metastore does not answer: an error never means "does not exist".
    """

    def database_exists(self, database: str) -> bool: ...
    def table_exists(self, table: TableName) -> bool: ...
    def databases(self) -> list[str]: ...
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
    def parameters(self, facts: TableFacts, units: Sequence[Unit]) -> dict[str, UnitParameters]:
        """Return the parameters of these units, which are not many, by unit key; of those that it has."""

    def set_parameters(self, facts: TableFacts, changes: Sequence[ParameterChange]) -> list[Unit]:
        """Change parameters of these units, which are not many, and nothing else of them.

        No statistics are computed or removed by it. A unit that is not any more what was seen is left alone.

        Returns:
            The units that were left alone.
        """


class Footers(Protocol):
    """Reads the footers, or headers, of data files."""

    def read(self, directories: Sequence[tuple[str, FileListing]], file_format: str) -> list[list[Footer]]:
        """Return the footers of the data files of each directory, in the order of the directories.

        One footer describes all files of a directory that differ only in rows, sizes and figures.

        Raises:
            OSError: a file is missing, has another length, or is not of the format.
            Refusal: a file holds what a rewrite would lose.
        """


@dataclass(frozen=True)
class RewriteRequest:
    """A request to rewrite files.

    Attributes:
        directory: the URI of the directory of the input files.
        inputs: the input files. None of them is empty.
        target: the URI of the target directory. It exists and is empty.
        target_files: the number of files to write.
        target_bytes: the size of the files to write.
        replication: the replication of the files; None for the default of the file system.
        hashed: compare all values by hash, not only the number of rows.
        one_nan: NaNs with other bits are the same value, as for a writer that replaces each of them by Java's.
        options: options of the format's writer.
        sort_columns: the columns to sort by.
        read_tasks: the number of tasks that read. If it is larger than `target_files`, the rows are shuffled. 0: as
            many as files are written.
    """

    directory: str
    inputs: FileListing
    file_format: str
    target: str
    target_files: int
    target_bytes: int
    profile: Profile
    encoding: Encoding = field(default_factory=Encoding)
    replication: int | None = None
    hashed: bool = False
    one_nan: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    sort_columns: Sequence[str] = ()
    read_tasks: int = 0

    @property
    def shuffled(self) -> bool:
        """Tell whether other tasks read than write, so that rows are sent from one to another."""
        return self.read_tasks > self.target_files

    def shares(self) -> list[list[FileEntry]]:
        """Return the input files in their order, in a part for each file to write, of about equal bytes."""
        share, before = max(1, self.inputs.bytes) / self.target_files, 0
        parts: list[list[FileEntry]] = [[] for _ in range(self.target_files)]
        for file in self.inputs.data:
            parts[min(int(before / share), self.target_files - 1)].append(file)
            before += file.length
        return [part for part in parts if part]

    @property
    def files(self) -> list[str]:
        """Return the URIs of the input files."""
        return [f"{self.directory}/{file.name}" for file in self.inputs.data]


@dataclass(frozen=True)
class RewriteResult:
    """The result of a rewrite: the number of rows, and warnings."""

    rows: int
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class Arrow:
    """pyarrow on the executors: its version, which all of them have; or why it is not used."""

    version: str | None = None
    lack: str | None = None


@dataclass(frozen=True)
class JointFiles:
    """What a joint write by Arrow has written: a directory for each request.

    Attributes:
        refused: why the files of a request were not rewritten, by its number. Its directory may hold a part of them.
    """

    directories: Sequence[str]
    refused: Mapping[int, str] = field(default_factory=dict)


class FileRewriter(Protocol):
    """Rewrites the rows of some files into fewer files."""

    @property
    def slots(self) -> int:
        """Return the number of tasks that can run at the same time."""

    def encoding(self, profile: Profile, file_format: str) -> Encoding: ...
    def write(self, request: RewriteRequest) -> RewriteResult: ...
    def write_jointly(self, requests: Sequence[RewriteRequest], staging: str) -> Sequence[str]:
        """Rewrite the files of several directories in one job. All of them are written in the same way.

        The files of each request go into a directory of their own below `staging`, and not into its `target`. A file
        that cannot be read may be left out, so the caller must compare what was written with the footers.

        Args:
            staging: the URI of a directory that exists and is empty.

        Returns:
            The directory of each request. It does not exist if no rows were written.
        """

    def arrow(self) -> Arrow:
        """Ask the executors for pyarrow, once. It is not used any more after a write by it has failed."""

    def write_by_arrow(self, requests: Sequence[RewriteRequest], staging: str) -> JointFiles:
        """Rewrite the files of several directories by pyarrow, like `write_jointly`. `arrow` has told its version.

        The names of the files end with `.txt`.
        """

    def copy(self, directory: str, files: FileListing, target: str) -> Mapping[str, str]:
        """Copy files byte by byte into a directory that exists, and is never created again. Raise LakekeeperError.

        Each attempt of a task writes a file of its own. So the directory may hold more files than copies, and a late
        attempt changes none of them.

        Returns:
            The URI of the copy of each file, by the name of the file.
        """

    def differing(self, directory: str, copies: Mapping[str, str]) -> Sequence[str]:
        """Return the names of the files of which the copies have other bytes.

        Args:
            copies: their URIs, by the names of the files.
        """

    def same_rows(self, request: RewriteRequest, written: Sequence[str]) -> bool | None:
        """Compare the rows of the request's files with the rows of other files, by content hash. Nothing is written.

        Returns:
            Whether they are the same; None if Spark cannot read the values.
        """


class Clock(Protocol):
    """Time, and work in the background."""

    def now(self) -> datetime:
        """Return the time of the wall clock. It is used in texts for people and for retention."""

    def monotonic(self) -> float:
        """Return the seconds of a clock that never jumps. Only this clock measures how long a lease is unchanged."""

    def sleep(self, seconds: float) -> None: ...

    def every(self, seconds: float, act: Callable[[], None]) -> Callable[[], None]:
        """Call `act` at this interval in the background until the returned function is called."""


class Pool(Protocol):
    """Processes several items at the same time."""

    def map(self, act: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]: ...


PoolFactory = Callable[[int], AbstractContextManager[Pool]]

"""What the protocol asks of a metastore, of Spark and of time. The port of the file system is `file_system.py`.

In production the adapters stand behind these ports (`adapters/`); the crash tests put a model there. Nothing in the
protocol has an effect in any other way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from spark_jobs.core.eligibility import Storage, TableFacts
from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.model import TableName, Unit


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
    def same_rows(self, request: RewriteRequest, written: Sequence[str]) -> bool | None:
        """Tell whether the request's files and these have the same rows, by content hash; None if Spark cannot read
        the values. Nothing is written."""


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

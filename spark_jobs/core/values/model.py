"""The basic values of the jobs: table names, files, file listings and units."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, Optional

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.printable import shown
from spark_jobs.core.values.garbage import rarely_collected
from spark_jobs.core.values.other_writers import belongs_to_writer, is_flag, is_hidden

#: The name that Hive uses for a NULL partition value, in paths and in the metastore.
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"

#: This many files of a listing are converted into one text.
_PART = 10_000

Spec = tuple[tuple[str, Optional[str]], ...]


@dataclass(frozen=True, order=True)
class TableName:
    """The name of a database and of a table, in lower case as in the Hive metastore."""

    database: str
    table: str

    @classmethod
    def parse(cls, text: str) -> TableName:
        """Parse `db.table`. Raise UsageError for any other text."""
        parts = [part.strip().strip("`").lower() for part in text.split(".")]
        if len(parts) != 2 or not all(parts):
            raise UsageError(f"{shown(text)} is not a table name; write it as DATABASE.TABLE")
        return cls(*parts)

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


class FileEntry(NamedTuple):
    """One file of a directory: name, length in bytes, mtime in ms since the epoch, HDFS file id (None elsewhere).

    It is a tuple, because a directory may have a million files.
    """

    name: str
    length: int
    mtime: int
    file_id: int | None = None

    @property
    def is_flag(self) -> bool:
        """Tell whether the file is a flag (`_SUCCESS`, `DONE`)."""
        return is_flag(self.name, self.length)

    @property
    def belongs_to_writer(self) -> bool:
        """Tell whether the file belongs to a writer (hidden, with content). It is never part of a journaled listing."""
        return belongs_to_writer(self.name, self.length)

    @property
    def is_data(self) -> bool:
        """Tell whether readers read the file. That includes empty outputs of tasks."""
        return not is_hidden(self.name) and not self.is_flag

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "length": self.length, "mtime": self.mtime, "file_id": self.file_id}


@dataclass(frozen=True)
class FileListing:
    """The files of one directory, sorted by name."""

    files: tuple[FileEntry, ...]

    @classmethod
    @rarely_collected()
    def of(cls, files: Iterable[FileEntry]) -> FileListing:
        return cls(tuple(sorted(files, key=itemgetter(0))))

    @classmethod
    @rarely_collected()
    def from_json(cls, rows: Iterable[Mapping[str, Any]]) -> FileListing:
        """Decode a listing. Raise TypeError for any other content."""
        files = [FileEntry(**row) for row in rows]
        for file in files:
            numbers = (file.length, file.mtime, file.file_id or 0)
            if not isinstance(file.name, str) or not all(isinstance(number, int) for number in numbers):
                raise TypeError(f"{file} is not a file of a listing")
        return cls.of(files)

    @rarely_collected()
    def to_json(self) -> list[dict[str, Any]]:
        return [f.to_json() for f in self.files]

    @cached_property
    def data(self) -> tuple[FileEntry, ...]:
        return tuple(f for f in self.files if f.is_data)

    @property
    def bytes(self) -> int:
        return sum(f.length for f in self.data)

    @cached_property
    def fingerprint(self) -> str:
        """Return a hash that changes whenever a file is added, removed, rewritten or appended to."""
        digest = hashlib.sha256(b"[")
        for start in range(0, len(self.files), _PART):
            text = json.dumps(self.files[start : start + _PART])
            digest.update(f"{', ' if start else ''}{text[1:-1]}".encode())
        digest.update(b"]")
        return "sha256:" + digest.hexdigest()

    @rarely_collected()
    def diff(self, now: FileListing) -> ListingDiff:
        """Return the differences from this listing to `now`."""
        before = {f.name: f for f in self.files}
        after = {f.name: f for f in now.files}
        return ListingDiff(
            added=tuple(f for name, f in after.items() if name not in before),
            lost=tuple(f for name, f in before.items() if after.get(name) != f),
        )


@dataclass(frozen=True)
class ListingDiff:
    """The differences of two listings.

    Attributes:
        added: files with new names.
        lost: files that were removed or replaced.
    """

    added: tuple[FileEntry, ...]
    lost: tuple[FileEntry, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.lost)

    def __str__(self) -> str:
        parts = [("added", self.added), ("changed or removed", self.lost)]
        return "; ".join(f"{len(files)} {what} ({files[0].name})" for what, files in parts if files)


@dataclass(frozen=True)
class Unit:
    """A directory that is swapped as a whole: a leaf partition, or the root of a table without partitions.

    `spec` has the partition values in the order of the keys, exactly as in the metastore. None is the default
    partition.
    """

    spec: Spec
    location: str

    @cached_property
    def key(self) -> str:
        return json.dumps(self.spec, ensure_ascii=False)

    def to_json(self) -> dict[str, str | None]:
        return dict(self.spec)

    def __str__(self) -> str:
        if not self.spec:
            return "table"
        return "/".join(f"{key}={DEFAULT_PARTITION if value is None else value}" for key, value in self.spec)


def unit_key(values: Mapping[str, str | None], partition_keys: Iterable[str]) -> str:
    """Return the key of the unit with these partition values."""
    return json.dumps([[key, values.get(key)] for key in partition_keys], ensure_ascii=False)


def parent(uri: str) -> str:
    """Return the directory that contains `uri`."""
    return uri.rstrip("/").rsplit("/", 1)[0]


def name_of(uri: str) -> str:
    """Return the last component of `uri`."""
    return uri.rstrip("/").rsplit("/", 1)[-1]

"""The commit log of a table: the file changes of its finished runs, as numbered snapshots of manifests.

It is modelled on the commit of Apache Paimon. The changes of a run are ADD and DELETE entries in manifests. A snapshot
names a base list (the manifests of earlier runs) and a delta list (those of this run). The log is derived from the
journals, which are the authority: anything that is lost here is derived from them again. The log contains the changes
that Lakekeeper made, and not those of writers, so it never replaces the listing of a directory.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from typing import Any, Callable, TypeVar

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.records.record_files import (
    DECODING_ERRORS,
    built,
    decompressed,
    packed,
    parsed,
    stamped,
    unpacked,
    unstamped,
)
from spark_jobs.core.values.model import FileListing

ADD, DELETE = "ADD", "DELETE"
COMPACT, ROLLBACK, CLEANUP = "compact", "rollback", "cleanup"
KINDS = (COMPACT, ROLLBACK, CLEANUP)

Token = tuple[str, str, str, str]
T = TypeVar("T")


class BrokenLog(LakekeeperError):
    """The commit log is inconsistent or cannot be read. Tables, journals and rollbacks do not depend on it."""


@dataclass(frozen=True)
class Entry:
    """A data file that was added to a unit or removed from it.

    `mtime` is in ms since the epoch. Rows are counted for a unit, so `rows` is usually None.
    """

    kind: str
    unit: str
    file: str
    bytes: int
    mtime: int
    rows: int | None = None

    @property
    def identity(self) -> tuple[str, str, int]:
        """Return unit, name and mtime.

        The name is not enough: Hive gives a new file the name of a removed one (`000000_0`). A rename does not change
        the mtime.
        """
        return self.unit, self.file, self.mtime


@dataclass(frozen=True)
class ManifestMeta:
    """The name of a manifest, its size on disk in bytes, and its number of entries of each kind."""

    name: str
    bytes: int
    added: int
    deleted: int


@dataclass(frozen=True)
class Sizes:
    """A number of data files, and their total size in bytes."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(self.files + other.files, self.bytes + other.bytes)

    @classmethod
    def of(cls, manifest: FileListing) -> Sizes:
        return cls(len(manifest.data), manifest.bytes)

    @classmethod
    def total(cls, parts: Iterable[Sizes]) -> Sizes:
        return sum(parts, cls())


@dataclass(frozen=True)
class UnitChange:
    """One unit of a change.

    `old` is the path of its originals in the run's directory. It distinguishes the swaps of a run, because no directory
    name is ever used twice. `seconds` is the time that its rewrite took, if it is known.
    """

    unit: str
    old: str
    at: datetime
    before: Sizes
    after: Sizes
    rows: int
    seconds: float | None = None


@dataclass(frozen=True)
class Snapshot:
    """One published change.

    Attributes:
        uuid: identifies the attempt that has published this snapshot number.
        committed_at: the time in the journal.
        base, delta: the names of the manifest lists.
        survey: the name of the file with the newest figures of listings.
        seconds: how long the compaction took; None if it is not known, or of another kind of change.
        total_rows: the rows of all units of which the log has seen a change, each as of its last one; None if it could
            not be read. Rows of other units, and those that a writer has added since, are not known.
        total_row_units: the number of these units.
        base_rows: the same as `total_rows`, before the change.
        row_counts: the name of the file with the rows of each of these units (`row_counts`).
    """

    id: int
    uuid: str
    kind: str
    run_id: str
    table: str
    location: str
    who: str | None
    committed_at: datetime
    logged_at: datetime
    schema_hash: str | None
    base: str
    delta: str
    units: int
    rows: int
    before: Sizes
    after: Sizes
    survey: str | None = None
    seconds: float | None = None
    total_rows: int | None = None
    total_row_units: int | None = None
    base_rows: int | None = None
    row_counts: str | None = None

    def encode(self) -> bytes:
        times = {name: _stamp(getattr(self, name)) for name in _TIMES}
        return json.dumps(stamped({**asdict(self), **times}), indent=1).encode()

    @classmethod
    def decode(cls, data: bytes, name: str) -> Snapshot:
        return readable(name, lambda: _snapshot(unstamped(parsed(data), name)))


_TIMES = ("committed_at", "logged_at")
_SIZES = ("before", "after")


def _snapshot(body: Mapping[str, Any]) -> Snapshot:
    known = {field.name: body[field.name] for field in fields(Snapshot)}
    times = {name: datetime.fromisoformat(known[name]) for name in _TIMES}
    sizes = {name: built(Sizes, known[name]) for name in _SIZES}
    return built(Snapshot, {**known, **times, **sizes})


@dataclass(frozen=True)
class ManifestList:
    """The manifests of a base list or of a delta list, in order.

    Attributes:
        units: of a delta list, the changes of each unit.
    """

    manifests: tuple[ManifestMeta, ...] = ()
    units: tuple[UnitChange, ...] = ()

    def encode(self) -> bytes:
        """Return the content of a file."""
        units = [{**asdict(unit), "at": _stamp(unit.at)} for unit in self.units]
        return packed({"manifests": [asdict(meta) for meta in self.manifests], "units": units})

    @classmethod
    def decode(cls, data: bytes, name: str) -> ManifestList:
        return readable(name, lambda: _manifest_list(unpacked(data, name)))


def _manifest_list(body: Mapping[str, Any]) -> ManifestList:
    metas = tuple(built(ManifestMeta, meta) for meta in body["manifests"])
    return ManifestList(metas, tuple(_read_unit(unit) for unit in body["units"]))


def _read_unit(body: Mapping[str, Any]) -> UnitChange:
    sizes = {name: built(Sizes, body[name]) for name in ("before", "after")}
    at = datetime.fromisoformat(body["at"])
    return built(UnitChange, {**body, **sizes, "at": at})


def encode_entries(entries: Iterable[Entry]) -> bytes:
    """Return gzip-compressed JSON, with one entry per line."""
    # A table may have 65,000 entries: the fields of an entry have no fields of their own that `asdict` would copy.
    return gzip.compress("".join(json.dumps(vars(entry)) + "\n" for entry in entries).encode(), 6, mtime=0)


def decode_entries(data: bytes, name: str) -> list[Entry]:
    return readable(name, lambda: [built(Entry, parsed(line)) for line in decompressed(data).splitlines()])


def merge(entries: Iterable[Entry], full: bool = False) -> list[Entry]:
    """Return the net effect of these entries, which are in order.

    An ADD and a DELETE of one file cancel each other, in either order. A second DELETE has no effect. A DELETE without
    an ADD is of a file that existed before the first of these entries. A `full` merge drops it.

    Raises:
        BrokenLog: a file is added twice without a DELETE in between.
    """
    unmatched: dict[tuple[str, str, int], Entry] = {}
    for entry in entries:
        before = unmatched.get(entry.identity)
        if before is None:
            unmatched[entry.identity] = entry
        elif before.kind != entry.kind:
            del unmatched[entry.identity]
        elif entry.kind == ADD:
            raise BrokenLog(f"the commit log adds {entry.file} of unit {entry.unit} twice")
    return [entry for entry in unmatched.values() if not (full and entry.kind == DELETE)]


def readable(name: str, read: Callable[[], T]) -> T:
    """Return the result of `read`. Raise BrokenLog if the file `name` is incomplete, and OtherVersion."""
    try:
        return read()
    except DECODING_ERRORS as error:
        raise BrokenLog(f"{name} of the commit log cannot be read ({error})") from None


def _stamp(instant: datetime) -> str:
    return instant.astimezone(timezone.utc).isoformat()

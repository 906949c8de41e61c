"""The commit log of a table: what its finished runs did to its files, as numbered snapshots of manifests.

Modelled on Apache Paimon's commit: a run's changes are ADD and DELETE entries in manifests; a snapshot names a base
list (the manifests that stood before) and a delta list (those of this run). The log is a projection: the journals are
the authority, and whatever is lost here is derived from them again. It knows what Lakekeeper did and not what writers
did, so it never stands for a manifest of a directory.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from typing import Any, Callable, TypeVar

from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.model import FileListing

SCHEMA_VERSION = 1
ADD, DELETE = "ADD", "DELETE"
COMPACT, ROLLBACK, CLEANUP = "compact", "rollback", "cleanup"
KINDS = (COMPACT, ROLLBACK, CLEANUP)

Token = tuple[str, str, str, str]
T = TypeVar("T")


class BrokenLog(LakekeeperError):
    """The commit log contradicts itself or cannot be read; tables, journals and rollbacks do not depend on it."""


@dataclass(frozen=True)
class Entry:
    """A data file that came to a unit or left it; mtime in ms. Rows are known of a unit rather than of a file."""

    kind: str
    unit: str
    file: str
    bytes: int
    mtime: int
    rows: int | None = None

    @property
    def identity(self) -> tuple[str, str, int]:
        """Hive gives a new file the name of one that left (`000000_0`); a rename never changes an mtime."""
        return self.unit, self.file, self.mtime


@dataclass(frozen=True)
class ManifestMeta:
    """What a list says of a manifest: its name, its size on disk, and how many entries of each kind it holds."""

    name: str
    bytes: int
    added: int
    deleted: int


@dataclass(frozen=True)
class Sizes:
    """Data files and their bytes."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(self.files + other.files, self.bytes + other.bytes)

    def __sub__(self, other: Sizes) -> Sizes:
        return Sizes(self.files - other.files, self.bytes - other.bytes)

    @classmethod
    def of(cls, manifest: FileListing) -> Sizes:
        return cls(len(manifest.data), manifest.bytes)

    @classmethod
    def total(cls, parts: Iterable[Sizes]) -> Sizes:
        return sum(parts, cls())


@dataclass(frozen=True)
class UnitChange:
    """One unit of a change. `old`, the place of its originals in the run's folder, tells the swaps of a run apart:
    no folder name is ever used twice."""

    unit: str
    old: str
    at: datetime
    before: Sizes
    after: Sizes
    rows: int


@dataclass(frozen=True)
class Snapshot:
    """One published change; `uuid` tells whose attempt took the number.

    `base` and `delta` name the manifest lists, `survey` the newest figures of the listing. `committed_at` is the
    journal's time, and `totals` what the table gained in files and bytes since the log began.
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
    totals: Sizes
    survey: str | None = None

    def encode(self) -> bytes:
        times = {name: _stamp(getattr(self, name)) for name in _TIMES}
        return json.dumps({"schema_version": SCHEMA_VERSION, **asdict(self), **times}, indent=1).encode()

    @classmethod
    def decode(cls, data: bytes, name: str) -> Snapshot:
        return readable(name, lambda: _snapshot(json.loads(data)))


_TIMES = ("committed_at", "logged_at")
_SIZES = ("before", "after", "totals")


def _snapshot(body: Mapping[str, Any]) -> Snapshot:
    _check_version(body)
    known = {field.name: body[field.name] for field in fields(Snapshot)}
    times = {name: datetime.fromisoformat(known[name]) for name in _TIMES}
    return Snapshot(**{**known, **times, **{name: Sizes(**known[name]) for name in _SIZES}})


@dataclass(frozen=True)
class ManifestList:
    """The manifests of a base or of a delta, in order; a delta also says what became of each unit."""

    manifests: tuple[ManifestMeta, ...] = ()
    units: tuple[UnitChange, ...] = ()

    def encode(self) -> bytes:
        units = [{**asdict(unit), "at": _stamp(unit.at)} for unit in self.units]
        return packed({"manifests": [asdict(meta) for meta in self.manifests], "units": units})

    @classmethod
    def decode(cls, data: bytes, name: str) -> ManifestList:
        return readable(name, lambda: _manifest_list(unpacked(data)))


def _manifest_list(body: Mapping[str, Any]) -> ManifestList:
    metas = tuple(ManifestMeta(**meta) for meta in body["manifests"])
    return ManifestList(metas, tuple(_read_unit(unit) for unit in body["units"]))


def _read_unit(body: Mapping[str, Any]) -> UnitChange:
    sizes = {name: Sizes(**body[name]) for name in ("before", "after")}
    return UnitChange(**{**body, **sizes, "at": datetime.fromisoformat(body["at"])})


def encode_entries(entries: Iterable[Entry]) -> bytes:
    """Gzip'd JSON, one entry a line."""
    return gzip.compress("".join(json.dumps(asdict(entry)) + "\n" for entry in entries).encode(), mtime=0)


def decode_entries(data: bytes, name: str) -> list[Entry]:
    return readable(name, lambda: [Entry(**json.loads(line)) for line in gzip.decompress(data).splitlines()])


def merge(entries: Iterable[Entry], full: bool = False) -> list[Entry]:
    """What these entries, in order, add up to: an ADD and a DELETE of one file cancel, whichever came first.

    A second ADD of a file that has not left raises BrokenLog; a second DELETE says nothing new. A DELETE that is left
    over is of a file that stood before these entries begin; after a `full` merge none is left.
    """
    standing: dict[tuple[str, str, int], Entry] = {}
    for entry in entries:
        before = standing.get(entry.identity)
        if before is None:
            standing[entry.identity] = entry
        elif before.kind != entry.kind:
            del standing[entry.identity]
        elif entry.kind == ADD:
            raise BrokenLog(f"the commit log adds {entry.file} of unit {entry.unit} twice")
    return [entry for entry in standing.values() if not (full and entry.kind == DELETE)]


def packed(body: Mapping[str, Any]) -> bytes:
    return gzip.compress(json.dumps({"schema_version": SCHEMA_VERSION, **body}).encode(), mtime=0)


def unpacked(data: bytes) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(gzip.decompress(data))
    _check_version(body)
    return body


def readable(name: str, read: Callable[[], T]) -> T:
    """What `read` makes of a file; BrokenLog where the file is torn or of another version."""
    try:
        return read()
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BrokenLog(f"{name} of the commit log cannot be read ({error})") from None


def _check_version(body: Mapping[str, Any]) -> None:
    if body["schema_version"] != SCHEMA_VERSION:
        raise ValueError(f"it has schema_version {body['schema_version']}")


def _stamp(instant: datetime) -> str:
    return instant.astimezone(timezone.utc).isoformat()

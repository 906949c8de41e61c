"""The figures of earlier file listings, so that an analysis does not list unchanged units again.

They are only used to decide whether a unit needs a compaction. They never replace a file listing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from spark_jobs.core.commit_log.snapshots import packed, readable, unpacked
from spark_jobs.core.health import Health, Thresholds, reassess, settled
from spark_jobs.core.model import FileListing, Unit

#: The time by which a directory must be older than its listing, in ms. The clocks of the driver and of the file system
#: differ, and a file that was added during the listing may not be in it.
QUIET_MS = 3_600_000


@dataclass(frozen=True)
class CachedUnit:
    """The figures of one unit from a listing. Times are in ms since the epoch, sizes in bytes.

    Attributes:
        mtime: the directory's modification time, from the listing of its parent. It is read before the unit is listed:
            a file that is added in between makes the directory newer than this time.
        closed: no file of the unit was open for writing, as far as the file system reports it. A file that is still
            written grows without a change of its directory.
        settled_files: how many files a compaction would leave, if these are as many as there are; 0 if that is not
            known. The files are small, but differ in schema.
        settled_for: the options with which this is so.
    """

    unit: str
    location: str
    mtime: int
    listed_at: int
    closed: bool
    files: int
    bytes: int
    avg_file_size: int
    median_file_size: int
    fingerprint: str
    settled_files: int = 0
    settled_for: str = ""

    @classmethod
    def of(
        cls, unit: Unit, mtime: int, listed_at: int, closed: bool, health: Health, files: FileListing
    ) -> CachedUnit:
        return cls(
            unit.key,
            unit.location,
            mtime,
            listed_at,
            closed,
            health.files,
            health.bytes,
            health.avg_file_size,
            health.median_file_size,
            files.fingerprint(),
        )

    def health(self, thresholds: Thresholds, readers: str | None = None) -> Health:
        """Return the health by these thresholds, which may have changed since the listing."""
        found = reassess(self.files, self.bytes, self.avg_file_size, self.median_file_size, thresholds)
        known = self.settled_files and self.settled_for == _settled_for(thresholds, readers)
        return settled(found, self.settled_files) if known else found

    def settle(self, target_files: int, thresholds: Thresholds, readers: str | None) -> CachedUnit:
        """Return the figures of files that a compaction cannot make fewer, as their footers have shown."""
        return replace(self, settled_files=target_files, settled_for=_settled_for(thresholds, readers))


def _settled_for(thresholds: Thresholds, readers: str | None) -> str:
    return f"{thresholds.target} {readers or ''}"


Cache = Mapping[str, CachedUnit]


def usable(cached: CachedUnit, dir_mtime_now: int) -> bool:
    """Tell whether the directory is unchanged since the listing, and had not changed for an hour before it."""
    return cached.closed and cached.mtime == dir_mtime_now and cached.listed_at - cached.mtime > QUIET_MS


def find(cache: Cache, unit: Unit, dir_mtime_now: int) -> CachedUnit | None:
    """Return the figures of a unit if they are still valid, else None. A unit with a new location is another unit."""
    cached = cache.get(unit.key)
    if cached is None or cached.location != unit.location or not usable(cached, dir_mtime_now):
        return None
    return cached


def merged(before: Cache, seen: Iterable[CachedUnit], units: Collection[str]) -> dict[str, CachedUnit]:
    """Return the cache with the figures in `seen`, without the units that the table does not have any more."""
    now = {**before, **{cached.unit: cached for cached in seen}}
    return {key: cached for key, cached in now.items() if key in units}


def encode(cache: Cache) -> bytes:
    return packed({"units": [asdict(cached) for cached in cache.values()]})


def decode(data: bytes, name: str) -> dict[str, CachedUnit]:
    """Decode the content of the file `name`. Raise BrokenLog if it is incomplete or of another version."""
    rows = readable(name, lambda: [CachedUnit(**row) for row in unpacked(data)["units"]])
    return {cached.unit: cached for cached in rows}

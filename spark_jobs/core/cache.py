"""The figures of earlier listings, so that an analysis need not list again what nobody touched since.

They serve the decision whether a unit is worth compacting, and nothing else: never a substitute for a manifest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass

from spark_jobs.core.commit_log import packed, readable, unpacked
from spark_jobs.core.health import Health, Thresholds, reassess
from spark_jobs.core.model import FileListing, Unit

#: How much older than its listing a directory must be, in ms: the clocks of the driver and of the file system differ,
#: and a file that came in the very moment of the listing may have missed it.
QUIET_MS = 3_600_000


@dataclass(frozen=True)
class CachedUnit:
    """One unit as a listing saw it; times in ms since the epoch, sizes in bytes.

    `mtime` is the directory's as its parent's listing gives it, read before the unit was listed: what comes to the unit
    in between makes it newer. `closed` says that no writer held one of its files open, as far as the file system tells:
    a file that is still written grows without a trace in its directory.
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

    def health(self, thresholds: Thresholds) -> Health:
        """What the figures mean today: thresholds may have changed since the listing."""
        return reassess(self.files, self.bytes, self.avg_file_size, self.median_file_size, thresholds)


Cache = Mapping[str, CachedUnit]


def usable(cached: CachedUnit, dir_mtime_now: int) -> bool:
    """Is the directory the one that was listed, untouched then for more than an hour and since?"""
    return cached.closed and cached.mtime == dir_mtime_now and cached.listed_at - cached.mtime > QUIET_MS


def find(cache: Cache, unit: Unit, dir_mtime_now: int) -> CachedUnit | None:
    """The figures of a unit, where they hold still; a unit that was moved elsewhere is another one."""
    cached = cache.get(unit.key)
    if cached is None or cached.location != unit.location or not usable(cached, dir_mtime_now):
        return None
    return cached


def merged(before: Cache, seen: Iterable[CachedUnit], units: Collection[str]) -> dict[str, CachedUnit]:
    """The cache after a look at some of the table's units; of those that it has no more, nothing is kept."""
    now = {**before, **{cached.unit: cached for cached in seen}}
    return {key: cached for key, cached in now.items() if key in units}


def encode(cache: Cache) -> bytes:
    return packed({"units": [asdict(cached) for cached in cache.values()]})


def decode(data: bytes, name: str) -> dict[str, CachedUnit]:
    """Raises BrokenLog for a file that is torn or of another version."""
    rows = readable(name, lambda: [CachedUnit(**row) for row in unpacked(data)["units"]])
    return {cached.unit: cached for cached in rows}

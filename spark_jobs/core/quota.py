"""HDFS quotas: how much a compaction adds to a directory, and what is missing for it.

A name quota counts files and directories, a space quota bytes times replication; an open file is charged a whole block
(HDFS Quotas Guide of Apache Hadoop). The originals stay until a cleanup, so that what is written comes on top.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from spark_jobs.core.health import Health

#: A unit's directory and the ones above it stand in three places: new, old, undone.
_PLACES = 3
#: While a task writes, its file stands in two directories of its own; the committer has two more.
_STAGED_PER_FILE, _STAGING = 2, 4
#: Lease, records and commit log of a compaction, and of the rollback that it must leave room for.
_RUN_NAMES, _OPEN_RECORDS = 40, 1


@dataclass(frozen=True)
class Quota:
    """What a directory may hold, and what it holds: names (files and directories) and bytes; None: as much as it
    likes."""

    folder: str
    names: int | None
    names_used: int
    space: int | None
    space_used: int


@dataclass(frozen=True)
class Need:
    """So many names, so many bytes on all replicas for good, and so many at worst while files are open."""

    names: int = 0
    space: int = 0
    peak: int = 0

    @classmethod
    def of(cls, health: Health, depth: int, replication: int, block_size: int) -> Need:
        """Of one unit, `depth` directories below the home's parent; `block_size` in bytes."""
        files = max(health.target_files, 1)
        blocks = files * math.ceil(health.bytes / files / block_size) + _OPEN_RECORDS
        names = _PLACES * (depth + 1) + files * (1 + _STAGED_PER_FILE) + _STAGING
        return cls(names, health.bytes * replication, blocks * block_size * replication)

    def __add__(self, other: Need) -> Need:
        return Need(self.names + other.names, self.space + other.space, max(self.peak, other.peak))


#: What a run takes besides its units.
RUN = Need(names=_RUN_NAMES)


def shortfall(quota: Quota, claimed: Need, need: Need) -> str | None:
    """Why `need` has no room beside what others have claimed already, with what is missing; None if it has."""
    names, space = claimed.names + need.names, claimed.space + max(need.space, need.peak)
    for what, limit, used, wanted, unit in (
        ("name", quota.names, quota.names_used, names, "files and directories"),
        ("space", quota.space, quota.space_used, space, "bytes on all replicas"),
    ):
        if limit is not None and used + wanted > limit:
            return (
                f"the {what} quota of {quota.folder} is {limit} {unit}, {used} are used, and {wanted} would be written:"
                f" {used + wanted - limit} are missing; raise it, or clean up older originals"
            )
    return None

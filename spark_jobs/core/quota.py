"""HDFS quotas: how much a compaction adds to a directory, and what is missing for it.

A name quota counts files and directories, a space quota bytes times replication; an open file is charged a whole block
(HDFS Quotas Guide of Apache Hadoop). The originals stay until a cleanup, so that what is written comes on top.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from spark_jobs.core.health import Health

#: While a task writes, its file stands in two directories of its own; the committer has two more.
_STAGED_PER_FILE, _STAGING = 2, 4
#: Lease, records and commit log of a compaction, and of the rollback that it must leave room for.
_RUN_NAMES, _OPEN_RECORDS = 40, 1


@dataclass(frozen=True)
class Quota:
    """What a directory may hold, and what it holds: names (files and directories) and bytes on all replicas; None: as
    much as it likes."""

    folder: str
    names: int | None
    names_used: int
    space: int | None
    space_used: int


@dataclass(frozen=True)
class Need:
    """Names, and bytes on all replicas, that stay until a cleanup; and the most that is there beside them while a unit
    is written."""

    names: int = 0
    space: int = 0
    names_meanwhile: int = 0
    space_meanwhile: int = 0

    @classmethod
    def of(cls, health: Health, depth: int, replication: int, block_size: int) -> Need:
        """Of one unit, `depth` directories below the home's parent; `block_size` in bytes."""
        files = max(health.target_files, 1)
        blocks = files * math.ceil(health.bytes / files / block_size) + _OPEN_RECORDS
        return cls(
            # The new directory and those above it, where the originals go; a marker.
            names=files + depth + 2,
            space=health.bytes * replication,
            names_meanwhile=files * _STAGED_PER_FILE + 2 * depth + _STAGING,
            space_meanwhile=max(blocks * block_size - health.bytes, 0) * replication,
        )

    def __add__(self, other: Need) -> Need:
        """Of two units that are written one after the other."""
        return Need(
            self.names + other.names,
            self.space + other.space,
            max(self.names_meanwhile, other.names_meanwhile),
            max(self.space_meanwhile, other.space_meanwhile),
        )

    def at_worst(self, at_once: int) -> tuple[int, int]:
        """Names and bytes while so many units are written side by side."""
        # guard: quota_peak
        return self.names + at_once * self.names_meanwhile, self.space + at_once * self.space_meanwhile


#: What a run takes besides its units.
RUN = Need(names=_RUN_NAMES)


def shortfall(quota: Quota, need: Need, at_once: int) -> str | None:
    """Why `need` has no room, `at_once` units being written side by side, with what is missing; None if it has."""
    names, space = need.at_worst(at_once)
    for what, limit, used, wanted, unit in (
        ("name", quota.names, quota.names_used, names, "files and directories"),
        ("space", quota.space, quota.space_used, space, "bytes on all replicas"),
    ):
        if limit is not None and used + wanted > limit:  # guard: quota_room
            return (
                f"the {what} quota of {quota.folder} is {limit} {unit}, {used} are used, and at worst {wanted} more are"
                f" needed at once: {used + wanted - limit} are missing; raise it, or clean up older originals"
            )
    return None

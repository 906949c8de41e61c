"""The check of HDFS quotas: what a compaction adds to a directory, and what is missing.

A name quota counts files and directories. A space quota counts bytes times replication, and a whole block for an open
file (HDFS Quotas Guide of Apache Hadoop). The originals are kept until a cleanup, so all written files are additional.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from spark_jobs.core.rules.health import Health

#: Additional names while a unit is written: two directories for each file, and those of the committer.
_STAGED_PER_FILE, _STAGING = 2, 4
#: Names of a run: lease, records and commit log of the compaction, and of a later rollback, which must not fail.
_RUN_NAMES, _OPEN_RECORDS = 40, 1


@dataclass(frozen=True)
class Quota:
    """The quotas of a directory, and how much of them is used.

    Attributes:
        names: the limit of files and directories; None for no limit.
        space: the limit of bytes on all replicas; None for no limit.
    """

    directory: str
    names: int | None
    names_used: int
    space: int | None
    space_used: int


@dataclass(frozen=True)
class Need:
    """The names, and the bytes on all replicas, that a compaction needs.

    Attributes:
        names, space: what is kept until a cleanup.
        names_meanwhile, space_meanwhile: the maximum that is needed in addition while a unit is written.
    """

    names: int = 0
    space: int = 0
    names_meanwhile: int = 0
    space_meanwhile: int = 0

    @classmethod
    def of(cls, health: Health, depth: int, replication: int, block_size: int) -> Need:
        """Return what one unit needs.

        Args:
            depth: the number of directories from the parent of the home down to the unit.
            block_size: in bytes.
        """
        files = max(health.target_files, 1)
        blocks = files * math.ceil(health.bytes / files / block_size) + _OPEN_RECORDS
        return cls(
            # The new files, the new directory, the directories above the originals in the run, and a flag file.
            names=files + depth + 2,
            space=health.bytes * replication,
            names_meanwhile=files * _STAGED_PER_FILE + 2 * depth + _STAGING,
            space_meanwhile=max(blocks * block_size - health.bytes, 0) * replication,
        )

    def __add__(self, other: Need) -> Need:
        """Return what two units need that are written one after the other."""
        return Need(
            self.names + other.names,
            self.space + other.space,
            max(self.names_meanwhile, other.names_meanwhile),
            max(self.space_meanwhile, other.space_meanwhile),
        )

    def at_worst(self, at_once: int) -> tuple[int, int]:
        """Return the maximum of names and bytes while `at_once` units are written in parallel."""
        # guard: quota_peak
        return self.names + at_once * self.names_meanwhile, self.space + at_once * self.space_meanwhile


#: What a run needs in addition to its units.
RUN = Need(names=_RUN_NAMES)


def shortfall(quota: Quota, need: Need, at_once: int) -> str | None:
    """Return why the quota is too small for `need`, and by how much; None if it is enough.

    Args:
        at_once: the number of units that are written in parallel.
    """
    names, space = need.at_worst(at_once)
    for what, limit, used, wanted, unit in (
        ("name", quota.names, quota.names_used, names, "files and directories"),
        ("space", quota.space, quota.space_used, space, "bytes on all replicas"),
    ):
        if limit is not None and used + wanted > limit:  # guard: quota_room
            return (
                f"the {what} quota of {quota.directory} is {limit} {unit}, {used} are used, and at worst {wanted} more"
                f" are needed at once: {used + wanted - limit} are missing; raise it, or clean up older originals"
            )
    return None

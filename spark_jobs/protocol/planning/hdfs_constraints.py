"""What HDFS ties to a directory besides its files: encryption zones, snapshots and quotas. Checked before any write.

The root of an encryption zone would be replaced by a directory in plain text; a quota and the permission for snapshots
would stay with the originals, and where there are snapshots HDFS refuses the rename.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from spark_jobs.core.errors import LakekeeperError, Refusal
from spark_jobs.core.layout import Home, is_below
from spark_jobs.core.plan import Inputs, TablePlan, UnitPlan
from spark_jobs.core.quota import RUN, Need, Quota, shortfall
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.services import Services

#: Of files that cannot be read: the compaction says why.
_REPLICATION = 3


def check_hdfs_constraints(services: Services, table: TablePlan) -> list[UnitPlan]:
    """Return the same units; those are refused that cannot be swapped, or for which a quota leaves too little."""
    constraints = HdfsConstraints(services, table)
    with services.pool(table.options.parallelism) as pool:
        units = list(pool.map(constraints.check_unit, table.units))
    return constraints.check_quotas(units)


class HdfsConstraints:
    """Looks at the directories of one table's units and at those above them."""

    def __init__(self, services: Services, table: TablePlan) -> None:
        self._fs = services.fs
        self._options = table.options
        self._root = table.facts.storage.location
        self._zone = lru_cache(maxsize=None)(services.fs.encryption_zone)
        self._quotas = lru_cache(maxsize=None)(self._look_for_quotas)

    def check_unit(self, unit: UnitPlan) -> UnitPlan:
        """Never raises. A unit of which the NameNode does not tell stays as it is, and is reported as failed."""
        if unit.due is None:
            return unit
        try:
            self._check(unit.unit.location)
        except Refusal as refusal:
            return unit.refused(refusal)
        except FileNotFoundError:
            return unit  # dropped meanwhile: the compaction finds out
        except (OSError, LakekeeperError) as error:
            return UnitPlan.failed(unit.unit, str(error))
        return unit

    def _check(self, location: str) -> None:
        zone, around = self._fs.encryption_zone(location), self._zone(self._home(location).base)
        if zone != around:  # guard: encryption_zone_root
            raise Refusal(
                RefusalCode.ENCRYPTION_ZONE_ROOT,
                f"{location} lies in {_named(zone)}, the folder above it in {_named(around)}: its originals could not"
                " be kept there",
            )
        if self._fs.snapshottable(location):  # guard: snapshottable_root
            raise Refusal(
                RefusalCode.SNAPSHOTTABLE,
                f"snapshots are allowed on {location} itself; they would not move along",
            )
        if self._fs.quota(location) is not None:  # guard: quota_root
            raise Refusal(
                RefusalCode.QUOTA, f"{location} has a quota of its own, which would stay with the originals"
            )

    def _home(self, location: str) -> Home:
        return Home.of(self._root, location)

    def check_quotas(self, units: Sequence[UnitPlan]) -> list[UnitPlan]:
        """One after the other, for all of them write below the same quotas."""
        claimed: dict[str, Need] = {}
        return [self._check_quota(unit, unit.due, claimed) if unit.due else unit for unit in units]

    def _check_quota(self, unit: UnitPlan, inputs: Inputs, claimed: dict[str, Need]) -> UnitPlan:
        location = unit.unit.location
        quotas = self._quotas(self._home(location).base)
        limited = any(quota.space is not None for quota in quotas)
        own = self._need(location, inputs, limited) if quotas else Need()
        # guard: quota_shared
        needs = {quota.folder: claimed.get(quota.folder, RUN) + own for quota in quotas}
        for quota in quotas:
            lack = shortfall(quota, needs[quota.folder], self._options.parallelism)
            if lack:
                return unit.refused(Refusal(RefusalCode.QUOTA, lack))
        claimed.update(needs)
        return unit

    def _need(self, location: str, inputs: Inputs, space: bool) -> Need:
        depth = len(self._home(location).relative(location).split("/"))
        replication = self._replication(location, inputs) if space else 0
        return Need.of(inputs.health, depth, replication, self._options.thresholds().block_size)

    def _replication(self, location: str, inputs: Inputs) -> int:
        try:
            found = self._fs.attributes(f"{location}/{inputs.files.data[0].name}")
        except OSError:
            return _REPLICATION
        return found.replication or 1

    def _look_for_quotas(self, base: str) -> list[Quota]:
        """Of the folder that a home lies in, if it is the table's own, and of those that were named.

        Not of all above: where there is no quota, HDFS counts all files below to answer. What is not known here HDFS
        refuses itself, when it is written, and nothing is lost.
        """
        named = [self._fs.qualify(folder) for folder in self._options.quota_folders]
        folders = [folder for folder in named if is_below(base, folder) or base == folder]
        found = [
            self._quota(folder)
            for folder in dict.fromkeys([*([base] if base == self._root else []), *folders])
        ]
        return [quota for quota in found if quota is not None]

    def _quota(self, folder: str) -> Quota | None:
        try:
            return self._fs.quota(folder)
        except OSError:
            return None


def _named(zone: str | None) -> str:
    return f"the encryption zone {zone}" if zone else "no encryption zone"

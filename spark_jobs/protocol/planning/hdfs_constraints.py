"""Checks encryption zones, snapshots and quotas, before anything is written.

The root of an encryption zone would be replaced by a directory that is not encrypted. A quota, and the permission for
snapshots, would move away with the originals. HDFS refuses to rename a directory that has snapshots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning.decisions import Fail
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.rules.health import Health
from spark_jobs.core.rules.quota import RUN, Need, Quota, shortfall
from spark_jobs.core.values.layout import Home, is_below
from spark_jobs.protocol.services import Services

#: The replication that is assumed for files that cannot be read. The compaction reports why they cannot.
_REPLICATION = 3


def check_hdfs_constraints(services: Services, table: TablePlan) -> TablePlan:
    """Return the plan. A unit that cannot be swapped, or for which a quota is too small, is refused."""
    constraints = HdfsConstraints(services, table)
    with services.pool(table.options.parallelism) as pool:
        units = list(pool.map(constraints.check_unit, table.units))
    units = constraints.check_quotas(units)
    return replace(table, units=tuple(units), pressure=constraints.pressure(units))


class HdfsConstraints:
    """The checks of the directories of one table's units, and of those above them."""

    def __init__(self, services: Services, table: TablePlan) -> None:
        self._fs = services.fs
        self._options = table.options
        self._root = table.facts.storage.location
        self._zone = lru_cache(maxsize=None)(services.fs.encryption_zone)
        self._quotas = lru_cache(maxsize=None)(self._look_for_quotas)

    def check_unit(self, unit: UnitPlan) -> UnitPlan:
        """Return the unit, refused if it cannot be swapped, and failed if the NameNode does not answer.

        A unit with a verdict of an earlier analysis was checked then.
        """
        if unit.inputs_to_rewrite is None:
            return unit
        try:
            self._check(unit.unit.location)
        except Refusal as refusal:
            return unit.refused(refusal)
        except FileNotFoundError:
            return unit  # The partition was dropped since the listing: the compaction reports it.
        except (OSError, LakekeeperError) as error:
            return UnitPlan(unit.unit, Fail(str(error)))
        return unit

    def _check(self, location: str) -> None:
        zone, around = self._fs.encryption_zone(location), self._zone(self._home(location).base)
        if zone != around:  # guard: encryption_zone_root
            raise Refusal(
                RefusalCode.ENCRYPTION_ZONE_ROOT,
                f"{location} is in {_named(zone)}, and the directory above it in {_named(around)}: its originals could"
                " not be kept there",
            )
        if self._fs.snapshottable(location):  # guard: snapshottable_root
            raise Refusal(
                RefusalCode.SNAPSHOTTABLE,
                f"{location} itself is snapshottable; HDFS does not rename a directory that has snapshots",
            )
        if self._fs.quota(location) is not None:  # guard: quota_root
            raise Refusal(
                RefusalCode.QUOTA, f"{location} itself has a quota, which would move away with the originals"
            )

    def _home(self, location: str) -> Home:
        return Home.of(self._root, location)

    def check_quotas(self, units: Sequence[UnitPlan]) -> list[UnitPlan]:
        """Check the units in sequence, because all of them use the same quotas."""
        claimed: dict[str, Need] = {}
        return [
            self._check_quota(unit, unit.health, claimed) if unit.health and unit.to_rewrite else unit
            for unit in units
        ]

    def pressure(self, units: Sequence[UnitPlan]) -> float:
        """Return the used part of the fullest namespace quota above the units that are rewritten; 0 without one."""
        bases = {self._home(unit.unit.location).base for unit in units if unit.to_rewrite}
        quotas = [quota for base in bases for quota in self._quotas(base)]
        return max((min(1.0, quota.names_used / quota.names) for quota in quotas if quota.names), default=0.0)

    def _check_quota(self, unit: UnitPlan, health: Health, claimed: dict[str, Need]) -> UnitPlan:
        quotas = self._quotas(self._home(unit.unit.location).base)
        limited = any(quota.space is not None for quota in quotas)
        own = self._need(unit, health, limited) if quotas else Need()
        # guard: quota_shared
        needs = {quota.directory: claimed.get(quota.directory, RUN) + own for quota in quotas}
        for quota in quotas:
            lack = shortfall(quota, needs[quota.directory], self._options.parallelism)
            if lack:
                return unit.refused(Refusal(RefusalCode.QUOTA, lack))
        claimed.update(needs)
        return unit

    def _need(self, unit: UnitPlan, health: Health, space: bool) -> Need:
        location = unit.unit.location
        depth = len(self._home(location).relative(location).split("/"))
        replication = self._replication(unit) if space else 0
        return Need.of(health, depth, replication, self._options.thresholds().block_size)

    def _replication(self, unit: UnitPlan) -> int:
        """Return the replication of the unit's first file, as the listing has it."""
        if unit.replication is not None:
            return unit.replication or 1
        if unit.inputs is None:
            return _REPLICATION
        try:
            attributes = self._fs.attributes(f"{unit.unit.location}/{unit.inputs.files.data[0].name}")
        except OSError:
            return _REPLICATION
        return attributes.replication or 1

    def _look_for_quotas(self, base: str) -> list[Quota]:
        """Return the quotas of the table's root, if the home is in it, and of the directories in `quota_folders`.

        Directories above the root are not read: if one has no quota, the NameNode counts all files below it. HDFS
        enforces a quota that is not checked here during the write, and nothing is lost.
        """
        named = [self._fs.qualify(directory) for directory in self._options.quota_folders]
        directories = [directory for directory in named if is_below(base, directory) or base == directory]
        quotas = [
            self._quota(directory)
            for directory in dict.fromkeys([*([base] if base == self._root else []), *directories])
        ]
        return [quota for quota in quotas if quota is not None]

    def _quota(self, directory: str) -> Quota | None:
        try:
            return self._fs.quota(directory)
        except OSError:
            return None


def _named(zone: str | None) -> str:
    return f"the encryption zone {zone}" if zone else "no encryption zone"

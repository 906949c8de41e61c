"""Where a unit stands: directories to which HDFS ties more than files, and which so cannot be swapped; and room.

Asked before anything is written. A unit that is the root of an encryption zone would be replaced by a directory in
plain text, and one that holds snapshots or a quota would leave them behind with the originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from spark_jobs.core.errors import LakekeeperError, Refusal
from spark_jobs.core.layout import Home, upwards
from spark_jobs.core.quota import RUN, Need, Quota, shortfall
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.ports import FileSystem
from spark_jobs.shell.survey import TableSurvey, UnitSurvey


def grounded(cluster: Cluster, table: TableSurvey) -> TableSurvey:
    """The same survey, with the flagged units refused that cannot be swapped where they stand."""
    ground = Ground(cluster.fs, table)
    with cluster.pool(table.options.parallelism) as pool:
        units = list(pool.map(ground.stand, table.units))
    return replace(table, units=ground.with_room(units))


class Ground:
    """Looks at the directories of one table's units and at those above them."""

    def __init__(self, fs: FileSystem, table: TableSurvey) -> None:
        self._fs = fs
        self._table = table
        self._root = table.facts.storage.location
        self._zone = lru_cache(maxsize=None)(fs.encryption_zone)

    def stand(self, unit: UnitSurvey) -> UnitSurvey:
        """Never raises: what cannot be asked now, HDFS will say when it is tried."""
        if not _is_due(unit):
            return unit
        try:
            self._check(unit.unit.location)
        except Refusal as refusal:
            return replace(unit, refusal=refusal)
        except (OSError, LakekeeperError) as error:
            return replace(unit, error=str(error), health=None)
        return unit

    def _check(self, location: str) -> None:
        zone, around = self._fs.encryption_zone(location), self._zone(self._home(location).base)
        if zone != around:
            raise Refusal(
                "ENCRYPTION_ZONE_ROOT",
                f"{location} lies in {_named(zone)}, the folder above it in {_named(around)}: its originals could not"
                " be kept there",
            )
        if self._fs.snapshottable(location):
            raise Refusal(
                "SNAPSHOTTABLE", f"{location} may have snapshots, which would stay with the originals"
            )
        if self._fs.quota(location) is not None:
            raise Refusal("QUOTA", f"{location} has a quota of its own, which would stay with the originals")

    def _home(self, location: str) -> Home:
        return Home.of(self._root, location)

    def with_room(self, units: Sequence[UnitSurvey]) -> list[UnitSurvey]:
        """One after the other, for all of them write below the same quotas."""
        claimed: dict[str, Need] = {}
        return [self._with_room(unit, claimed) for unit in units]

    def _with_room(self, unit: UnitSurvey, claimed: dict[str, Need]) -> UnitSurvey:
        quotas = self._quotas(unit) if _is_due(unit) else []
        if not quotas:
            return unit
        need = self._need(unit)
        for quota in quotas:
            lack = shortfall(quota, claimed.get(quota.folder, RUN), need)
            if lack:
                return replace(unit, refusal=Refusal("QUOTA", lack))
        claimed.update({quota.folder: claimed.get(quota.folder, RUN) + need for quota in quotas})
        return unit

    def _need(self, unit: UnitSurvey) -> Need:
        assert unit.health is not None
        assert unit.manifest is not None
        location = unit.unit.location
        depth = len(self._home(location).relative(location).split("/"))
        found = self._fs.attributes(f"{location}/{unit.manifest.data[0].name}")
        return Need.of(
            unit.health, depth, found.replication or 1, self._table.options.thresholds().block_size
        )

    def _quotas(self, unit: UnitSurvey) -> list[Quota]:
        """Of all folders above the unit's home. The home and the unit lie below the same ones."""
        base = self._home(unit.unit.location).base
        found = [self._fs.quota(folder) for folder in upwards(base)] if base.startswith("hdfs:") else []
        return [quota for quota in found if quota is not None]


def _named(zone: str | None) -> str:
    return f"the encryption zone {zone}" if zone else "no encryption zone"


def _is_due(unit: UnitSurvey) -> bool:
    return unit.flagged and not unit.interrupted and unit.manifest is not None

"""Parameters of tables and partitions in the metastore of the model, and what ANALYZE TABLE makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from spark_jobs.adapters.hadoop.metastore_errors import MetastoreError
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import Spec, TableName, Unit
from spark_jobs.core.values.other_writers import is_hidden
from spark_jobs.core.values.parameters import ParameterChange, UnitParameters, Values

if TYPE_CHECKING:
    from tests.crash.simulated_cluster import SimulatedCluster

T = TypeVar("T")


def counted(sim: SimulatedCluster, location: str) -> dict[str, str]:
    """The figures of files, as the metastore counts them."""
    inode = sim.tree.get(location)
    children = inode.children.items() if inode else ()
    files = [sim.tree.inodes[number] for name, number in children if not is_hidden(name)]
    return {"numFiles": str(len(files)), "totalSize": str(sum(file.length for file in files))}


def change_parameters(sim: SimulatedCluster, name: TableName, changes: Mapping[Spec, Values]) -> None:
    """ALTER of partitions, or of a table, which are there: all of them, or none. `None` removes a parameter."""
    table = sim.metastore.get(name)
    known = {unit.spec for unit in table.units()}
    if not changes.keys() <= known:
        raise MetastoreError(f"cannot set the parameters of {name}: a partition does not exist")
    changed = dict(table.parameters)
    for spec, values in changes.items():
        merged = {**changed.get(spec, {}), **values}
        changed[spec] = {key: value for key, value in merged.items() if value is not None}
    sim.metastore.put(name, replace(table, parameters=changed))


class ModelParameters:
    """The part of the metastore's client that is about parameters."""

    _sim: SimulatedCluster

    def _call(self, act: Callable[[], T], op: str, *args: object) -> T:
        raise NotImplementedError

    def analyze(self, name: TableName, unit: Unit) -> None:
        """An ALTER by Spark: the metastore counts the files, and what Hive knows of columns counts no more."""

        def act() -> None:
            values = counted(self._sim, unit.location)
            spark = {"spark.sql.statistics.totalSize": values["totalSize"]}
            change_parameters(
                self._sim, name, {unit.spec: {**values, **spark, "COLUMN_STATS_ACCURATE": None}}
            )

        self._call(act, "analyze", str(name), str(unit))

    def parameters(self, facts: TableFacts, units: Sequence[Unit]) -> dict[str, UnitParameters]:
        wanted = {unit.spec: unit.key for unit in units}

        def act() -> dict[str, UnitParameters]:
            table = self._sim.metastore.get(TableName.parse(facts.name))
            return {
                wanted[unit.spec]: UnitParameters(unit.location, table.parameters.get(unit.spec, {}))
                for unit in table.units()
                if unit.spec in wanted
            }

        return self._call(act, "parameters", facts.name, str(len(units)))

    def set_parameters(self, facts: TableFacts, changes: Sequence[ParameterChange]) -> list[Unit]:
        """Two points like the real one's: read, and write what is still as it was seen."""
        now = self.parameters(facts, [change.unit for change in changes])
        fitting = {c.unit.spec: c.values for c in changes if c.fits(now.get(c.unit.key))}
        if fitting:
            name = TableName.parse(facts.name)
            self._call(lambda: change_parameters(self._sim, name, fitting), "set_parameters", facts.name)
        return [change.unit for change in changes if change.unit.spec not in fitting]

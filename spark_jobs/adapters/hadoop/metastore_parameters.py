"""Reads the parameters of some units, and changes a few of them, by calls for many units at once.

An entry of the metastore is written as a whole. So it is read directly before, and of what was read only those
parameters are changed: location, columns and all else go back as they came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.core.values.parameters import (
    ParameterChange,
    UnitParameters,
    Values,
    partition_name,
    partition_values,
)

_CONTEXT = "org.apache.hadoop.hive.metastore.api.EnvironmentContext"
#: A key of the context of an ALTER, and the text with which its value is compared. Without it, the metastore counts the
#: files by itself if `numFiles` or `totalSize` differ, and takes `COLUMN_STATS_ACCURATE` away (`requireCalStats` and
#: `updatePartitionStatsFast` of Hive 2.1 to 4).
_AS_WRITTEN = ("DO_NOT_UPDATE_STATS", "true")
#: An object of the metastore's interface in the JVM, and what it is.
_Found = tuple[Any, UnitParameters]


class MetastoreParameters:
    """The parameters of partitions, and of tables without partitions.

    Args:
        client: returns the connection to the metastore.
        mapper: a Jackson mapper.
        qualified: makes a location fully qualified.
    """

    def __init__(
        self, jvm: Any, client: Callable[[], Any], mapper: Any, qualified: Callable[[str], str]
    ) -> None:
        self._jvm = jvm
        self._client = client
        self._mapper = mapper
        self._qualified = qualified

    def read(self, name: TableName, units: Sequence[Unit]) -> dict[str, UnitParameters]:
        """Return the parameters of these units by unit key, by one call. Units that are not found are left out."""
        return {key: seen for key, (_, seen) in self._find(self._client(), name, units).items()}

    def write(self, name: TableName, changes: Sequence[ParameterChange]) -> list[Unit]:
        """Make the changes whose units are what was seen, by one call to read them and one to write them.

        Returns:
            The units that were left alone.
        """
        client = self._client()
        found = self._find(client, name, [change.unit for change in changes])
        left, changed = [], self._jvm.java.util.ArrayList()
        for change in changes:
            entry, now = found.get(change.unit.key, (None, None))
            if change.fits(now):
                _change(entry, change.values)
                changed.add(entry)
            else:
                left.append(change.unit)
        if changed.size():
            self._alter(client, name, changed, whole=not changes[0].unit.spec)
        return left

    def _alter(self, client: Any, name: TableName, changed: Any, *, whole: bool) -> None:
        context = self._context(changed.get(0))
        if whole:
            client.alter_table_with_environmentContext(name.database, name.table, changed.get(0), context)
        else:
            client.alter_partitions(name.database, name.table, changed, context)

    def _context(self, entry: Any) -> Any:
        """Return a context of the class that the client knows: it may have a class loader of its own."""
        loader = entry.getClass().getClassLoader()
        context = self._jvm.java.lang.Class.forName(_CONTEXT, True, loader).newInstance()
        context.putToProperties(*_AS_WRITTEN)  # guard: statistics_not_recalculated
        return context

    def _find(self, client: Any, name: TableName, units: Sequence[Unit]) -> dict[str, _Found]:
        if units and not units[0].spec:
            table = client.getTable(name.database, name.table)
            return {units[0].key: (table, self._described(self._json(table)))}
        names = self._jvm.java.util.ArrayList()
        for unit in units:
            names.add(partition_name(unit.spec))
        found = client.getPartitionsByNames(name.database, name.table, names)
        keys = {partition_values(unit.spec): unit.key for unit in units}
        rows = [(keys.get(tuple(row["values"])), self._described(row)) for row in self._json(found)]
        return {key: (found.get(i), seen) for i, (key, seen) in enumerate(rows) if key is not None}

    def _described(self, row: Mapping[str, Any]) -> UnitParameters:
        location = row["sd"]["location"]
        return UnitParameters(self._qualified(location) if location else "", row["parameters"] or {})

    def _json(self, java: Any) -> Any:
        return java_json(self._mapper, java)


def _change(entry: Any, values: Values) -> None:
    for key, value in values.items():
        if value is None:
            entry.getParameters().remove(key)
        else:
            entry.putToParameters(key, value)

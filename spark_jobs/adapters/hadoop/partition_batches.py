"""Reads the partitions of a table; if they are many, by their names, some of them by each call.

A metastore that is asked for 100,000 partitions at once has all of them in its memory, and may read each of them by
statements of its own where its database does not take one for all. With a small heap, it does not end. The names alone
are one column.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

from spark_jobs.adapters.hadoop.field_mapper import fields_mapper
from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.core.values.model import TableName

#: So many partitions are read by one call for all of them, which a metastore with a heap of 512 MB answers in seconds.
_AT_ONCE = 10_000
#: Partitions of one call by names.
_BATCH = 1000
#: The metastore's "no limit".
_ALL = -1
_API = "org.apache.hadoop.hive.metastore.api"
#: What is read of the metastore's objects. The columns are left out: each partition has a copy of them.
_WANTED = {
    "Partition": ("values", "createTime", "sd", "parameters"),
    "StorageDescriptor": ("location", "inputFormat", "numBuckets", "serdeInfo"),
    "SerDeInfo": ("serializationLib", "parameters"),
}


class PartitionBatches:
    """The entries of partitions.

    Args:
        client: returns the connection to the metastore.
    """

    def __init__(self, jvm: Any, client: Callable[[], Any]) -> None:
        self._jvm = jvm
        self._client = client
        self._mapper: Any = None

    def read(self, name: TableName) -> Iterator[Mapping[str, Any]]:
        """Return the entries of all partitions of a table, batch by batch.

        One that is dropped meanwhile may be left out.

        Raises:
            Py4JJavaError: the metastore does not answer, or the table does not exist.
        """
        client = self._client()
        names = self._names(client, name)
        if 0 < names.size() <= _AT_ONCE:
            found = client.listPartitions(name.database, name.table, _ALL)
            yield from self._json(self._of_table(client, name, found))
        else:
            yield from self._by_names(client, name, names)

    def _by_names(self, client: Any, name: TableName, names: Any) -> Iterator[Mapping[str, Any]]:
        asked = self._jvm.java.util.HashSet(names)
        while names.size():
            missing = yield from self._of(client, name, names)
            # One that is missing may have got another name, and still reads its directory.
            if not missing:  # guard: renamed_partitions_read
                return
            names = self._names(client, name)
            names.removeAll(asked)
            asked.addAll(names)

    def _names(self, client: Any, name: TableName) -> Any:
        """Return the names of all partitions, as a Java list that can be changed."""
        names = client.listPartitionNames(name.database, name.table, _ALL)
        return self._jvm.java.util.ArrayList(self._of_table(client, name, names))

    def _of_table(self, client: Any, name: TableName, found: Any) -> Any:
        """Return what was found. Raise an error of Java if that is nothing because the table does not exist."""
        if not found.size():
            client.getTable(name.database, name.table)  # guard: nothing_of_a_table
        return found

    def _of(self, client: Any, name: TableName, names: Any) -> Generator[Mapping[str, Any], None, int]:
        """Return the entries of these names; at the end, return how many there were none of."""
        missing = count = int(names.size())
        for start in range(0, count, _BATCH):
            batch = names.subList(start, min(start + _BATCH, count))
            found = client.getPartitionsByNames(name.database, name.table, batch)
            missing -= found.size()
            yield from self._json(found)
        return missing

    def _json(self, found: Any) -> Any:
        if not found.size():
            return []
        if self._mapper is None:
            self._mapper = _mapper_of(self._jvm, found.get(0))
        return java_json(self._mapper, found)


def _mapper_of(jvm: Any, entry: Any) -> Any:
    """Return a mapper for the classes that the client knows: it may have a class loader of its own."""
    loader, by_name = entry.getClass().getClassLoader(), jvm.java.lang.Class.forName
    return fields_mapper(
        jvm, {by_name(f"{_API}.{kind}", True, loader): names for kind, names in _WANTED.items()}
    )

"""Partitions are read by their names, some of them by each call, and none is lost between two calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.adapters.hadoop import partition_batches
from spark_jobs.adapters.hadoop.partition_batches import PartitionBatches
from spark_jobs.core.values.model import TableName

NAME = TableName("sales", "events")


class JavaList(list[Any]):
    def get(self, index: int) -> Any:
        return self[index]

    def size(self) -> int:
        return len(self)

    def subList(self, start: int, end: int) -> JavaList:
        return JavaList(self[start:end])

    def removeAll(self, others: Iterable[Any]) -> None:
        self[:] = [each for each in self if each not in others]


class JavaSet(set[Any]):
    addAll = set.update


class NoSuchObject(Exception):
    """What a metastore says of a table that it does not have."""


class Client:
    """A metastore whose calls are kept: the method, and how many partitions were asked for.

    Attributes:
        meanwhile: what somebody else does after the call of this number.
    """

    def __init__(self, count: int) -> None:
        self.partitions = {f"k={i}": {"values": [str(i)]} for i in range(count)}
        self.has_table = True
        self.calls: list[tuple[str, int]] = []
        self.meanwhile: dict[int, Callable[[], object]] = {}

    def listPartitionNames(self, database: str, table: str, limit: int) -> JavaList:
        return self._answer("listPartitionNames", limit, JavaList(self.partitions))

    def listPartitions(self, database: str, table: str, limit: int) -> JavaList:
        return self._answer("listPartitions", limit, JavaList(self.partitions.values()))

    def getPartitionsByNames(self, database: str, table: str, names: JavaList) -> JavaList:
        found = JavaList(self.partitions[name] for name in names if name in self.partitions)
        return self._answer("getPartitionsByNames", len(names), found)

    def getTable(self, database: str, table: str) -> object:
        if not self.has_table:
            raise NoSuchObject(table)
        return self._answer("getTable", 1, SimpleNamespace())

    def _answer(self, method: str, count: int, found: Any) -> Any:
        self.calls.append((method, count))
        self.meanwhile.pop(len(self.calls), lambda: None)()
        return found

    def rename(self, old: str, new: str) -> None:
        self.partitions[new] = self.partitions.pop(old)

    def rename_table(self) -> None:
        self.partitions, self.has_table = {}, False


@pytest.fixture(autouse=True)
def mapper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_batches, "_mapper_of", lambda *_: None)
    monkeypatch.setattr(partition_batches, "java_json", lambda _, java: list(java))


def read(client: Client) -> list[str]:
    jvm = SimpleNamespace(java=SimpleNamespace(util=SimpleNamespace(ArrayList=JavaList, HashSet=JavaSet)))
    return [entry["values"][0] for entry in PartitionBatches(jvm, lambda: client).read(NAME)]


def numbers(*ranges: range) -> list[str]:
    return [str(i) for each in ranges for i in each]


@pytest.mark.parametrize("count", [1, 10_000])
def test_two_calls_are_enough_for_ten_thousand(count: int) -> None:
    client = Client(count)
    assert read(client) == numbers(range(count))
    assert client.calls == [("listPartitionNames", -1), ("listPartitions", -1)]


@pytest.mark.parametrize("count", [10_001, 100_000])
def test_of_a_table_with_more_no_call_asks_for_more_than_a_thousand(count: int) -> None:
    client = Client(count)
    assert read(client) == numbers(range(count))
    names, *batches = client.calls
    assert names == ("listPartitionNames", -1)
    assert {method for method, _ in batches} == {"getPartitionsByNames"}
    assert [asked for _, asked in batches] == [1000] * (count // 1000) + [count % 1000] * (count % 1000 > 0)


def test_a_dropped_partition_is_absent() -> None:
    client = Client(10_500)
    client.meanwhile[2] = lambda: client.partitions.pop("k=1500")
    assert read(client) == numbers(range(1500), range(1501, 10_500))


def test_a_partition_that_is_renamed_meanwhile_is_read_by_its_new_name() -> None:
    """Its directory is the same: who does not see it takes the directory for one that nobody reads."""
    client = Client(10_500)
    client.meanwhile[1] = lambda: client.rename("k=1500", "k=one")
    client.meanwhile[13] = lambda: client.rename("k=one", "k=two")
    assert sorted(read(client)) == sorted(numbers(range(10_500)))


def test_a_table_without_partitions_is_one_that_exists() -> None:
    assert read(Client(0)) == []


@pytest.mark.parametrize(("count", "after"), [(1, 0), (1, 1), (10_500, 0), (10_500, 1), (10_500, 2)])
def test_a_table_that_is_renamed_meanwhile_is_not_one_without_partitions(count: int, after: int) -> None:
    """A metastore lists no names for a table that it does not have."""
    client = Client(count)
    client.meanwhile[after] = client.rename_table
    client.meanwhile.pop(0, lambda: None)()
    with pytest.raises(NoSuchObject):
        read(client)

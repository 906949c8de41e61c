"""Parameters are read and written by one call for many units, and nothing else of an entry is changed."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.adapters.hadoop import metastore_parameters
from spark_jobs.adapters.hadoop.metastore_parameters import MetastoreParameters
from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.core.values.parameters import ParameterChange, Values

NAME = TableName("sales", "events")
ROOT = "hdfs://nn/w/events"
FLAT = Unit((), ROOT)
STATISTICS = {"numFiles": "8", "COLUMN_STATS_ACCURATE": "{}"}
NEW = {"numFiles": "1", "note": None}


class JavaList(list[Any]):
    add = list.append

    def get(self, index: int) -> Any:
        return self[index]

    def size(self) -> int:
        return len(self)


class Entry:
    """A partition or a table, by the methods that Hive's classes have."""

    def __init__(self, values: tuple[str, ...], location: str) -> None:
        self.row = {
            "values": list(values),
            "sd": {"location": location, "cols": ["id"]},
            "parameters": {**STATISTICS, "note": "x"},
        }

    def getClass(self) -> Any:
        return SimpleNamespace(getClassLoader=lambda: "the client's own")

    def getParameters(self) -> Any:
        return SimpleNamespace(remove=self.row["parameters"].pop)

    def putToParameters(self, key: str, value: str) -> None:
        self.row["parameters"][key] = value  # type: ignore[call-overload]


class Context:
    def __init__(self) -> None:
        self.properties: dict[str, str] = {}

    def putToProperties(self, key: str, value: str) -> None:
        self.properties[key] = value


class Client:
    """A metastore whose calls are kept. What it returns are copies, as over Thrift."""

    def __init__(self) -> None:
        self.table = Entry((), ROOT)
        self.partitions = {f"k={value}": Entry((value,), f"{ROOT}/k={value}") for value in ("a", "b", "1%3A")}
        self.calls: list[str] = []

    def getTable(self, *name: str) -> Entry:
        self.calls.append("getTable")
        return deepcopy(self.table)

    def getPartitionsByNames(self, database: str, table: str, names: JavaList) -> JavaList:
        self.calls.append("getPartitionsByNames")
        known = {name.replace("%", "%25"): each for name, each in self.partitions.items()}
        return JavaList(deepcopy(known[name]) for name in names if name in known)

    def alter_partitions(self, database: str, table: str, entries: JavaList, context: Context) -> None:
        self.calls.append("alter_partitions")
        self.written, self.context = [each.row for each in entries], context.properties

    def alter_table_with_environmentContext(
        self, database: str, table: str, entry: Entry, context: Context
    ) -> None:
        self.calls.append("alter_table_with_environmentContext")
        self.written, self.context = [entry.row], context.properties


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def parameters(client: Client, monkeypatch: pytest.MonkeyPatch) -> MetastoreParameters:
    def decoded(_: Any, java: Any) -> Any:
        return deepcopy([each.row for each in java] if isinstance(java, list) else java.row)

    def for_name(name: str, _: bool, loader: str) -> Any:
        assert (name.rpartition(".")[2], loader) == ("EnvironmentContext", "the client's own")
        return SimpleNamespace(newInstance=Context)

    monkeypatch.setattr(metastore_parameters, "java_json", decoded)
    java = SimpleNamespace(
        util=SimpleNamespace(ArrayList=JavaList),
        lang=SimpleNamespace(Class=SimpleNamespace(forName=for_name)),
    )
    return MetastoreParameters(SimpleNamespace(java=java), lambda: client, None, lambda location: location)


def unit(value: str) -> Unit:
    return Unit((("K", value),), f"{ROOT}/k={value}")


def changes(parameters: MetastoreParameters, *units: Unit, values: Values = NEW) -> list[ParameterChange]:
    seen = parameters.read(NAME, units)
    return [ParameterChange(each, seen[each.key], values) for each in units]


def test_units_that_are_not_found_are_left_out(parameters: MetastoreParameters, client: Client) -> None:
    a, gone, odd = unit("a"), unit("gone"), unit("1%3A")
    found = parameters.read(NAME, [odd, gone, a])
    assert {key: each.location for key, each in found.items()} == {a.key: a.location, odd.key: odd.location}
    assert client.calls == ["getPartitionsByNames"]


@pytest.mark.parametrize("units", [(FLAT,), (unit("a"), unit("b"))])
def test_only_those_parameters_are_written(
    parameters: MetastoreParameters, client: Client, units: tuple[Unit, ...]
) -> None:
    asked = changes(parameters, *units)
    client.calls.clear()
    assert parameters.write(NAME, asked) == []
    entries = [client.table] if units == (FLAT,) else [client.partitions["k=a"], client.partitions["k=b"]]
    expected = {"numFiles": "1", "COLUMN_STATS_ACCURATE": "{}"}
    assert client.written == [{**each.row, "parameters": expected} for each in entries]
    assert len(client.calls) == 2
    assert client.context == {"DO_NOT_UPDATE_STATS": "true"}


def test_a_partition_that_has_changed_is_not_written(parameters: MetastoreParameters, client: Client) -> None:
    asked = changes(parameters, unit("a"), unit("b"), unit("1%3A"))
    client.partitions["k=a"].putToParameters("note", "another")
    client.partitions["k=b"].row["sd"]["location"] = f"{ROOT}/elsewhere"  # type: ignore[index, call-overload]
    assert parameters.write(NAME, asked) == [unit("a"), unit("b")]
    assert [row["values"] for row in client.written] == [["1%3A"]]


def test_nothing_is_written_if_all_have_changed(parameters: MetastoreParameters, client: Client) -> None:
    asked = changes(parameters, unit("a"))
    del client.partitions["k=a"]
    assert parameters.write(NAME, asked) == [unit("a")]
    assert "alter_partitions" not in client.calls

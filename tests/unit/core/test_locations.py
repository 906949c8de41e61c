"""The locations of partitions: which of them Hadoop's client is asked about, and that the answer is the same."""

from __future__ import annotations

import pytest

from spark_jobs.adapters.hadoop.locations import Locations
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.protocol.file_system import UnusableFileSystem


class Client:
    """Adds an authority, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def qualify(self, path: str) -> str:
        self.asked.append(path)
        return path.replace("hdfs:///", "hdfs://nn:8020/").replace("viewfs://c/one", "hdfs://nn/data")


def test_the_client_is_asked_about_few_directories() -> None:
    client = Client()
    locations = Locations(client.qualify)
    paths = [f"/w/t/date={day}/ref={ref}" for day in range(30) for ref in ("a b", "100%", "a:b")]
    assert [locations.qualified(f"hdfs://{path}") for path in paths] == [f"hdfs://nn:8020{p}" for p in paths]
    assert len(client.asked) <= 2


@pytest.mark.parametrize(
    "path",
    ["viewfs://c/one/t/p=1", "/w/t/p=1", "hdfs:///w/t/..", "hdfs:///w/t/.", "hdfs:///w//t", "hdfs:///w"],
)
def test_it_is_asked_about_each_path_that_it_may_resolve(path: str) -> None:
    client = Client()
    locations = Locations(client.qualify)
    assert [locations.qualified(path) for _ in range(2)] == [Client().qualify(path)] * 2
    assert client.asked == [path, path]


def _unusable(path: str) -> str:
    raise UnusableFileSystem(f"cannot resolve {path}: java.net.UnknownHostException: former")


@pytest.mark.parametrize("path", ["s3a://bucket/x", "foo://x/y/z", "har:/x/y.har", "wasbs://a@b/c", ""])
def test_a_place_that_its_scheme_refuses_needs_no_client(path: str) -> None:
    assert Locations(_unusable).qualified(path) == path


@pytest.mark.parametrize("path", ["hdfs://former/w/t", "hdfs://former/w/t/p=1", "viewfs://c/t", "file:/x"])
def test_another_place_of_an_unknown_server_refuses_the_table(path: str) -> None:
    with pytest.raises(Refusal, match="FILE_SYSTEM: cannot resolve"):
        Locations(_unusable).qualified(path)


@pytest.mark.parametrize("path", ["hdfs://nn", "hdfs:", "file:", "hdfs://nn:8020/"])
def test_the_root_of_a_file_system_refuses_the_table(path: str) -> None:
    with pytest.raises(Refusal, match=r"FILE_SYSTEM: .* is the root of a file system"):
        Locations(Client().qualify).qualified(path)


def test_a_server_that_does_not_answer_refuses_nothing() -> None:
    def away(path: str) -> str:
        raise OSError(f"{path}: connection refused")

    with pytest.raises(OSError, match="connection refused"):
        Locations(away).qualified("viewfs://c/t")

"""The locations of partitions: which of them Hadoop's client is asked about, and that the answer is the same."""

from __future__ import annotations

import pytest

from spark_jobs.adapters.hadoop.locations import Locations


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

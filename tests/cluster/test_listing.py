"""A directory of HDFS is listed page by page, with the entries that Hadoop's own listing has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from tests.cluster.superuser import Superuser, acting_as

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: More than the NameNode sends at a time, which is 1,000.
FILES = 1_050
NAMES = ("a b", "x%20y", "é", "日本", "k=1", ".hidden", "a\\b", "[a]{b,c}", "_SUCCESS")


@pytest.fixture
def large(superuser: Superuser, folder: str) -> str:
    place = f"{folder}/large é"
    superuser.make(f"{place}/sub", "750")
    for name in (*NAMES, *(f"part-{number:04}" for number in range(FILES - len(NAMES) - 1))):
        superuser.fs.create(superuser.path(f"{place}/{name}")).close()
    superuser.chmod(f"{place}/é", "666")
    return place


def by_array(fs: HadoopFileSystem, path: str, monkeypatch: pytest.MonkeyPatch) -> list[Status]:
    """The entries as `listStatus` returns them."""
    with monkeypatch.context() as patched:
        patched.setattr(fs._listing._pages, "_supported", False)
        return list(fs.list(path))


def test_pages_have_the_entries_of_hadoops_listing(
    spark: SparkSession, large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    calls = NameNodeCalls(lambda: 0.0, waited.append)
    fs = HadoopFileSystem(spark, calls)
    calls.limit(1)
    found = list(fs.list(large))
    assert (calls.made, waited) == (2, [1.0])  # The second page has waited for its turn.
    assert found == by_array(fs, large, monkeypatch)
    assert len(found) == FILES
    assert {*NAMES, "sub"} <= {entry.name for entry in found}
    assert {entry.name: entry.shared for entry in found if entry.shared} == {"é": "others"}
    for path in (f"{large}/sub", f"{large}/é"):
        assert list(fs.list(path)) == by_array(fs, path, monkeypatch)
    assert [sorted(each) for each in fs.list_each([large, f"{large}/sub"])] == [sorted(found), []]


def test_errors_are_those_of_hadoops_listing(spark: SparkSession, superuser: Superuser, large: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"{large}/missing"):
        HadoopFileSystem(spark).list(f"{large}/missing")
    superuser.chmod(large, "700")
    with acting_as(spark, "mallory"), pytest.raises(PermissionError, match=f"cannot list {large}"):
        HadoopFileSystem(spark).list(large)

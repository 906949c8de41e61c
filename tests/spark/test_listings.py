"""Listings of directories: by Hadoop's client, several of them together, and on a local disk by its own calls."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.hadoop_listing import next_size
from spark_jobs.adapters.hadoop.hdfs_listing import HdfsListing
from spark_jobs.adapters.hadoop.local_listing import has_milliseconds, list_locally
from spark_jobs.adapters.hadoop.statuses import StatusReader
from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Names that Hadoop, URIs and globs each treat in their own way.
NAMES = (
    "a b",
    "x%20y",
    "é",
    "k=1:2",
    "..odd",
    ".hidden",
    "a\\b",
    "back`tick",
    "[a]{b,c}",
    "_SUCCESS",
    "p.parquet",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, name in enumerate(NAMES):
        (tmp_path / name).write_bytes(b"1" * number)
        os.utime(tmp_path / name, ns=(0, (1_700_000_000_000 + number) * 1_000_000 + 999_999))
    (tmp_path / "sub").mkdir()
    (tmp_path / "link to sub").symlink_to(tmp_path / "sub")
    (tmp_path / "link to nothing").symlink_to(tmp_path / "nothing")
    (tmp_path / ".p.parquet.crc").write_bytes(b"checksums")
    return tmp_path


def by_hadoop(fs: HadoopFileSystem, uri: str, monkeypatch: pytest.MonkeyPatch) -> list[Status]:
    """The entries as Hadoop's client lists them, without its text for a local file's owner and mode."""
    with monkeypatch.context() as patched:
        patched.setattr(fs, "_list_locally", False)
        return sorted(entry._replace(access="") for entry in fs.list(uri))


@pytest.mark.parametrize("form", ["file:{}", "file://{}", "file:{}/"])
def test_entries_are_those_of_hadoop(
    spark: SparkSession, folder: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs, uri = HadoopFileSystem(spark), form.format(folder)
    found = list_locally(uri)
    assert found is not None
    # Hadoop's client follows links without a word.
    assert [entry.name for entry in found if entry.link] == ["link to sub"]
    assert sorted(entry._replace(link=False) for entry in found) == by_hadoop(fs, uri, monkeypatch)
    assert {entry.name for entry in found} == {*NAMES, "sub", "link to sub"}
    assert sorted(fs.list(uri)) == sorted(found)
    assert [sorted(each) for each in fs.list_each([uri, f"{uri.rstrip('/')}/sub"])] == [sorted(found), []]


def test_hadoop_lists_what_is_no_plain_directory(spark: SparkSession, folder: Path) -> None:
    fs = HadoopFileSystem(spark)
    for path in ("p.parquet", "sub/../sub", "missing"):
        assert list_locally(f"file:{folder}/{path}") is None
    assert [entry.name for entry in fs.list(f"file:{folder}/p.parquet")] == ["p.parquet"]
    with pytest.raises(FileNotFoundError, match="missing"):
        fs.list(f"file:{folder}/missing")
    (folder / os.fsdecode(b"\xff")).touch()
    assert list_locally(f"file:{folder}") is None


@pytest.mark.parametrize(("version", "fine"), [("1.8", False), ("11", True), ("17", True), ("9", False)])
def test_a_java_that_reads_times_in_seconds_lists_for_itself(version: str, fine: bool) -> None:
    system = SimpleNamespace(
        getProperty=lambda name: version if name == "java.specification.version" else None
    )
    jvm = SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(System=system)))
    assert has_milliseconds(jvm) is fine


@pytest.fixture
def hadoop(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> HadoopFileSystem:
    """The file system without the listings of the operating system."""
    fs = HadoopFileSystem(spark)
    monkeypatch.setattr(fs, "_list_locally", False)
    return fs


def test_directories_listed_together_are_as_each_one_alone(hadoop: HadoopFileSystem, tmp_path: Path) -> None:
    """Odd names, an empty directory, one in another, more than one request lists; a missing one and a file."""
    names = ["a b", "100%", "x=1:2", "{a,b}*", "empty", *(f"p={number}" for number in range(30))]
    for name in names:
        (tmp_path / name / "inner").mkdir(parents=True)
        for file in ("part-0", ".hidden", "_SUCCESS") if name != "empty" else ():
            (tmp_path / name / file).write_text(name)
    (tmp_path / "empty" / "inner").rmdir()
    (tmp_path / "file").write_text("x")
    root = f"file:{tmp_path}"
    places = [root, *(f"{root}/{name}" for name in names)]
    assert list(hadoop.list_each(places)) == [hadoop.list(place) for place in places]
    mixed = list(hadoop.list_each([f"{root}/a b", f"{root}/missing", f"{root}/file", f"{root}/a b"]))
    assert isinstance(mixed[1], FileNotFoundError)
    assert [mixed[0], mixed[2], mixed[3]] == [
        hadoop.list(f"{root}/{name}") for name in ("a b", "file", "a b")
    ]


def test_a_large_directory_is_listed_in_parts(
    hadoop: HadoopFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(25):
        (tmp_path / f"part-{number:02}").write_text("x" * number)
    at_once = sorted(hadoop.list(f"file:{tmp_path}"))
    monkeypatch.setattr("spark_jobs.adapters.hadoop.statuses._PAGE", 10)
    assert sorted(hadoop.list(f"file:{tmp_path}")) == at_once
    assert [status.length for status in at_once] == list(range(25))


def test_a_request_is_for_as_many_directories_as_fit() -> None:
    entry = Status("file:/t/f", False, 1, 1)
    small, large = [entry] * 5, [entry] * 65_000
    assert next_size(8, {str(number): small for number in range(8)}) == 128
    assert next_size(1000, {str(number): small for number in range(1000)}) == 4000
    assert next_size(8, {str(number): large for number in range(8)}) == 1
    assert next_size(8, {str(number): [] for number in range(8)}) == 128
    # An error says nothing of the sizes.
    assert (next_size(8, None), next_size(1, None)) == (4, 1)


def test_a_client_of_another_class_has_no_pages(spark: SparkSession) -> None:
    jvm, calls = spark._jvm, NameNodeCalls()
    local = jvm.org.apache.hadoop.fs.Path("file:/").getFileSystem(spark._jsc.hadoopConfiguration())
    pages = HdfsListing(jvm, StatusReader(spark.sparkContext._gateway), calls)
    assert pages.list(local, "hdfs://nn/warehouse") is None

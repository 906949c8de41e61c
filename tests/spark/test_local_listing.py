"""Directories on a local disk: the operating system lists them as Hadoop's client does."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.local_listing import has_milliseconds, list_locally
from spark_jobs.protocol.file_system import Status

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
    assert sorted(found) == by_hadoop(fs, uri, monkeypatch)
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

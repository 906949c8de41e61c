"""Each call of the driver passes the limit of calls to the NameNode.

A local disk stands for HDFS: Hadoop's client does all of its calls, and they count as those to a NameNode.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.hadoop_listing import more_pages
from spark_jobs.adapters.spark.formats.registry import FooterReader, spark_formats
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring import namenode_calls
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from spark_jobs.protocol.runs.lease import LeaseOptions, LeaseSet
from spark_jobs.protocol.services import Services

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Waits:
    """A clock that stands still, and the seconds that callers would have slept."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.calls = NameNodeCalls(lambda: 0.0, self.seconds.append)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def fs(
    spark: SparkSession, tmp_path: Path, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> HadoopFileSystem:
    monkeypatch.setattr(namenode_calls, "_LOCAL", "none:")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("x")
    found = HadoopFileSystem(spark, waits.calls)
    monkeypatch.setattr(found, "_list_locally", False)
    monkeypatch.setattr(found, "_local", found._attributes)
    return found


@pytest.fixture
def root(tmp_path: Path) -> str:
    return f"file:{tmp_path}"


#: By name: the call, and how often it asks the NameNode.
CALLS: dict[str, tuple[Callable[[HadoopFileSystem, str], Any], int]] = {
    "qualify": (lambda fs, root: fs.qualify(f"{root}/d"), 0),
    "list": (lambda fs, root: fs.list(f"{root}/d"), 1),
    "list each": (lambda fs, root: list(fs.list_each([root, f"{root}/d"])), 2),
    "status": (lambda fs, root: fs.status(f"{root}/d"), 1),
    "a missing status": (lambda fs, root: fs.status(f"{root}/missing"), 1),
    "rename": (lambda fs, root: fs.rename(f"{root}/d/f", f"{root}/d/g"), 1),
    "mkdirs": (lambda fs, root: fs.mkdirs(f"{root}/new"), 1),
    "create": (lambda fs, root: fs.create(f"{root}/d/new", b"x"), 4),
    "replace": (lambda fs, root: fs.replace(f"{root}/d/new", b"x"), 3),
    "touch": (lambda fs, root: fs.touch(f"{root}/d/f", 1000), 1),
    "read": (lambda fs, root: fs.read(f"{root}/d/f"), 1),
    "delete a file": (lambda fs, root: fs.delete_file(f"{root}/d/f"), 1),
    "delete what is not empty": (lambda fs, root: fs.delete_empty(f"{root}/d"), 1),
    "delete a tree": (lambda fs, root: fs.delete_tree(f"{root}/d"), 1),
    "trash": (lambda fs, root: fs.trash(f"{root}/d"), 5),
    "trash enabled": (lambda fs, root: fs.trash_enabled(f"{root}/d"), 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_counted_and_waits_for_its_turn(
    fs: HadoopFileSystem, waits: Waits, root: str, name: str
) -> None:
    act, expected = CALLS[name]
    waits.calls.limit(1)
    waits.calls.add(root, 100)
    before = waits.calls.made
    act(fs, root)
    assert waits.calls.made - before == expected
    if name in ("rename", "qualify"):  # of a swap, readers would see no directory meanwhile
        assert waits.seconds == []
    else:
        assert waits.seconds[0] >= 100


def test_attributes_are_counted_one_by_one(fs: HadoopFileSystem, waits: Waits, root: str) -> None:
    wanted = fs.attributes(f"{root}/d")
    assert waits.calls.made >= 1  # what this file system does not support is asked for only once
    before = waits.calls.made
    fs.attributes(f"{root}/d")
    read = waits.calls.made - before
    fs.set_attributes(f"{root}/d", wanted)
    assert waits.calls.made - before == 2 * read  # nothing differs: nothing is set


def test_a_limit_lists_fewer_directories_by_one_request(
    fs: HadoopFileSystem, waits: Waits, root: str, tmp_path: Path
) -> None:
    names = [f"p{number:02}" for number in range(60)]
    for name in names:
        (tmp_path / name).mkdir()
    waits.calls.limit(20)
    paths = [f"{root}/{name}" for name in names]
    assert list(fs.list_each(paths)) == [[] for _ in names]
    assert waits.calls.made == 60
    turns = [0.0, *waits.seconds]
    assert turns[-1] == pytest.approx((60 - 2) / 20), "the first two need not wait"
    assert max(turn - before for before, turn in pairwise(turns)) == pytest.approx(2 / 20)


@pytest.mark.parametrize(("entries", "more"), [(0, 0), (1000, 0), (1001, 1), (1_000_000, 999)])
def test_the_namenode_lists_a_thousand_entries_at_a_time(entries: int, more: int) -> None:
    assert more_pages(entries) == more


@pytest.mark.parametrize(("file_format", "calls"), [("parquet", 1), ("orc", 2)])
def test_footers_are_counted(
    spark: SparkSession,
    fs: HadoopFileSystem,
    waits: Waits,
    root: str,
    tmp_path: Path,
    file_format: str,
    calls: int,
) -> None:
    spark.range(10).repartition(3).write.format(file_format).save(str(tmp_path / "data"))
    files = FileListing.of(
        status.entry() for status in fs.list(f"{root}/data") if status.name.startswith("part-")
    )
    reader, before = FooterReader(spark_formats(spark, waits.calls)), waits.calls.made
    waits.calls.limit(1)
    reader.read([(f"{root}/data", files)], file_format)
    assert waits.calls.made - before == calls * len(files.files) == calls * 3
    assert waits.seconds


def test_a_lease_is_taken_renewed_and_checked_behind_a_long_queue(
    fs: HadoopFileSystem, waits: Waits, root: str
) -> None:
    """Ten thousand calls at one per second must not delay the heartbeat, or the lease would be lost."""
    services = Services(fs, None, None, None, calls=waits.calls)  # type: ignore[arg-type]
    waits.calls.limit(1)
    waits.calls.add(root, 10_000)
    with LeaseSet(services, LeaseOptions("compact", expiry=1000.0)) as leases:
        leases.take([f"{root}/home"])
        before = waits.calls.made
        leases._renew_all()
        leases.check()
        assert waits.calls.made - before == 2
    assert waits.seconds == []

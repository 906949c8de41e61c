"""Tables on HDFS, on a file system in a folder: what a table is when an earlier run has kept it."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from benchmarks import metastore_client
from benchmarks.datasets import Dataset
from benchmarks.places.hdfs import HdfsPlace
from benchmarks.workspace import Workspace

TABLE = Dataset("kept", partitions=0, files=3, rows=1, models=1)


class FolderFiles:
    """The calls of WebHDFS that tables use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def at(self, path: str) -> Path:
        return self._folder / path.lstrip("/")

    def list(self, path: str) -> list[dict[str, Any]]:
        return [
            {
                "pathSuffix": entry.name,
                "type": "FILE" if entry.is_file() else "DIRECTORY",
                "length": entry.stat().st_size,
            }
            for entry in sorted(self.at(path).iterdir())
        ]

    def delete(self, path: str) -> None:
        target = self.at(path)
        shutil.rmtree(target) if target.is_dir() else target.unlink()

    def rename(self, source: str, target: str) -> None:
        self.at(source).rename(self.at(target))


@pytest.fixture
def files(tmp_path):
    return FolderFiles(tmp_path / "hdfs")


@pytest.fixture
def place(tmp_path, files, monkeypatch):
    """A place whose earlier run has loaded the table; no program is submitted, and no metastore is asked."""
    monkeypatch.setattr(metastore_client, "drop_backups", Mock())
    workspace = Workspace(tmp_path)
    workspace.data.mkdir(parents=True)
    (workspace.data / f"loaded-755-{TABLE.name}").touch()
    address = {"default_fs": "hdfs://localhost:8020", "conf": tmp_path / "conf"}
    metastore = SimpleNamespace(port=9083, uri="thrift://localhost:9083")
    found = HdfsPlace(workspace, Mock(files=files, folder=tmp_path, metastore=metastore, **address))
    found.submit = Mock()
    return found


def _directory(files, path, sizes):
    files.at(path).mkdir(parents=True)
    for number, size in enumerate(sizes):
        (files.at(path) / f"part-{number}.parquet").write_bytes(bytes(size))


def test_the_units_of_a_kept_table_are_those_before_it_was_compacted(place, files):
    root = f"/bench/{TABLE.name}"
    _directory(files, f"{root}/{TABLE.table}", [17])
    _directory(files, f"{root}/.lakekeeper-{TABLE.table}/run/__originals_1/{TABLE.table}", [10, 10, 10])

    (unit,) = place.prepare(TABLE).units()

    assert (unit.files, unit.size) == (3, 30)
    assert [entry["pathSuffix"] for entry in files.list(root)] == [TABLE.table]

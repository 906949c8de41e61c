"""The same scripts on the model and on a real file system, through the real seam: the model cannot drift away."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.core.attributes import Attributes
from tests.crash.model_tree import AUTHORITY
from tests.crash.replay import Script, Step
from tests.crash.replay_verbs import TABLE, Model, Real, play
from tests.crash.world import World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.harness.fixtures import Database

SYSTEMS = ["file", *(["hdfs"] if os.environ.get("LAKEKEEPER_HDFS") else [])]

CALLS: dict[str, list[Step]] = {
    "a rename refuses": [
        ("mkdirs", "/a/x"),
        ("mkdirs", "/b"),
        ("create", "/f", b"1"),
        ("rename", "/a", "/b"),
        ("rename", "/a", "/f"),
        ("rename", "/f", "/a"),
        ("rename", "/a", "/none/a"),
        ("rename", "/none", "/c"),
        ("rename", "/a", "/a/y"),
        ("rename", "/b", "/f/b"),
        ("rename", "/a", "/b/a"),
        ("list", "/"),
        ("list", "/b"),
        ("rename", "/f", "/g"),
        ("read", "/g"),
    ],
    "an identity survives its name": [
        ("mkdirs", "/a"),
        ("mkdirs", "/b"),
        ("identity", "/a"),
        ("identity", "/b"),
        ("rename", "/a", "/b/a"),
        ("identity", "/a"),
        ("identity", "/b/a"),
        ("mkdirs", "/a"),
        ("identity", "/a"),
        ("rename", "/b", "/c"),
        ("identity", "/c"),
        ("identity", "/c/a"),
    ],
    "making refuses": [
        ("create", "/none/f", b"1"),
        ("list", "/"),
        ("create", "/f", b"1"),
        ("create", "/f", b"22"),
        ("read", "/f"),
        ("create", "/f/g", b"1"),
        ("mkdirs", "/f"),
        ("mkdirs", "/f/g"),
        ("mkdirs", "/a"),
        ("mkdirs", "/a"),
        ("create", "/a", b"1"),
        ("replace", "/new/f", b"1"),
        ("replace", "/new/f", b"333"),
        ("read", "/new/f"),
        ("list", "/new"),
    ],
    "what is missing": [
        ("list", "/none"),
        ("status", "/none"),
        ("identity", "/none"),
        ("read", "/none"),
        ("touch", "/none", 1_000_000_000_000),
        ("delete_file", "/none"),
        ("delete_empty", "/none"),
        ("delete_tree", "/none"),
        ("attributes", "/none"),
    ],
    "deleting": [
        ("mkdirs", "/a/b"),
        ("create", "/a/f", b"1"),
        ("delete_empty", "/a"),
        ("delete_empty", "/a/b"),
        ("status", "/a/b"),
        ("delete_file", "/a"),
        ("delete_file", "/a/f"),
        ("list", "/a"),
        ("create", "/a/g", b"1"),
        ("delete_tree", "/a"),
        ("status", "/a"),
    ],
    "looking": [
        ("mkdirs", "/a/b"),
        ("create", "/a/f", b"1234"),
        ("create", "/a/_SUCCESS", b""),
        ("create", "/a/.hidden", b"1"),
        ("list", "/a"),
        ("list", "/a/f"),
        ("status", "/a"),
        ("status", "/a/f"),
        ("read", "/a"),
        ("open_files", "/a", ["f", "_SUCCESS"]),
    ],
    "times": [
        ("mkdirs", "/a/b"),
        ("create", "/f", b"1"),
        ("mtime", "/a"),
        ("mtime", "/a/b"),
        ("create", "/a/f", b"1"),
        ("mtime", "/a"),
        ("replace", "/a/f", b"22"),
        ("mtime", "/a/b"),
        ("rename", "/a/f", "/a/b/f"),
        ("mtime", "/a"),
        ("mtime", "/a/b"),
        ("mtime", "/f"),
        ("rename", "/f", "/g"),
        ("touch", "/g", 1_000_000_000_000),
        ("exact_mtime", "/g"),
        ("mtime", "/a"),
        ("rename", "/a/b", "/a/c"),
        ("mtime", "/a"),
    ],
    "modes": [
        ("create", "/f", b"1"),
        ("mkdirs", "/a"),
        ("mode_of", "/f"),
        ("mode_of", "/a"),
        ("give", "/f", Attributes(0o755)),
        ("mode_of", "/f"),
    ],
    "a trash that is off": [("mkdirs", "/a"), ("trash_enabled", "/a"), ("trash", "/a"), ("status", "/a")],
    "an open file follows its directory": [
        ("mkdirs", "/a"),
        ("open", "/a/f", b"12345"),
        ("list", "/a"),
        ("open_files", "/a", ["f"]),
        ("rename", "/a", "/b"),
        ("mkdirs", "/a"),
        ("flush", "/a/f"),
        ("open_files", "/b", ["f"]),
        ("close", "/a/f"),
        ("list", "/a"),
        ("list", "/b"),
        ("open_files", "/b", ["f"]),
    ],
}

#: (system, script, step from 0): what it says there instead, and why that is no fault of the model's.
DIFFERENCES: dict[tuple[str, str, int], tuple[object, str]] = {
    ("file", "a rename refuses", 4): (
        "FileSystemError",
        "a local disk's error for a file in the way has no name",
    ),
    ("file", "a rename refuses", 5): ("FileSystemError", "the same for a folder in the way of a file"),
    ("file", "looking", 8): ("FileNotFoundError", "java.io's word for a folder that is opened as a file"),
    ("file", "deleting", 5): (
        "FileSystemError",
        "a local disk's error for a full folder has no name of its own",
    ),
    ("file", "an open file follows its directory", 3): ([], "a local disk cannot tell who writes"),
    ("file", "an open file follows its directory", 7): ([], "a local disk cannot tell who writes"),
}


@dataclass
class Place:
    """A file system that is there, and a folder on it."""

    name: str
    root: str


@pytest.fixture(params=SYSTEMS)
def place(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[Place]:
    from spark_jobs.shell.fs import HadoopFileSystem

    fs = HadoopFileSystem(spark)
    base = f"file:{tmp_path}" if request.param == "file" else os.environ["LAKEKEEPER_HDFS"].rstrip("/")
    root = fs.qualify(f"{base}/replay-{uuid.uuid4().hex[:8]}")
    fs.mkdirs(root)
    yield Place(request.param, root)
    fs.delete_tree(root)


def on_model(steps: list[Step]) -> list[object]:
    world = World()
    world.tree.trash_on = False
    root = f"{AUTHORITY}/replay"
    world.tree.make_dirs(root)
    client = world.client()

    def open_stream(path: str, data: bytes) -> Any:
        handle = client.fs.open_for_write(path)
        handle.write(data)
        return handle

    def mode(path: str) -> int:
        inode = world.tree.get(path)
        assert inode is not None
        return inode.mode

    return Script(client.fs, root, open_stream, mode, lambda: world.advance(1)).run(steps)


def on_real(spark: SparkSession, root: str, steps: list[Step]) -> list[object]:
    from spark_jobs.shell.fs import HadoopFileSystem
    from spark_jobs.shell.java_errors import java_errors

    fs = HadoopFileSystem(spark)

    def open_stream(path: str, data: bytes) -> Any:
        with java_errors("open"):
            stream = fs._fs(path).create(fs._path(path), True)
            stream.write(bytearray(data))
        return stream

    def mode(path: str) -> int:
        return int(fs._fs(path).getFileStatus(fs._path(path)).getPermission().toShort())

    return Script(fs, root, open_stream, mode, lambda: time.sleep(0.02)).run(steps)


@pytest.mark.parametrize("name", CALLS)
def test_calls(spark: SparkSession, place: Place, name: str) -> None:
    model, real = on_model(CALLS[name]), on_real(spark, place.root, CALLS[name])
    for number, (step, said) in enumerate(zip(CALLS[name], model, strict=True)):
        expected, why = DIFFERENCES.get((place.name, name, number), (said, ""))
        assert real[number] == expected, f"step {number}, {step}: the model says {said} {why}"


VERBS = {
    "there and back": [
        "compact",
        "rollback",
        "compact",
        "append",
        "rollback",
        "compact",
        "cleanup",
        "rollback",
    ],
    **{
        f"killed after {where}, then {then}": [f"compact, killed after {where}", "append", then, "rollback"]
        for where, then in [
            ("PREPARED", "compact"),
            ("R1", "compact"),
            ("R1", "rollback"),
            ("R2", "compact"),
            ("R2", "cleanup"),
            ("COMMITTED", "compact"),
        ]
    },
    "a rollback is killed in its gap": ["compact", "rollback, killed after R1", "append", "compact"],
}


@pytest.mark.parametrize("name", VERBS)
def test_verbs(spark: SparkSession, database: Database, place: Place, name: str) -> None:
    """Outcomes, rows, and every call in its order are the same."""
    model = play(Model(), VERBS[name])
    real = play(Real(spark, f"{database}.{TABLE}", place.root), VERBS[name])
    for said, done in zip(model, real, strict=True):
        assert done.outcome == said.outcome, said.step
        assert done.rows == said.rows, said.step
        assert done.calls == said.calls, said.step

"""The scripts of single calls, through the real seam: on the model, and on any file system that Hadoop knows."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.crash.model_fs import TRASH
from tests.crash.model_handle import Handle, open_for_write
from tests.crash.model_tree import AUTHORITY
from tests.crash.replay import Script, Step, Stream
from tests.crash.simulated_cluster import SimulatedCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
    from tests.cluster.superuser import Superuser

#: (script, step from 0): what it says there instead, and why that is no fault of the model's.
Differences = Mapping[tuple[str, int], tuple[object, str]]


class ModelHost:
    """The model, and those who are none of the jobs."""

    def __init__(self, sim: SimulatedCluster) -> None:
        self._sim = sim

    def open_stream(self, path: str, data: bytes) -> Handle:
        handle = open_for_write(self._sim.tree, path)
        handle.write(data)
        return handle

    def mode(self, path: str) -> int:
        inode = self._sim.tree.get(path)
        assert inode is not None
        return inode.mode

    def pause(self) -> None:
        self._sim.advance(1)

    def grant(self, path: str, owner: str, mode: int) -> None:
        number = self._sim.tree.find(path)
        assert number is not None
        self._sim.tree.change(number, owner=owner, mode=mode)

    def raw_rename(self, source: str, target: str) -> bool:
        return self._sim.tree.raw_rename(source, target)

    def kept(self, path: str) -> str:
        return f"{TRASH}{path[len(AUTHORITY) :]}"


def on_model(steps: Sequence[Step], *, trash: bool) -> list[object]:
    sim = SimulatedCluster()
    sim.tree.trash_on = trash
    root = f"{AUTHORITY}/replay"
    sim.tree.make_dirs(root)
    return Script(sim.client().fs, root, ModelHost(sim)).run(steps)


class _RealStream:
    """A writer's file; errors are Python's."""

    def __init__(self, jvm: Any, stream: Any) -> None:
        self._jvm = jvm
        self._stream = stream

    def write(self, data: bytes) -> None:
        self._call(lambda: self._stream.write(bytearray(data)))

    def hflush(self) -> None:
        self._call(self._stream.hflush)

    def hsync(self) -> None:
        """HDFS is told the length only if asked to be."""
        flags = self._jvm.org.apache.hadoop.hdfs.client.HdfsDataOutputStream.SyncFlag
        self._call(lambda: self._stream.hsync(self._jvm.java.util.EnumSet.of(flags.UPDATE_LENGTH)))

    def close(self) -> None:
        self._call(self._stream.close)

    def _call(self, act: Any) -> None:
        from spark_jobs.adapters.hadoop.java_errors import java_errors

        with java_errors("a writer's stream"):
            act()


class RealHost:
    """A file system of Hadoop's, with a client of its own for the writers; `superuser` where there is one."""

    def __init__(self, spark: SparkSession, fs: HadoopFileSystem, superuser: Superuser | None = None) -> None:
        self._jvm: Any = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()
        self._fs = fs
        self._superuser = superuser
        self._clients: dict[str, Any] = {}

    def open_stream(self, path: str, data: bytes) -> Stream:
        from spark_jobs.adapters.hadoop.java_errors import java_errors

        with java_errors(f"cannot open {path}"):
            stream = self._client(path).create(self._path(path), True)
        opened = _RealStream(self._jvm, stream)
        opened.write(data)
        return opened

    def mode(self, path: str) -> int:
        return int(self._client(path).getFileStatus(self._path(path)).getPermission().toShort())

    def pause(self) -> None:
        time.sleep(0.02)

    def grant(self, path: str, owner: str, mode: int) -> None:
        assert self._superuser is not None
        name = self._fs.user() if owner == "me" else "loader"
        self._superuser.chmod(path, oct(mode)[2:])
        self._superuser.chown(path, name, "analysts")

    def raw_rename(self, source: str, target: str) -> bool:
        return bool(self._client(source).rename(self._path(source), self._path(target)))

    def kept(self, path: str) -> str:
        """By Hadoop's own word."""
        current = f"{self._client(path).getTrashRoot(self._path(path)).toString()}/Current"
        return f"{current}{self._path(path).toUri().getPath()}"

    def _client(self, path: str) -> Any:
        uri = self._path(path).toUri()
        if uri.getScheme() not in self._clients:
            made = self._jvm.org.apache.hadoop.fs.FileSystem.newInstance(uri, self._conf)
            self._clients[uri.getScheme()] = made
        return self._clients[uri.getScheme()]

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)


def on_real(
    spark: SparkSession, root: str, steps: Sequence[Step], superuser: Superuser | None = None
) -> list[object]:
    from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem

    fs = HadoopFileSystem(spark)
    return Script(fs, root, RealHost(spark, fs, superuser)).run(steps)


def new_folder(spark: SparkSession, base: str) -> str:
    """One that nobody has used, whose owner acts."""
    from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem

    fs = HadoopFileSystem(spark)
    root = fs.qualify(f"{base}/replay-{uuid.uuid4().hex[:8]}")
    fs.mkdirs(root)
    return root


def differences(
    steps: Sequence[Step], name: str, model: Sequence[object], real: Sequence[object], known: Differences
) -> list[str]:
    """Where the real one does not say what the model says, or what is known to be otherwise there."""
    found = []
    for number, step in enumerate(steps):
        expected, why = known.get((name, number), (model[number], "the model's answer"))
        if real[number] != expected:
            found.append(f"step {number}, {step}: {real[number]}, and not {expected}: {why}")
    return found

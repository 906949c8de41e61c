"""Tables on the HDFS of the tests' cluster: a NameNode, a DataNode, and a Hive Metastore of their own releases."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import metastore_client, trees
from benchmarks.datasets import DATABASE, SCHEMA, Dataset
from benchmarks.measuring import RunFailed
from benchmarks.places.tables import Unit
from benchmarks.workspace import PROGRAMS, SETTINGS, SPARK, Submitter, Workspace
from demo.services import paths
from demo.services.spark_config import spark_environ
from tests.cluster import client
from tests.cluster.cluster import Cluster
from tests.cluster.sites import SUPERUSER

#: Files that are copied to HDFS at the same time. A single one takes a third of a second.
COPIED_AT_ONCE = "24"


@dataclass(frozen=True)
class HdfsTable:
    """One table, at `<root>/<name>`; nothing else is below its root."""

    dataset: Dataset
    cluster: Cluster

    @property
    def root(self) -> str:
        return f"/bench/{self.dataset.name}"

    @property
    def path(self) -> str:
        return f"{self.root}/{self.dataset.table}"

    @property
    def full_names(self) -> str:
        return self.dataset.full_name

    @property
    def schema(self) -> str:
        return SCHEMA

    def uri(self, path: str) -> str:
        return f"{self.cluster.default_fs}{path}"

    def units(self) -> list[Unit]:
        return self._units

    @cached_property
    def _units(self) -> list[Unit]:
        """Return the units as they were loaded."""
        return [self._unit(folder) for folder in self.dataset.folders()]

    def _unit(self, folder: str) -> Unit:
        below = f"/{folder}" if folder else ""
        sizes = [entry["length"] for entry in self._visible(f"{self.path}{below}")]
        return Unit(
            self.uri(f"{self.path}{below}"), self.uri(f"{self.root}/bare{below}"), len(sizes), sum(sizes)
        )

    def count(self, directory: str) -> int:
        return len(self._visible(directory.removeprefix(self.cluster.default_fs)))

    def _visible(self, directory: str) -> list[dict[str, Any]]:
        return [entry for entry in self.cluster.files.list(directory) if is_visible(entry)]

    def reset(self) -> None:
        """Rename the originals back to the location of a table without partitions, and delete everything else."""
        metastore_client.drop_backups(self.cluster.metastore.port, DATABASE)
        files = self.cluster.files
        for original in list(self._originals()):
            files.delete(self.path)
            files.rename(original, self.path)
        for name in self._names(self.root):
            if name != self.dataset.table:
                files.delete(f"{self.root}/{name}")
        if self.count(self.path) != self.dataset.total_files:
            raise RunFailed(f"{self.path} does not have {self.dataset.total_files} files any more")
        trees.warm(self.cluster.folder / "datanode")

    def _originals(self) -> Iterator[str]:
        """Return where a compaction has put the table's directory: ours below a hidden one, Lakekeeper beside."""
        for name in self._names(self.root):
            if name.startswith(f"{self.dataset.table}__old_"):
                yield f"{self.root}/{name}"
            elif name == f".lakekeeper-{self.dataset.table}":
                yield from self._below(f"{self.root}/{name}")

    def _below(self, home: str) -> Iterator[str]:
        for run in self._names(home):
            for name in self._names(f"{home}/{run}"):
                if name.startswith("__originals_"):
                    yield f"{home}/{run}/{name}/{self.dataset.table}"

    def _names(self, directory: str) -> list[str]:
        """Return the names of all entries, also of a file, which has one without a name."""
        return [entry["pathSuffix"] for entry in self.cluster.files.list(directory)]


def is_visible(entry: Mapping[str, Any]) -> bool:
    """Return whether a reader of the table opens this entry of a listing."""
    return entry["type"] == "FILE" and not entry["pathSuffix"].startswith((".", "_"))


class HdfsPlace:
    """The cluster and the tables of one run of the benchmarks."""

    def __init__(self, workspace: Workspace, cluster: Cluster) -> None:
        conf = {**SETTINGS, "spark.sql.warehouse.dir": f"{cluster.default_fs}/user/hive/warehouse"}
        environ = spark_environ(
            SPARK, cluster.metastore.uri, workspace.data / "spark-hdfs", conf=conf, shared_classes=False
        )
        own = {"HADOOP_CONF_DIR": str(cluster.conf), "HADOOP_USER_NAME": SUPERUSER}
        self.submit = Submitter({**environ, **own}, workspace.logs)
        self.cluster = cluster
        self._data = workspace.data

    @classmethod
    @contextmanager
    def opened(cls, workspace: Workspace) -> Iterator[HdfsPlace]:
        """Run a cluster until the end of the block."""
        with Cluster(workspace.data / "cluster") as cluster:
            yield cls(workspace, cluster)

    def prepare(self, dataset: Dataset, anew: bool = False) -> HdfsTable:
        """Load the files of a table and register it. An earlier run may have kept the files, not their address.

        Args:
            anew: load them also if they were kept: jobs have changed them for good.
        """
        table = HdfsTable(dataset, self.cluster)
        complete = self._data / f"loaded-755-{dataset.name}"
        if anew or not complete.exists():
            complete.unlink(missing_ok=True)
            self.cluster.files.delete(table.root)
            self._load(table)
            complete.touch()
        else:
            # An earlier run may have compacted it: the units are those of the table as it was loaded.
            table.reset()
        self._make("register", dataset, "--location", table.uri(table.path))
        return table

    def _load(self, table: HdfsTable) -> None:
        staged = self._data / "staged" / table.dataset.table
        shutil.rmtree(staged, ignore_errors=True)
        self._make("make", table.dataset, "--files", staged)
        # Only where no other account may write, an analysis creates a home for the footers that it keeps.
        self.cluster.files.make(table.root, "755")
        copy = ("-copyFromLocal", "-t", COPIED_AT_ONCE, staged.as_uri(), table.uri(table.root))
        environ = {"HADOOP_USER_NAME": SUPERUSER}
        client.must(self.cluster.folder, *client.HDFS_DFS, *copy, environ=environ)
        shutil.rmtree(staged)

    def _make(self, what: str, dataset: Dataset, *arguments: str | Path) -> None:
        environ = {"PYTHONPATH": str(paths.ROOT)}
        script = PROGRAMS / "make_table.py"
        self.submit.run(f"{what}-{dataset.name}", script, dataset.name, *arguments, environ=environ)

"""HDFS and a Hive Metastore of their own releases, on this machine only.

with Cluster(Path(".scratch/cluster")) as cluster:
    print(cluster.default_fs, cluster.metastore.uri)
"""

from __future__ import annotations

from pathlib import Path

from tests.cluster import jars, sites
from tests.cluster.hdfs import Hdfs
from tests.harness.metastore import Metastore

SUPERUSER = "hdfs"


class Cluster:
    """Of one folder, which is wiped by nobody: start it there again and the files are there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.conf = self.folder / "conf"
        self.ports = sites.Ports()
        self.default_fs = self.ports.default_fs
        self.hdfs = Hdfs(self.folder, self.ports, {"HADOOP_USER_NAME": SUPERUSER})
        self.metastore = Metastore(
            self.folder / "metastore", jars=jars.HIVE, settings={"fs.defaultFS": self.default_fs}
        )

    def start(self) -> Cluster:
        jars.ensure()
        sites.write(self.conf, "core-site.xml", sites.core_site(self.folder, self.ports))
        sites.write(self.conf, "hdfs-site.xml", sites.hdfs_site(self.folder, self.ports))
        self.hdfs.start()
        self.metastore.start()
        return self

    def stop(self) -> None:
        self.metastore.stop()
        self.hdfs.stop()

    def __enter__(self) -> Cluster:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()

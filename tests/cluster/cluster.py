"""HDFS, a Hive Metastore and, where it is asked for, YARN, of their own releases, with Kerberos or without.

with Cluster(Path(".scratch/cluster"), yarn=True) as cluster:
    print(cluster.default_fs, cluster.metastore.uri)
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from demo.services.metastore import Metastore
from tests.cluster import client, jars, security, sites
from tests.cluster.hdfs import Hdfs
from tests.cluster.hive import SecureMetastore
from tests.cluster.kerberos import REALM, Kdc
from tests.cluster.webhdfs import WebHdfs, token_in
from tests.cluster.yarn import Yarn


class Cluster:
    """Of one folder, which is wiped by nobody: start it there again and the files are there."""

    def __init__(self, folder: Path, *, secure: bool = False, yarn: bool = False) -> None:
        self.folder = folder.resolve()
        self.conf = self.folder / "conf"
        self.ports = sites.Ports()
        self.default_fs = self.ports.default_fs
        self.kdc = Kdc(self.folder / "kdc") if secure else None
        self.hdfs = Hdfs(self.folder, self.ports, self._environ())
        self._has_yarn = yarn
        self.yarn = Yarn(self.folder, self.ports, self._environ())
        self.metastore = self._metastore()

    def start(self) -> Cluster:
        jars.ensure()
        if self.kdc:
            self.kdc.start()
            security.make_keytabs(self.kdc)
        self._configure()
        if self._has_yarn:
            self.yarn.start(wait=False)
        self.hdfs.start()
        self._make_folders()
        self.metastore.start()
        if self._has_yarn:
            self.yarn.wait()
        return self

    def client(self, user: str) -> dict[str, str]:
        """The environment of this user on a node of the cluster; with Kerberos, he has a ticket."""
        common = {"HADOOP_CONF_DIR": str(self.conf)}
        if self.kdc is None:
            return {**common, "HADOOP_USER_NAME": user}
        cache = self.kdc.ticket(self.kdc.keytab(user), f"{user}@{REALM}")
        return {**self.anonymous(), "KRB5CCNAME": f"FILE:{cache}"}

    def anonymous(self) -> dict[str, str]:
        """The same without a ticket, and with none to be found."""
        if self.kdc is None:
            return {"HADOOP_CONF_DIR": str(self.conf)}
        java = f"-Djava.security.krb5.conf={self.kdc.conf}"
        return {
            "HADOOP_CONF_DIR": str(self.conf),
            "KRB5_CONFIG": str(self.kdc.conf),
            "KRB5CCNAME": f"FILE:{self.kdc.folder / 'no-ticket'}",
            "SPARK_SUBMIT_OPTS": java,
            "HADOOP_OPTS": java,
        }

    def stop(self) -> None:
        self.metastore.stop()
        self.yarn.stop()
        self.hdfs.stop()
        if self.kdc:
            self.kdc.stop()

    def _configure(self) -> None:
        """What is the same with and without Kerberos, and on top of it what is not."""
        kdc = self.kdc
        own = {
            "core": (sites.core_site(self.folder, self.ports), security.core() if kdc else {}),
            "hdfs": (sites.hdfs_site(self.folder, self.ports), security.hdfs(kdc) if kdc else {}),
            "yarn": (sites.yarn_site(self.folder, self.ports), security.yarn(kdc) if kdc else {}),
        }
        hive = {"hive.metastore.uris": self.metastore.uri, **sites.hive_site_of_clients()}
        sites.write(self.conf, "hive-site.xml", {**hive, **(security.hive() if kdc else {})})
        for name, (common, secured) in own.items():
            sites.write(self.conf, f"{name}-site.xml", {**common, **secured})

    @cached_property
    def files(self) -> WebHdfs:
        """HDFS as the superuser sees it, without a JVM for each look."""
        address = f"{sites.NAME}:{self.ports.namenode_http}"
        if self.kdc is None:
            return WebHdfs(address, {"user.name": sites.SUPERUSER})
        file = self.kdc.folder / "superuser.token"
        self._tool(sites.SUPERUSER, *client.HDFS_FETCHDT, "--renewer", sites.SUPERUSER, file.as_uri())
        return WebHdfs(address, {"delegation": token_in(file.read_bytes())})

    def kill_application(self, application: str, user: str) -> None:
        """`yarn application -kill`, as this user."""
        self._tool(user, *client.YARN_APPLICATION, "-kill", application)

    def administer(self, *command: str) -> None:
        """`hdfs dfsadmin`, as the superuser."""
        self._tool(sites.SUPERUSER, *client.HDFS_DFSADMIN, *command)

    def _tool(self, user: str, *command: str) -> str:
        return client.must(self.folder, *command, environ={**self._environ(), **self.client(user)})

    def _make_folders(self) -> None:
        """What every user of a cluster finds there."""
        for folder in ("/tmp", "/user/hive/warehouse"):
            self.files.make(folder, "1777")
        for user in sites.USERS:
            self.files.make(f"/user/{user}", "755")
            self.files.give(f"/user/{user}", user)

    def _environ(self) -> dict[str, str]:
        """Of the servers: without Kerberos they are whom they say they are."""
        if self.kdc is None:
            return {"HADOOP_USER_NAME": sites.SUPERUSER}
        return {"JAVA_TOOL_OPTIONS": f"-Djava.security.krb5.conf={self.kdc.conf}"}

    def _metastore(self) -> Metastore | SecureMetastore:
        folder, settings = self.folder / "metastore", {"fs.defaultFS": self.default_fs}
        if self.kdc is None:
            return Metastore(folder, jars=jars.HIVE, settings=settings, environ=self._environ())
        secured = {**settings, **security.metastore(self.kdc)}
        return SecureMetastore(folder, self.conf, secured, self._environ())

    def __enter__(self) -> Cluster:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()

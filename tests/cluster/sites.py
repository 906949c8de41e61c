"""What the servers and their clients are told: core-site.xml, hdfs-site.xml and the like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from demo.services.metastore import hive_site
from demo.services.ports import HOST, free_port

#: Kerberos wants names: every principal of a service is of this host.
NAME = "localhost"

LOG4J = """\
log4j.rootLogger=WARN,err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%d{HH:mm:ss} %p %c{1}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
"""


@dataclass(frozen=True)
class Ports:
    """Chosen once, so that a server that is started again is found where it was."""

    namenode: int = field(default_factory=free_port)
    namenode_http: int = field(default_factory=free_port)
    datanode_http: int = field(default_factory=free_port)
    resourcemanager: int = field(default_factory=free_port)
    scheduler: int = field(default_factory=free_port)
    tracker: int = field(default_factory=free_port)
    admin: int = field(default_factory=free_port)
    resourcemanager_http: int = field(default_factory=free_port)

    @property
    def default_fs(self) -> str:
        return f"hdfs://{NAME}:{self.namenode}"


SUPERUSER = "hdfs"
#: The superuser, one who runs the jobs, and one who writes the tables; each with his groups.
USERS = {SUPERUSER: ("supergroup",), "etl": ("analysts",), "loader": ("loaders", "analysts")}

#: The servers' pages, which their libraries do not carry: an empty folder on the class path will do.
PAGES = ("hdfs", "datanode", "static", "cluster", "node")


def write(folder: Path, name: str, settings: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(hive_site(dict(settings)))
    (folder / "log4j.properties").write_text(LOG4J)
    for page in PAGES:
        (folder / "webapps" / page).mkdir(parents=True, exist_ok=True)


#: How long who finds a server away waits until he looks again: servers and clients are on one machine here.
RETRY_MS = "100"


def core_site(folder: Path, ports: Ports) -> dict[str, str]:
    return {
        "fs.defaultFS": ports.default_fs,
        "ipc.client.connect.retry.interval": RETRY_MS,
        # A reader who finds no DataNode waits for a multiple of this.
        "dfs.client.retry.window.base": RETRY_MS,
        "fs.trash.interval": "1440",
        "hadoop.tmp.dir": str(folder / "tmp"),
        # No such users are known to the operating system.
        "hadoop.user.group.static.mapping.overrides": ";".join(
            f"{user}={','.join(groups)}" for user, groups in USERS.items()
        ),
        # Of encryption zones. A cluster has a server for it; a file serves one machine.
        "hadoop.security.key.provider.path": f"jceks://file{folder / 'keys.jceks'}",
    }


def hdfs_site(folder: Path, ports: Ports) -> dict[str, str]:
    anywhere = f"{HOST}:0"
    return {
        "dfs.namenode.name.dir": (folder / "namenode").as_uri(),
        "dfs.namenode.rpc-address": f"{NAME}:{ports.namenode}",
        "dfs.namenode.http-address": f"{NAME}:{ports.namenode_http}",
        "dfs.namenode.safemode.extension": "0",
        # Two kinds of disks: a storage policy that nothing can follow would fail every write.
        "dfs.datanode.data.dir": ",".join(
            f"[{kind}]{(folder / 'datanode' / kind.lower()).as_uri()}" for kind in ("DISK", "ARCHIVE")
        ),
        "dfs.datanode.address": anywhere,
        "dfs.datanode.ipc.address": anywhere,
        "dfs.datanode.http.address": f"{HOST}:{ports.datanode_http}",
        "dfs.datanode.hostname": NAME,
        "dfs.replication": "1",
        "dfs.heartbeat.interval": "1",
    }


def hive_site_of_clients() -> dict[str, str]:
    """The number of attempts stays: only the time between them is short."""
    return {"hive.metastore.client.connect.retry.delay": f"{RETRY_MS}ms"}


def yarn_site(folder: Path, ports: Ports) -> dict[str, str]:
    anywhere = f"{NAME}:0"
    return {
        "yarn.resourcemanager.address": f"{NAME}:{ports.resourcemanager}",
        "yarn.resourcemanager.scheduler.address": f"{NAME}:{ports.scheduler}",
        "yarn.resourcemanager.resource-tracker.address": f"{NAME}:{ports.tracker}",
        "yarn.resourcemanager.admin.address": f"{NAME}:{ports.admin}",
        "yarn.resourcemanager.webapp.address": f"{NAME}:{ports.resourcemanager_http}",
        # The others need a file of queues.
        "yarn.resourcemanager.scheduler.class": (
            "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
        ),
        "yarn.nodemanager.hostname": NAME,
        "yarn.nodemanager.address": anywhere,
        "yarn.nodemanager.localizer.address": anywhere,
        "yarn.nodemanager.webapp.address": anywhere,
        "yarn.nodemanager.local-dirs": str(folder / "containers"),
        "yarn.nodemanager.log-dirs": str(folder / "container-logs"),
        "yarn.nodemanager.resource.memory-mb": "6144",
        "yarn.nodemanager.resource.cpu-vcores": "8",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.enable": "false",
        # Kept for who looks why a container failed.
        "yarn.nodemanager.delete.debug-delay-sec": "3600",
        "yarn.scheduler.minimum-allocation-mb": "256",
        # Containers are handed out and taken back at heartbeats.
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": RETRY_MS,
        # The NodeManager starts beside the ResourceManager, and may be the first.
        "yarn.resourcemanager.connect.retry-interval.ms": RETRY_MS,
    }

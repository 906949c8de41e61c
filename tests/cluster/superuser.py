"""HDFS as its superuser sees it, whoever the session's user is; and who that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.cluster.sites import SUPERUSER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Look:
    """What an independent client says of a path: Hadoop's own listing, not the jobs' code."""

    owner: str
    group: str
    mode: str
    acl: str
    xattrs: tuple[tuple[str, bytes], ...]
    storage_policy: str
    replication: int


class Superuser:
    """Arranges and looks; paths are whole URIs."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._jvm: Any = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()
        self.root = root
        uri = self.path(root).toUri()
        self.fs = self._jvm.org.apache.hadoop.fs.FileSystem.newInstance(uri, self._conf, SUPERUSER)

    def path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(name)

    def make(self, folder: str, mode: str = "755") -> None:
        self.fs.mkdirs(self.path(folder))
        self.chmod(folder, mode)

    def chmod(self, name: str, mode: str) -> None:
        self.fs.setPermission(self.path(name), self._jvm.org.apache.hadoop.fs.permission.FsPermission(mode))

    def chown(self, name: str, owner: str, group: str) -> None:
        self.fs.setOwner(self.path(name), owner, group)

    def set_acl(self, name: str, spec: str) -> None:
        parse = self._jvm.org.apache.hadoop.fs.permission.AclEntry.parseAclSpec
        self.fs.setAcl(self.path(name), parse(spec, True))

    def files(self, folder: str) -> list[str]:
        """The visible files of a directory, by name."""
        found = (status.getPath() for status in self.fs.listStatus(self.path(folder)))
        return sorted(str(path.toString()) for path in found if not path.getName().startswith((".", "_")))

    def folders(self, folder: str) -> list[str]:
        """All below a directory, the hidden ones as well."""
        below = [s for s in self.fs.listStatus(self.path(folder)) if s.isDirectory()]
        paths = [str(status.getPath().toString()) for status in below]
        return [*paths, *(deeper for path in paths for deeper in self.folders(path))]

    def look(self, name: str) -> Look:
        path = self.path(name)
        status = self.fs.getFileStatus(path)
        xattrs = self.fs.getXAttrs(path)
        return Look(
            owner=status.getOwner(),
            group=status.getGroup(),
            mode=status.getPermission().toString(),
            acl=self.fs.getAclStatus(path).toString(),
            xattrs=tuple(sorted((str(key), bytes(xattrs[key])) for key in xattrs)),
            storage_policy=self.fs.getStoragePolicy(path).getName(),
            replication=status.getReplication(),
        )

    def tree(self, folder: str) -> dict[str, tuple[int, int, int]]:
        """path -> (fileId, length, mtime) of all below a directory but what is hidden: what must stay as it is."""
        found, pending = {}, [self.path(folder)]
        while pending:
            for status in self.fs.listStatus(pending.pop()):
                path = status.getPath()
                if path.getName().startswith("."):
                    continue
                found[str(path.toString())] = (
                    status.getFileId(),
                    status.getLen(),
                    status.getModificationTime(),
                )
                if status.isDirectory():
                    pending.append(path)
        return found


@contextmanager
def acting_as(spark: SparkSession, user: str) -> Iterator[None]:
    """The session's own work is this user's: what it opens from here on, it opens as him."""
    users = spark._jvm.org.apache.hadoop.security.UserGroupInformation
    before = users.getLoginUser()
    users.setLoginUser(users.createRemoteUser(user))
    try:
        yield
    finally:
        users.setLoginUser(before)

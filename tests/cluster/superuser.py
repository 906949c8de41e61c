"""HDFS as its superuser sees it, whoever the session's user is; and who that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.cluster.hdfs import KEY
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
        self.fs = self.another(SUPERUSER)

    def path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(name)

    def make(self, folder: str, mode: str = "755") -> None:
        self.fs.mkdirs(self.path(folder))
        self.chmod(folder, mode)

    def chmod(self, name: str, mode: str) -> None:
        self.fs.setPermission(self.path(name), self._jvm.org.apache.hadoop.fs.permission.FsPermission(mode))

    def open_to_all(self, folder: str) -> None:
        """Everybody may do everything below."""
        self.chmod(folder, "777")
        for status in self.fs.listStatus(self.path(folder)):
            if status.isDirectory():
                self.open_to_all(str(status.getPath().toString()))

    def chown(self, name: str, owner: str, group: str) -> None:
        self.fs.setOwner(self.path(name), owner, group)

    def set_acl(self, name: str, spec: str) -> None:
        parse = self._jvm.org.apache.hadoop.fs.permission.AclEntry.parseAclSpec
        self.fs.setAcl(self.path(name), parse(spec, True))

    def set_quota(self, folder: str, names: int | None = None, space: int | None = None) -> None:
        """None: no limit."""
        limits = [-1 if limit is None else limit for limit in (names, space)]
        self.fs.setQuota(self.path(folder), *limits)

    def used(self, folder: str) -> tuple[int, int]:
        """What counts against quotas: names, and bytes on all replicas."""
        usage = self.fs.getQuotaUsage(self.path(folder))
        return usage.getFileAndDirectoryCount(), usage.getSpaceConsumed()

    def encrypt(self, folder: str) -> None:
        """Makes an empty directory the root of an encryption zone."""
        self.fs.createEncryptionZone(self.path(folder), KEY)

    def zone(self, name: str) -> str | None:
        found = self.fs.getEZForPath(self.path(name))
        return str(found.getPath()) if found else None

    def is_encrypted(self, name: str) -> bool:
        return bool(self.fs.getFileStatus(self.path(name)).isEncrypted())

    def another(self, user: str) -> Any:
        """Hadoop's client of somebody else."""
        uri = self.path(self.root).toUri()
        return self._jvm.org.apache.hadoop.fs.FileSystem.newInstance(uri, self._conf, user)

    def read(self, name: str) -> bytearray:
        stream = self.fs.open(self.path(name))
        try:
            return bytearray(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

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

    def tree(self, folder: str, *, hidden: bool = False) -> dict[str, tuple[int, int, int]]:
        """path -> (fileId, length, mtime) of all below a directory, as a rule without what is hidden."""
        found, pending = {}, [self.path(folder)]
        while pending:
            for status in self.fs.listStatus(pending.pop()):
                path = status.getPath()
                if path.getName().startswith(".") and not hidden:
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

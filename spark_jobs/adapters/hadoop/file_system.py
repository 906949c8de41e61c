"""The file system, through Hadoop's client. All paths are fully qualified, decoded URIs (`hdfs://nn/warehouse/a b`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from spark_jobs.adapters.hadoop.hadoop_attributes import HadoopAttributes
from spark_jobs.adapters.hadoop.hadoop_listing import HadoopListing
from spark_jobs.adapters.hadoop.hdfs_directories import HdfsDirectories
from spark_jobs.adapters.hadoop.java_answers import java_bytes
from spark_jobs.adapters.hadoop.java_errors import call, java_errors
from spark_jobs.adapters.hadoop.local_files import LocalAttributes, local_identity
from spark_jobs.adapters.hadoop.local_listing import has_milliseconds, list_locally
from spark_jobs.adapters.hadoop.local_renames import rename_locally
from spark_jobs.adapters.hadoop.statuses import StatusReader
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.records.journal_bounds import server_of
from spark_jobs.core.rules.quota import Quota
from spark_jobs.core.values.attributes import Attributes, LostAttribute
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.protocol.file_system import FileSystem, FileSystemError, Status, UnusableFileSystem
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

#: Other file systems have neither encryption zones nor snapshots nor quotas, nor do they know which files are open.
_HDFS = "hdfs:"
#: What the NameNode is asked to write a file: to create it, to allocate a block and to close it; and to flush it.
_WRITE, _FLUSH = 3, 1
#: To move to the trash: to find the path and its trash, and to create its directory; then to rename.
_TRASH = 5


class HadoopFileSystem(FileSystem):
    """Files and directories on the file system that each URI names.

    Args:
        calls: counts and limits the calls to the NameNode; without it, they are counted for this object only.
    """

    def __init__(self, spark: Any, calls: NameNodeCalls | None = None) -> None:
        self._calls = calls or NameNodeCalls()
        self._jvm: Any = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()
        hadoop, gateway = self._jvm.org.apache.hadoop.fs, spark.sparkContext._gateway
        self._statuses = StatusReader(gateway)
        self._refuse = gateway.new_array(hadoop.Options.Rename, 1)
        self._refuse[0] = hadoop.Options.Rename.NONE
        self._new_file = self._jvm.java.util.EnumSet.of(hadoop.CreateFlag.CREATE)  # guard: create_exclusive
        self._no_options = gateway.new_array(hadoop.Options.CreateOpts, 0)
        # Looked up once: a look-up by name costs a round trip to the JVM for each part of the name.
        self._new_path = hadoop.Path
        self._io = self._jvm.org.apache.commons.io.IOUtils
        self._contexts: dict[str, Any] = {}
        self._file_systems: dict[str, Any] = {}
        self._attributes = HadoopAttributes(self._jvm, self._statuses, self._calls)
        self._local = LocalAttributes(self._jvm, self._statuses, self._calls)
        self._hdfs = HdfsDirectories(self._jvm)
        self._listing = HadoopListing(self._jvm, self._conf, self._statuses, self._calls)
        self._list_locally = has_milliseconds(self._jvm)

    def qualify(self, path: str) -> str:
        """Return a path with scheme and authority.

        A bare path is on the default file system. A path of a viewfs is resolved, because a viewfs does not answer
        questions about open files, encryption zones or quotas. Raise UnusableFileSystem; OSError if a viewfs does not
        answer.
        """
        try:
            with java_errors(f"cannot resolve {path}"):
                fs = self._fs(path, 0)
                qualified = str(fs.makeQualified(self._path(path)).toString())
        except FileSystemError as error:
            raise UnusableFileSystem(str(error)) from None
        return self._mounted(fs, qualified) if qualified.startswith("viewfs:") else qualified

    def _mounted(self, fs: Any, path: str) -> str:
        """Return the resolved path. A path that does not exist is resolved by the directory above it."""
        missing: list[str] = []
        while True:
            self._calls.take(path)
            try:
                with java_errors(f"cannot resolve {path}"):
                    resolved = str(
                        fs.resolvePath(self._path(f"{path}/")).toString()
                    )  # guard: viewfs_resolved
                    return "/".join([resolved.rstrip("/"), *reversed(missing)])
            except FileNotFoundError:
                missing.append(name_of(path))
                path = parent(path)

    def list(self, path: str) -> Sequence[Status]:
        """Return the entries of a directory. Raise FileNotFoundError."""
        entries = list_locally(path) if self._is_listed_locally(path) else None
        if entries is not None:
            return entries
        with java_errors(f"cannot list {path}"):
            return self._listing.one(self._fs(path), path)

    def list_each(self, paths: Sequence[str]) -> Iterator[Sequence[Status] | OSError]:
        if all(map(self._is_listed_locally, paths)):
            yield from super().list_each(paths)
            return
        for path, entries in self._listing.each(paths):
            yield from super().list_each([path]) if entries is None else [entries]

    def _is_listed_locally(self, path: str) -> bool:
        return self._list_locally and path.startswith("file:")

    def status(self, path: str) -> Status | None:
        """Return the entry of a path; None if there is none."""
        try:
            with java_errors(f"cannot read the status of {path}"):
                return self._statuses.one(call(self._fs(path), "getFileStatus", self._path(path)))
        except FileNotFoundError:
            return None

    def identity(self, path: str) -> str | None:
        """Return what identifies a directory across renames; None if there is none.

        HDFS gives each inode a permanent fileId. On a local disk it is the device and the inode.
        """
        if path.startswith("file:"):  # guard: identity_known
            return local_identity(path)
        status = self.status(path)
        if status is None:
            return None
        if status.file_id is not None:
            return f"hdfs:{status.file_id}"
        raise LakekeeperError(
            f"{path}: this file system gives directories no identity, so a swap cannot be checked; only hdfs: and file:"
            " can be compacted"
        )

    def open_files(self, path: str, names: Sequence[str]) -> Sequence[str]:
        """Return the files that are open, by one call for each. Only HDFS knows them."""
        if not path.startswith(_HDFS):
            return []
        with java_errors(f"cannot find out which files of {path} are open"):
            return [name for name in names if not self._fs(path).isFileClosed(self._path(f"{path}/{name}"))]

    def at_once(self) -> AbstractContextManager[None]:
        return self._calls.at_once()

    def user(self) -> str:
        with java_errors("cannot find out the current user"):
            current = self._jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser()
            return str(current.getShortUserName())

    def rename(self, source: str, target: str) -> None:
        """Rename a path.

        FileSystem.rename would move `source` *into* an existing target directory and report success.

        Raises:
            FileExistsError: the target exists.
            FileNotFoundError: the source, or the parent of the target, does not exist.
        """
        # A rename does not wait for its turn: between the two of a swap, readers see no directory.
        self._calls.add(source)
        if source.startswith("file:") and rename_locally(source, target):
            return
        with java_errors(f"cannot rename {source} to {target}"):
            # guard: rename_never_into
            self._context(source).rename(self._path(source), self._path(target), self._refuse)

    def mkdirs(self, path: str) -> None:
        """Create a directory and its parents. A local disk refuses by returning false, HDFS by an exception."""
        with java_errors(f"cannot create {path}"):
            if not self._fs(path).mkdirs(self._path(path)):
                raise PermissionError(
                    f"cannot create {path}: the file system has refused it without a reason; check the permissions of"
                    " the directory above"
                )

    def create(self, path: str, data: bytes) -> None:
        """Write a new file and flush it to disk.

        The directory is never created: one that was renamed away from a fenced attempt must not exist again under its
        old name. FileSystem.create would create it.

        Raises:
            FileExistsError: the file exists.
            FileNotFoundError: the directory does not exist.
        """
        with java_errors(f"cannot write {path}"):
            self._calls.take(path, _WRITE + _FLUSH)
            # guard: create_in_folder
            stream = self._context(path).create(self._path(path), self._new_file, self._no_options)
            try:
                stream.write(bytearray(data))
                stream.hsync()
            finally:
                stream.close()

    def touch(self, path: str, mtime: int) -> None:
        with java_errors(f"cannot touch {path}"):
            self._fs(path).setTimes(self._path(path), mtime, -1)

    def read(self, path: str) -> bytes:
        with java_errors(f"cannot read {path}"):
            stream = self._fs(path).open(self._path(path))
            try:
                return java_bytes(self._io, stream)
            finally:
                stream.close()

    def replace(self, path: str, data: bytes) -> None:
        """Write a file, also over an existing one. For reports only: the old content may be lost."""
        with java_errors(f"cannot write {path}"):
            stream = self._fs(path, _WRITE).create(self._path(path), True)
            try:
                stream.write(bytearray(data))
            finally:
                stream.close()

    def delete_file(self, path: str) -> None:
        with java_errors(f"cannot delete {path}"):
            self._fs(path).delete(self._path(path), False)

    def delete_empty(self, path: str) -> bool:
        """Delete a directory if it is empty. The file system itself refuses to delete any other."""
        try:
            with java_errors(f"cannot delete {path}"):
                return bool(self._fs(path).delete(self._path(path), False))
        except OSError:
            return False

    def delete_tree(self, path: str) -> None:
        """Delete a directory and all that is below it. Callers pass only directories that a journal names."""
        with java_errors(f"cannot delete {path}"):
            if not self._fs(path).delete(self._path(path), True) and self.status(path) is not None:
                raise FileSystemError(
                    f"cannot delete {path}: the file system has refused it without a reason, and the path still exists"
                )

    def trash(self, path: str) -> bool:
        """Move a directory to the user's trash. Return False if the trash is switched off."""
        with java_errors(f"cannot move {path} to the trash"):
            move = self._jvm.org.apache.hadoop.fs.Trash.moveToAppropriateTrash
            return bool(move(self._fs(path, _TRASH), self._path(path), self._conf))

    def attributes(self, path: str) -> Attributes:
        with java_errors(f"cannot read the attributes of {path}"):
            return self._attributes_of(path).read(self._fs(path, 0), self._path(path), path)

    def set_attributes(self, path: str, wanted: Attributes) -> Sequence[LostAttribute]:
        with java_errors(f"cannot set the attributes of {path}"):
            return self._attributes_of(path).set_attributes(self._fs(path, 0), self._path(path), path, wanted)

    def _attributes_of(self, path: str) -> HadoopAttributes:
        return self._local if path.startswith("file:") else self._attributes

    def encryption_zone(self, path: str) -> str | None:
        if not path.startswith(_HDFS):
            return None
        with java_errors(f"cannot look up the encryption zone of {path}"):
            return self._hdfs.encryption_zone(self._fs(path), self._path(path))

    def snapshottable(self, path: str) -> bool:
        if not path.startswith(_HDFS):
            return False
        with java_errors(f"cannot find out whether {path} is snapshottable"):
            return self._hdfs.snapshottable(self._fs(path), self._path(path))

    def quota(self, path: str) -> Quota | None:
        if not path.startswith(_HDFS):
            return None
        with java_errors(f"cannot look up the quota of {path}"):
            return self._hdfs.quota(self._fs(path), self._path(path))

    def trash_enabled(self, path: str) -> bool:
        with java_errors(f"cannot find out whether the trash is switched on for {path}"):
            return bool(self._jvm.org.apache.hadoop.fs.Trash(self._fs(path), self._conf).isEnabled())

    def _context(self, path: str) -> Any:
        """Return the FileContext of a file system.

        It is kept, because a new one costs a connection, which must not happen between two renames.
        """
        server = server_of(path)
        if server not in self._contexts:
            uri = self._path(path).toUri()
            self._contexts[server] = self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(
                uri, self._conf
            )
        return self._contexts[server]

    def _path(self, path: str) -> Any:
        return self._new_path(path)

    def _fs(self, path: str, calls: int = 1) -> Any:
        """Return the Java file system of a path, kept as by Hadoop's own cache, when this many calls are allowed."""
        self._calls.take(path, calls)
        server = server_of(path)
        if server not in self._file_systems:
            self._file_systems[server] = self._path(path).getFileSystem(self._conf)
        return self._file_systems[server]

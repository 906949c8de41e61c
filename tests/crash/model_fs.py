"""A client of the model's HDFS: the jobs' FileSystem, each call an effect that may fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from spark_jobs.core.rules.quota import Quota
from spark_jobs.core.values.attributes import MODE, Attributes, LostAttribute
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.protocol.file_system import FileSystem, FileSystemError, Status
from tests.crash.fault_injection import FaultInjector
from tests.crash.model_handle import Handle, open_for_write
from tests.crash.model_rights import Rights
from tests.crash.model_tree import AUTHORITY, EXECUTE, ME, READ, WRITE, Inode, ModelTree, components

T = TypeVar("T")
TRASH = f"{AUTHORITY}/user/{ME}/.Trash/Current"


class ModelFileSystem(Rights, FileSystem):
    """Obeys what the real one was seen to do; where a call is two RPCs that matter apart, it is two points."""

    def __init__(self, tree: ModelTree, injector: FaultInjector) -> None:
        self._tree = tree
        self._injector = injector

    def _call(self, act: Callable[[], T], op: str, *args: Any) -> T:
        return self._injector.call(op, args, act, FileSystemError)

    def user(self) -> str:
        return ME

    # Looking

    def qualify(self, path: str) -> str:
        """Pure in Hadoop too: no effect, no point."""
        return (path if ":" in path else f"{AUTHORITY}{path}").rstrip("/")

    def list(self, path: str) -> Sequence[Status]:
        return self._call(lambda: self._list(path), "list", path)

    def _list(self, path: str) -> Sequence[Status]:
        inode = self._present(path)
        if not inode.is_dir:
            return [self._status(path, self._tree.find(path))]
        self._check(inode, READ | EXECUTE, path)
        return [self._status(f"{path}/{name}", number) for name, number in sorted(inode.children.items())]

    def status(self, path: str) -> Status | None:
        return self._call(lambda: self._look(path), "status", path)

    def _look(self, path: str) -> Status | None:
        return None if self._reach(path) is None else self._status(path, self._tree.find(path))

    def _status(self, path: str, number: int | None) -> Status:
        assert number is not None
        inode = self._tree.inodes[number]
        return Status(
            path,
            inode.is_dir,
            inode.length,
            inode.mtime,
            number,
            f"{inode.owner} {inode.mode:o}",
            owner=inode.owner,
            shared=_shared(inode),
        )

    def identity(self, path: str) -> str | None:
        def act() -> str | None:
            return None if self._reach(path) is None else f"hdfs:{self._tree.find(path)}"

        return self._call(act, "identity", path)

    def open_files(self, path: str, names: Sequence[str]) -> Sequence[str]:
        def act() -> list[str]:
            return [name for name in names if not self._present(f"{path}/{name}").closed]

        return self._call(act, "open_files", path)

    def encryption_zone(self, path: str) -> str | None:
        """Zones do not nest, and a path is in the one that holds it."""
        zones = self._tree.zones
        return self._call(
            lambda: next((zone for zone in zones if f"{path}/".startswith(f"{zone}/")), None),
            "encryption_zone",
            path,
        )

    def snapshottable(self, path: str) -> bool:
        return self._call(lambda: path in self._tree.snapshottable, "snapshottable", path)

    def quota(self, path: str) -> Quota | None:
        return self._call(lambda: self._tree.quotas.get(path), "quota", path)

    def read(self, path: str) -> bytes:
        def act() -> bytes:
            inode = self._present(path, READ)
            if inode.is_dir:
                raise FileNotFoundError(f"Path is not a file: {path}")
            return inode.content

        return self._call(act, "read", path)

    def trash_enabled(self, path: str) -> bool:
        return self._call(lambda: self._tree.trash_on, "trash_enabled", path)

    # Changing

    def rename(self, source: str, target: str) -> None:
        def act() -> None:
            self._takeable(source)
            self._makeable(target)
            try:
                self._tree.rename(source, target)
            except OSError as error:
                raise (FileSystemError(str(error)) if type(error) is OSError else error) from None

        self._call(act, "rename", source, target)

    def raw_rename(self, source: str, target: str) -> bool:
        """`FileSystem.rename`, for what Spark itself does and for tests: our own code must never call it."""

        def act() -> bool:
            self._takeable(source)
            self._makeable(target)
            return self._tree.raw_rename(source, target)

        return self._call(act, "raw_rename", source, target)

    def mkdirs(self, path: str) -> None:
        def act() -> None:
            if self._reach(path, NotADirectoryError) is None:
                self._makeable(path)
            self._tree.make_dirs(path)

        self._call(act, "mkdirs", path)

    def create(self, path: str, data: bytes) -> None:
        """Two points, for a process may die with the file made and nothing in it."""
        self._write(path, data, "create", overwrite=False, parents=False)

    def create_empty(self, path: str) -> None:
        """What is left of `create` where its first call alone takes effect: a file that nobody closes."""
        self._makeable(path)
        self._tree.create(path)

    def replace(self, path: str, data: bytes) -> None:
        """FileSystem.create: makes missing parents, which is what brings a folder back that was renamed away."""
        self._write(path, data, "replace", overwrite=True, parents=True)

    def _write(self, path: str, data: bytes, op: str, overwrite: bool, parents: bool) -> None:
        def act() -> Handle:
            present = self._makeable(path)
            if present is not None and overwrite and not present.is_dir:
                self._check(present, WRITE, path)
            return Handle(self._tree, self._tree.create(path, overwrite, parents))

        handle = self._call(act, op, path)
        try:
            self._call(lambda: self._fill(handle, data), f"{op}.write", path, data)
        except Exception:
            handle.close()  # as the real one's `finally` does; only death leaves a file open
            raise

    def _fill(self, handle: Handle, data: bytes) -> None:
        handle.write(data)
        handle.close()

    def open_for_write(self, path: str) -> Handle:
        """A writer's stream, not counted: writers are no part of the process under test."""
        return open_for_write(self._tree, path)

    def touch(self, path: str, mtime: int) -> None:
        def act() -> None:
            self._writable(path, self._present(path))
            self._tree.change(self._number(path), mtime=mtime)

        self._call(act, "touch", path)

    def attributes(self, path: str) -> Attributes:
        return self._call(lambda: Attributes(self._present(path).mode), "attributes", path)

    def set_attributes(self, path: str, wanted: Attributes) -> Sequence[LostAttribute]:
        """What may not be given is no error: it is for the caller to judge."""

        def act() -> list[LostAttribute]:
            inode = self._present(path)
            if inode.owner != ME or self._readonly(path):
                return [LostAttribute(MODE, f"Permission denied. user={ME} is not the owner of inode={path}")]
            self._tree.change(self._number(path), mode=wanted.mode)
            return []

        return self._call(act, "set_attributes", path)

    def delete_file(self, path: str) -> None:
        self._call(lambda: self._remove(path, recursive=False), "delete_file", path)

    def delete_empty(self, path: str) -> bool:
        """An error of the call itself reads as 'not deleted', as in the real one."""
        try:
            return self._call(lambda: self._remove(path, recursive=False), "delete_empty", path)
        except OSError:
            return False

    def delete_tree(self, path: str) -> None:
        self._call(lambda: self._remove(path, recursive=True), "delete_tree", path)

    def _remove(self, path: str, recursive: bool) -> bool:
        return self._removable(path) and self._tree.remove(path, recursive)

    def trash(self, path: str) -> bool:
        return self._call(lambda: self._trash(path), "trash", path)

    def _trash(self, path: str) -> bool:
        """What may not be deleted may not go there either, although it could be renamed to elsewhere."""
        if not self._tree.trash_on:
            return False
        self._present(path)
        try:
            self._removable(path)
        except PermissionError as error:
            raise FileSystemError(f"Failed to move to trash: {error}") from None
        folder = self._room(parent(path))
        target = f"{folder}/{name_of(path)}"
        if self._tree.find(target) is not None:
            target = f"{target}{self._tree.millis}"
        self._tree.make_dirs(folder)
        self._tree.rename(path, target)
        return True

    def _room(self, path: str) -> str:
        """The folder in the trash for what lies in `path`; a file in its way is gone round."""
        here = TRASH
        for part in components(path):
            here = f"{here}/{part}"
            present = self._tree.get(here)
            if present is not None and not present.is_dir:
                here = f"{here}{self._tree.millis}"
        return here


def _shared(inode: Inode) -> str:
    return "others" if inode.mode & 0o002 else "group" if inode.mode & 0o020 else ""

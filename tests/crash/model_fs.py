"""A client of the model's HDFS: the jobs' FileSystem, each call an effect that may fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from spark_jobs.core.attributes import MODE, Attributes, Lack
from spark_jobs.core.model import parent
from spark_jobs.core.quota import Quota
from spark_jobs.shell.ports import FileSystem, FileSystemError, Status
from tests.crash.gate import Gate
from tests.crash.model_tree import AUTHORITY, Handle, Inode, ModelTree, open_for_write

T = TypeVar("T")
TRASH = f"{AUTHORITY}/user/me/.Trash/Current"


class ModelFileSystem(FileSystem):
    """Obeys what the real one was seen to do; where a call is two RPCs that matter apart, it is two points."""

    def __init__(self, tree: ModelTree, gate: Gate) -> None:
        self._tree = tree
        self._gate = gate

    def _call(self, act: Callable[[], T], op: str, *args: Any) -> T:
        return self._gate.call(op, args, act, FileSystemError)

    def user(self) -> str:
        return "me"

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
        return [self._status(f"{path}/{name}", number) for name, number in sorted(inode.children.items())]

    def status(self, path: str) -> Status | None:
        return self._call(lambda: self._look(path), "status", path)

    def _look(self, path: str) -> Status | None:
        number = self._tree.find(path)
        return None if number is None else self._status(path, number)

    def _status(self, path: str, number: int | None) -> Status:
        assert number is not None
        inode = self._tree.inodes[number]
        return Status(path, inode.is_dir, len(inode.content), inode.mtime, number)

    def identity(self, path: str) -> str | None:
        def act() -> str | None:
            number = self._tree.find(path)
            return None if number is None else f"hdfs:{number}"

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
            inode = self._present(path)
            if inode.is_dir:
                raise FileSystemError(f"{path} is not a file")
            return inode.content

        return self._call(act, "read", path)

    def trash_enabled(self, path: str) -> bool:
        return self._call(lambda: self._tree.trash_on, "trash_enabled", path)

    # Changing

    def rename(self, source: str, target: str) -> None:
        def act() -> None:
            self._writable(parent(source), parent(target))
            try:
                self._tree.rename(source, target)
            except OSError as error:
                raise (FileSystemError(str(error)) if type(error) is OSError else error) from None

        self._call(act, "rename", source, target)

    def raw_rename(self, source: str, target: str) -> bool:
        """`FileSystem.rename`, for what Spark itself does and for tests: our own code must never call it."""

        def act() -> bool:
            self._writable(parent(source), parent(target))
            return self._tree.raw_rename(source, target)

        return self._call(act, "raw_rename", source, target)

    def mkdirs(self, path: str) -> None:
        def act() -> None:
            if self._tree.find(path) is None:
                self._writable(parent(path))
            self._tree.make_dirs(path)

        self._call(act, "mkdirs", path)

    def create(self, path: str, data: bytes) -> None:
        """Two points, for a process may die with the file made and nothing in it."""
        self._write(path, data, "create", overwrite=False, parents=False)

    def replace(self, path: str, data: bytes) -> None:
        """FileSystem.create: makes missing parents, which is what brings a folder back that was renamed away."""
        self._write(path, data, "replace", overwrite=True, parents=True)

    def _write(self, path: str, data: bytes, op: str, overwrite: bool, parents: bool) -> None:
        def act() -> Handle:
            self._writable(parent(path))
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
            self._writable(path)
            self._present(path)
            self._tree.change(self._number(path), mtime=mtime)

        self._call(act, "touch", path)

    def attributes(self, path: str) -> Attributes:
        return self._call(lambda: Attributes(self._present(path).mode), "attributes", path)

    def give(self, path: str, wanted: Attributes) -> Sequence[Lack]:
        """What may not be given is no error: it is for the caller to judge."""

        def act() -> list[Lack]:
            self._present(path)
            try:
                self._writable(path)
            except PermissionError as error:
                return [Lack(MODE, str(error))]
            self._tree.change(self._number(path), mode=wanted.mode)
            return []

        return self._call(act, "give", path)

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
        if self._tree.find(path) is None:
            return False
        self._writable(parent(path), *([path] if recursive else []))
        return self._tree.remove(path, recursive)

    def trash(self, path: str) -> bool:
        return self._call(lambda: self._trash(path), "trash", path)

    def _trash(self, path: str) -> bool:
        if not self._tree.trash_on:
            return False
        self._present(path)
        self._writable(parent(path))
        target = f"{TRASH}{path[len(AUTHORITY) :]}"
        if self._tree.find(target) is not None:
            target = f"{target}{self._tree.millis}"
        self._tree.make_dirs(parent(target))
        self._tree.rename(path, target)
        return True

    # What they share

    def _number(self, path: str) -> int:
        number = self._tree.find(path)
        if number is None:
            raise FileNotFoundError(f"{path} does not exist")
        return number

    def _present(self, path: str) -> Inode:
        return self._tree.inodes[self._number(path)]

    def _writable(self, *folders: str) -> None:
        """As with permissions of a directory: what stands in a read-only folder can be neither made nor moved."""
        for folder in folders:
            for prefix in self._tree.readonly:
                if f"{folder}/".startswith(f"{prefix}/"):
                    raise PermissionError(f"Permission denied: user=me, access=WRITE, inode={folder}")

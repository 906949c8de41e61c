"""What a client of the model's HDFS may reach, make and take away, as a NameNode decides it."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.values.model import parent
from tests.crash.model_tree import ALL, EXECUTE, ME, WRITE, Inode, ModelTree, components


class Rights:
    """Of the one user that the model has, besides those who act on the tree itself."""

    _tree: ModelTree

    def _number(self, path: str) -> int:
        number = self._tree.find(path)
        if number is None:
            raise FileNotFoundError(f"{path} does not exist")
        return number

    def _present(self, path: str, access: int = 0) -> Inode:
        inode = self._reach(path)
        if inode is None:
            raise FileNotFoundError(f"{path} does not exist")
        self._check(inode, access, path)
        return inode

    def _reach(self, path: str, blocked: type[OSError] = PermissionError) -> Inode | None:
        """What is there; `blocked` is how this kind of call meets a file that stands where a folder should."""
        inode, _ = self._way(path, blocked)
        return inode

    def _way(self, path: str, blocked: type[OSError]) -> tuple[Inode | None, Sequence[Inode]]:
        """What is there, and all that is above it as far as it is there."""
        above, inode = self._tree.trail(path), None
        if len(above) > len(components(path)):
            inode = above.pop()
        for each in above:
            if not each.is_dir:
                raise blocked(f"a part of {path} is not a directory")
            self._check(each, EXECUTE, path)
        return inode, above

    def _makeable(self, path: str) -> Inode | None:
        """May something be made there? The last folder that there is decides."""
        inode, above = self._way(path, NotADirectoryError)
        self._writable(parent(path), above[-1])
        return inode

    def _takeable(self, path: str) -> Inode | None:
        """May it be taken away? Asked before it is known whether it is there; not where its folder is missing."""
        inode, above = self._way(path, PermissionError)
        if len(above) < len(components(path)):
            return None
        self._writable(parent(path), above[-1])
        if inode is not None and above[-1].guards(inode):
            raise PermissionError(f"Permission denied by sticky bit: user={ME}, path={path}")
        return inode

    def _removable(self, path: str) -> bool:
        """Is it there? All in it must be deletable too; what an empty folder lets one do does not count."""
        if self._takeable(path) is None:
            return False
        for name, _, inode in self._tree.walk(path):
            if inode.children:
                self._check(inode, ALL, name)
                self._writable(name, inode)
        return True

    def _check(self, inode: Inode, access: int, path: str) -> None:
        if not self._tree.superuser and not inode.lets(access):
            raise PermissionError(f"Permission denied: user={ME}, access={access}, inode={path}")

    def _writable(self, path: str, inode: Inode) -> None:
        """As with permissions of a directory: what stands in a read-only folder can be neither made nor moved."""
        self._check(inode, WRITE, path)
        if self._readonly(path):
            raise PermissionError(f"Permission denied: user={ME}, access=WRITE, inode={path}")

    def _readonly(self, path: str) -> bool:
        return any(f"{path}/".startswith(f"{prefix}/") for prefix in self._tree.readonly)

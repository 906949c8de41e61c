"""The state of one HDFS, and the rules by which a NameNode changes it.

Inodes are values and a directory's children are never changed in place, so that a copy of the whole cluster costs one
shallow copy of a dictionary: the crash tests take one at every step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from spark_jobs.core.rules.quota import Quota
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.protocol.file_system import FileSystemError

AUTHORITY = "hdfs://model"
#: 2026-03-01T00:00:00Z: model time starts at a date that is plain to read in a report.
EPOCH_MS = 1_772_323_200_000
_ROOT = 1
#: Whom the jobs run as; everybody else is somebody else.
ME = "me"
READ, WRITE, EXECUTE, ALL = 4, 2, 1, 7
_STICKY = 0o1000
#: `dfs.namenode.fs-limits.max-component-length`, in bytes.
LONGEST_NAME = 255


@dataclass(frozen=True)
class Inode:
    """A file or a directory; what a reader or a listing sees of it.

    While it is written a file has the length that the NameNode was told last, however much can be read of it already.
    """

    is_dir: bool
    mtime: int
    mode: int
    children: Mapping[str, int] = field(default_factory=dict)
    content: bytes = b""
    closed: bool = True
    told: int = 0
    owner: str = ME

    @property
    def length(self) -> int:
        return len(self.content) if self.closed else self.told

    def lets(self, access: int) -> bool:
        """May I do all of this to it? There are no groups."""
        return self.mode >> (6 if self.owner == ME else 0) & access == access

    def guards(self, child: Inode) -> bool:
        """From a sticky directory only the owner of either takes anything away."""
        return bool(self.mode & _STICKY) and ME not in (self.owner, child.owner)


@lru_cache(maxsize=1 << 16)
def components(path: str) -> tuple[str, ...]:
    """The names on the way from the root; a path of another file system is a mistake of the caller."""
    if path != AUTHORITY and not path.startswith(f"{AUTHORITY}/"):
        raise ValueError(f"Wrong FS: {path}, expected: {AUTHORITY}")
    found: list[str] = []
    for part in path[len(AUTHORITY) :].split("/"):
        if part == ".." and found:
            found.pop()  # as Hadoop's `Path` does before any server sees it
        elif part not in ("", "."):
            found.append(part)
    return tuple(found)


class ModelTree:
    """Inodes by id, and the NameNode's clock. Ids are never reused.

    `version` grows with every change. `readonly` are folders that clients of the jobs may not change; writers, who act
    on the tree itself, may. `zones` are roots of encryption zones; `quotas` are said, and not enforced.
    """

    def __init__(self) -> None:
        self.millis = EPOCH_MS
        self.inodes: dict[int, Inode] = {_ROOT: Inode(True, self.millis, 0o755)}
        self.next_id = _ROOT + 1
        self.version = 0
        self.readonly: frozenset[str] = frozenset()
        self.trash_on = True
        self.superuser = False
        self.zones: frozenset[str] = frozenset()
        self.snapshottable: frozenset[str] = frozenset()
        self.quotas: Mapping[str, Quota] = {}

    def copy(self) -> ModelTree:
        twin = ModelTree.__new__(ModelTree)
        twin.__dict__.update(self.__dict__)
        twin.inodes = dict(self.inodes)
        return twin

    def digest(self) -> str:
        """Equal for trees that differ in times only.

        Ids count: journals quote them, and the runs are deterministic.
        """
        seen = hashlib.blake2b(digest_size=16)
        for path, number, inode in self.walk(AUTHORITY):
            line = (path, number, inode.is_dir, inode.content, inode.mode, inode.closed, inode.length)
            seen.update(repr(line).encode())
        return seen.hexdigest()

    # Looking

    def find(self, path: str) -> int | None:
        """The inode's id, or None where there is nothing."""
        number = _ROOT
        for part in components(path):
            child = self.inodes[number].children.get(part)
            if child is None:
                return None
            number = child
        return number

    def get(self, path: str) -> Inode | None:
        number = self.find(path)
        return None if number is None else self.inodes[number]

    def trail(self, path: str) -> list[Inode]:
        """The root, and what is on the way to a path as far as it is there; itself included."""
        found = [self.inodes[_ROOT]]
        for part in components(path):
            child = found[-1].children.get(part)
            if child is None:
                break
            found.append(self.inodes[child])
        return found

    def walk(self, path: str) -> Iterator[tuple[str, int, Inode]]:
        """`path` and all below it, by name, a folder before what it holds."""
        number = self.find(path)
        if number is not None:
            yield from self._walk(path, number)

    def _walk(self, path: str, number: int) -> Iterator[tuple[str, int, Inode]]:
        inode = self.inodes[number]
        yield path, number, inode
        for name in sorted(inode.children):
            yield from self._walk(f"{path}/{name}", inode.children[name])

    def files(self, path: str) -> list[tuple[str, Inode]]:
        """(name, inode) of the files right in a directory; none where it is missing."""
        folder = self.get(path)
        children = sorted(folder.children.items()) if folder else []
        return [(name, self.inodes[n]) for name, n in children if not self.inodes[n].is_dir]

    # Changing

    def tick(self, millis: int = 1) -> int:
        """Time goes on with every act, so that no two have the same time."""
        self.millis += millis
        return self.millis

    def change(self, number: int, **changes: object) -> None:
        """Puts another value in an inode's place; FileNotFoundError where it was deleted."""
        if number not in self.inodes:
            raise FileNotFoundError(f"inode {number} does not exist: the file was deleted")
        self.version += 1
        self.inodes[number] = replace(self.inodes[number], **changes)  # type: ignore[arg-type]

    def make_dirs(self, path: str) -> int:
        """Makes a directory and its parents, as `mkdirs` and the recursive `create` do."""
        number, here = _ROOT, AUTHORITY
        for part in components(path):
            here = f"{here}/{part}"
            child = self.inodes[number].children.get(part)
            number = self._add(number, part, Inode(True, self.millis, 0o755)) if child is None else child
            if not self.inodes[number].is_dir:
                raise (FileExistsError if here == path else NotADirectoryError)(f"{here} is a file")
        return number

    def create(self, path: str, overwrite: bool = False, parents: bool = False) -> int:
        """An empty file, open for its writer."""
        folder = self.make_dirs(parent(path)) if parents else self._folder(path)
        present = self.get(path)
        if present is not None:
            if present.is_dir or not overwrite:
                raise FileExistsError(f"{path} exists")
            self.remove(path)
        return self._add(folder, name_of(path), Inode(False, self.millis, 0o644, closed=False))

    def write(self, path: str, data: bytes, overwrite: bool = False, parents: bool = False) -> int:
        """A whole file, closed."""
        number = self.create(path, overwrite, parents)
        self.change(number, content=data, closed=True)
        return number

    def rename(self, source: str, target: str) -> None:
        """`FileContext.rename` with NONE: never onto anything, an empty directory included."""
        number = self.find(source)
        if number is None:
            raise FileNotFoundError(f"rename source {source} is not found")
        if target != source and f"{target}/".startswith(f"{source}/"):
            raise OSError(f"rename destination {target} is below its source {source}")
        present = self.get(target)
        if present is not None:
            if present.is_dir != self.inodes[number].is_dir:
                raise OSError(f"rename source {source} and destination {target} must be of the same kind")
            raise FileExistsError(f"rename destination {target} already exists")
        folder = self._folder(target)
        self._unlink(source)
        self._link(folder, name_of(target), number)

    def raw_rename(self, source: str, target: str) -> bool:
        """`FileSystem.rename`: moves *into* a directory that exists, calls that success, and else only says no."""
        present = self.get(target)
        if present is not None and present.is_dir:
            target = f"{target}/{name_of(source)}"
        try:
            self.rename(source, target)
        except OSError:
            return False
        return True

    def remove(self, path: str, recursive: bool = False) -> bool:
        """`FileSystem.delete`: False where there is nothing; refuses a full directory unless told."""
        number = self.find(path)
        if number is None:
            return False
        if self.inodes[number].children and not recursive:
            raise FileExistsError(f"{path} is not empty")
        gone = [each for _, each, _ in self.walk(path)]
        self._unlink(path)
        for each in gone:
            del self.inodes[each]
        return True

    def _folder(self, path: str) -> int:
        """The directory that is to hold `path`; it is never made here."""
        number = self.find(parent(path))
        if number is None:
            raise FileNotFoundError(f"the parent of {path} does not exist")
        if not self.inodes[number].is_dir:
            raise NotADirectoryError(f"the parent of {path} is a file")
        return number

    def _add(self, folder: int, name: str, inode: Inode) -> int:
        number, self.next_id = self.next_id, self.next_id + 1
        self.inodes[number] = inode
        self._link(folder, name, number)
        return number

    def _link(self, folder: int, name: str, number: int) -> None:
        if len(name.encode(errors="surrogatepass")) > LONGEST_NAME:
            raise FileSystemError(f"The maximum path component name limit of {name} is exceeded")
        self._hold(folder, {**self.inodes[folder].children, name: number})

    def _unlink(self, path: str) -> None:
        folder = self._folder(path)
        children = dict(self.inodes[folder].children)
        del children[name_of(path)]
        self._hold(folder, children)

    def _hold(self, folder: int, children: Mapping[str, int]) -> None:
        """By itself a directory's time goes forwards only."""
        self.change(folder, children=children, mtime=max(self.millis, self.inodes[folder].mtime))

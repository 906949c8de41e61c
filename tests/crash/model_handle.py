"""A writer's open file in the model's HDFS."""

from __future__ import annotations

from tests.crash.model_tree import ModelTree


class Handle:
    """A writer's open file. It follows the inode, whatever its directory is called by now."""

    def __init__(self, tree: ModelTree, number: int) -> None:
        self._tree = tree
        self._number = number
        self._buffer = b""

    def on(self, tree: ModelTree) -> Handle:
        """The same open file in a copy of the tree."""
        twin = Handle(tree, self._number)
        twin._buffer = self._buffer
        return twin

    def write(self, data: bytes) -> None:
        self._buffer += data

    def hflush(self) -> None:
        """From now on it can be read. Until the first time its length was 0 to everybody else, and later it is
        what it was then; its time stays."""
        present = self._tree.inodes.get(self._number)
        content = (present.content if present else b"") + self._buffer
        told = (present.told if present else 0) or len(content)
        self._tree.change(self._number, content=content, told=told)
        self._buffer = b""

    def hsync(self) -> None:
        """Tells the length anew, if asked to (`SyncFlag.UPDATE_LENGTH`)."""
        self.hflush()
        self._tree.change(self._number, told=len(self._tree.inodes[self._number].content))

    def close(self) -> None:
        """Raises FileNotFoundError where somebody deleted the file: its writer must not think it committed."""
        self.hflush()
        self._tree.change(self._number, closed=True, mtime=self._tree.tick())


def open_again(tree: ModelTree, path: str) -> Handle:
    """A closed file as `append` opens it: until something is flushed, a listing shows it as it was."""
    number = tree.find(path)
    assert number is not None
    tree.change(number, closed=False, told=tree.inodes[number].length)
    return Handle(tree, number)


def open_for_write(tree: ModelTree, path: str) -> Handle:
    """A new file as a writer opens it: missing parents are made, as Spark's tasks do."""
    tree.tick()
    return Handle(tree, tree.create(path, parents=True))

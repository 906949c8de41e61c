"""Trees of files on a local disk: put back as they were, read into the page cache, counted."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path


def restore(seed: Path, target: Path) -> None:
    """Make `target` a tree of hard links to the files of `seed`; what is there is deleted.

    The files are the same, with their times and their pages in memory. Nobody who rewrites a table changes a file in
    place, so that the seed stays as it is.
    """
    shutil.rmtree(target, ignore_errors=True)
    _link(str(seed), str(target))


def _link(source: str, target: str) -> None:
    os.makedirs(target)  # noqa: PTH103 - a hundred thousand files: without Path this takes half the time
    with os.scandir(source) as entries:
        for entry in entries:
            path = f"{target}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                _link(entry.path, path)
            else:
                os.link(entry.path, path)
    shutil.copystat(source, target)


def warm(root: Path) -> None:
    """Read all files once, and write back what is dirty: every step finds the page cache in the same state.

    A file that is gone when its turn comes is left out: a DataNode deletes blocks some time after their file.
    """
    os.sync()
    for folder, _, names in os.walk(root):
        for name in names:
            with (
                contextlib.suppress(FileNotFoundError),
                open(f"{folder}/{name}", "rb", buffering=0) as file,  # noqa: PTH123
            ):
                while file.read(1 << 20):
                    pass


def age(root: Path) -> None:
    """Set the times of all directories to two hours ago. What was found in a directory is kept if it is an hour old."""
    then = time.time() - 7200
    for folder, _, _ in os.walk(root):
        os.utime(folder, (then, then))


def figures(root: Path) -> dict[str, tuple[int, int]]:
    """Return files and bytes of each directory with visible files, by its path relative to `root`."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if _is_visible(name)]
        sizes = [os.path.getsize(f"{folder}/{name}") for name in names if _is_visible(name)]  # noqa: PTH202
        if sizes:
            found[os.path.relpath(folder, root)] = (len(sizes), sum(sizes))
    return found


def count_in(folder: str) -> int:
    """Return the number of visible files in a directory, and not below it."""
    with os.scandir(folder) as entries:
        return sum(entry.is_file() and _is_visible(entry.name) for entry in entries)


def _is_visible(name: str) -> bool:
    return not name.startswith((".", "_"))

"""The directories above a unit's path in the working directories of a run, such as `<run>/__originals_<stamp>/d=1`.

A user without access to the directories above a partition has none to those above its originals, wherever they are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from spark_jobs.core.values.attributes import ACL, GROUP, MODE, LostAttribute, check_lost
from spark_jobs.core.values.layout import working_directory_above
from spark_jobs.core.values.model import parent
from spark_jobs.protocol.file_system import FileSystem

log = logging.getLogger("lakekeeper")

#: The mode of a directory that only its owner may read.
CLOSED = 0o700
#: The mode bits without which the owner could not write into a directory.
WRITABLE = 0o300
#: Kinds of attributes that decide who else may read.
_ACCESS = (GROUP, MODE, ACL)

#: Judges the attributes of a directory that cannot be set on another one. It returns warnings, or raises a Refusal.
Judge = Callable[[Sequence[LostAttribute], str], Sequence[str]]


class WorkingDirectories:
    """Creates the directories above paths in a run, each one once, with the attributes of those above another path.

    A directory is created before the record that announces renames into it. If it is gone later, because the run was
    taken over, those renames fail.

    Args:
        judge: None: a directory on which an attribute that decides who may read cannot be set is closed to all but its
            owner.
    """

    def __init__(self, fs: FileSystem, judge: Judge | None = None) -> None:
        self._fs = fs
        self._judge = judge
        self._created: set[str] = set()

    def create_above(self, path: str, run_directory: str, like: str) -> list[str]:
        """Create the directories above a path in a working directory of a run. Return warnings.

        Args:
            like: the path from which a directory is moved there, or that it is written for. What is above it has the
                attributes; the working directory itself stands for the directory of the home.

        Raises:
            Refusal: ATTRIBUTES, an attribute cannot be set.
        """
        target, source = parent(path), parent(like)
        if target in self._created:
            return []
        top = target == working_directory_above(path, run_directory)
        warnings = [] if top else self.create_above(target, run_directory, source)
        self._fs.mkdirs(target)
        if not top:
            warnings += self._copy_attributes(source, target)  # guard: closed_folders
        self._created.add(target)
        return warnings

    def _copy_attributes(self, source: str, target: str) -> Sequence[str]:
        if self._judge is not None:
            return self._judge(self._lost(source, target), source)
        try:
            unlike = any(item.kind in _ACCESS for item in self._lost(source, target))
        except FileNotFoundError:
            unlike = True  # The directories above the live one were deleted. Nobody is known who may read this one.
        if unlike:
            self._close(target)  # guard: closed_if_unlike
        return []

    def _lost(self, source: str, target: str) -> Sequence[LostAttribute]:
        attributes = self._fs.attributes(source)
        return self._fs.set_attributes(target, replace(attributes, mode=attributes.mode | WRITABLE))

    def _close(self, directory: str) -> None:
        """Close a directory to all but its owner.

        One of another account is left as it is: that account has created it, and has given it its attributes.

        Raises:
            Refusal: ATTRIBUTES, it cannot be closed.
        """
        now = self._fs.attributes(directory)
        lost = self._fs.set_attributes(directory, replace(now, mode=CLOSED, acl=()))
        if now.owner not in (None, self._fs.user()):
            log.warning(
                "%s belongs to %s and is not as its original: see who may read it", directory, now.owner
            )
            return
        check_lost(lost, "require", directory)
        log.warning(
            "%s is closed to other accounts: it cannot have the attributes of its original", directory
        )

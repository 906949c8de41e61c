"""Identities and attributes of files on a local disk, by the operating system.

Without its native library, Hadoop starts a program (`ls`, `chmod`, `chown`) for each of them.
"""

from __future__ import annotations

import grp
import pwd
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark_jobs.adapters.hadoop.hadoop_attributes import HadoopAttributes
from spark_jobs.core.values.attributes import Attributes

#: Hadoop's FsPermission has no bits for setuid and setgid: they are neither read nor changed.
_SPECIAL = 0o6000


def local_identity(uri: str) -> str | None:
    """Return device and inode of a path; None if it does not exist."""
    try:
        status = local_path(uri).stat()
    except FileNotFoundError:
        return None
    return f"local:{status.st_dev}:{status.st_ino}"


def local_path(uri: str) -> Path:
    return Path("/" + uri[len("file:") :].lstrip("/"))


class LocalAttributes(HadoopAttributes):
    """The attributes of paths on a local disk: owner, group and mode. Hadoop's client knows no others there."""

    def read(self, fs: Any, path: Any, uri: str) -> Attributes:  # noqa: ARG002
        status = local_path(uri).stat()
        return Attributes(
            mode=status.st_mode & ~_SPECIAL & 0o7777,
            owner=_name_of(status.st_uid, lambda number: pwd.getpwuid(number).pw_name),
            group=_name_of(status.st_gid, lambda number: grp.getgrgid(number).gr_name),
            replication=None if stat.S_ISDIR(status.st_mode) else 1,
        )

    def _set_mode(self, fs: Any, path: Any, uri: str, mode: int) -> None:  # noqa: ARG002
        local = local_path(uri)
        local.chmod(mode | local.stat().st_mode & _SPECIAL)

    def _set_owner(self, fs: Any, path: Any, uri: str, owner: str | None, group: str | None) -> None:  # noqa: ARG002
        place = local_path(uri)
        if owner is not None:
            shutil.chown(place, user=owner)
        if group is not None:
            shutil.chown(place, group=group)


def _name_of(number: int, look_up: Callable[[int], str]) -> str:
    try:
        return look_up(number)
    except KeyError:
        return str(number)

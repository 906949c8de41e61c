"""Renames directories and files on a local disk by one call of the operating system.

Hadoop's client starts several programs (`readlink`) for each rename. It looks for the target first, and renames then.
The call of Linux refuses an existing target itself, so that no writer can create one in between.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import logging
import os
from collections.abc import Callable
from pathlib import Path

from spark_jobs.adapters.hadoop.local_files import local_path
from spark_jobs.protocol.file_system import FileSystemError

log = logging.getLogger("lakekeeper")

_HERE = -100  # AT_FDCWD: relative paths are below the current directory
_NO_REPLACE = 1
#: This system, or the file system of the path, does not know the call or the flag. Nothing was renamed.
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


def _system_call() -> Callable[..., int] | None:
    try:
        function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    except (OSError, TypeError):
        return None
    return function if callable(function) else None


_RENAME = _system_call()


def rename_locally(source: str, target: str) -> bool:
    """Rename a directory or a file on a local disk. The checksums that Hadoop keeps beside a file move with it.

    Returns:
        Whether it was renamed. If not, Hadoop's client has to do it, or to refuse it: the source does not exist, source
        and target are not of one kind, or the operating system cannot refuse a target that exists.

    Raises:
        FileExistsError: the target exists.
        FileNotFoundError: the parent of the target does not exist.
    """
    here, there = local_path(source), local_path(target)
    is_directory = here.is_dir()
    if _RENAME is None or not (is_directory or here.is_file()):
        return False
    # guard: local_rename_never_over
    if _RENAME(_HERE, os.fsencode(here), _HERE, os.fsencode(there), ctypes.c_uint(_NO_REPLACE)) != 0:
        code = ctypes.get_errno()
        if code in _UNKNOWN or (code == errno.EEXIST and there.is_dir() != is_directory):
            return False
        raise _error(code, f"cannot rename {source} to {target}: {os.strerror(code)}")
    if not is_directory:
        _move_checksums(here, there)
    return True


def _move_checksums(here: Path, there: Path) -> None:
    """Move the checksums of a file that was renamed. Those of an older file at the target would make it unreadable.

    A file without checksums is read as it is, so that a kill between the renames loses nothing. An error must not look
    like one of the rename, which was executed.
    """
    try:
        _checksums(there).unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            _checksums(here).rename(_checksums(there))
    except OSError as error:
        log.warning("%s was renamed, but not its checksums: %s", there, error)


def _checksums(file: Path) -> Path:
    """Return where Hadoop's `ChecksumFileSystem` keeps the checksums of a file."""
    return file.with_name(f".{file.name}.crc")


def _error(code: int, text: str) -> OSError:
    """Return the exception that Hadoop's client would have caused."""
    kind = type(OSError(code, text))
    return FileSystemError(text) if kind is OSError else kind(text)

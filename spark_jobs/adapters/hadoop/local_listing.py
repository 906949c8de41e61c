"""Lists directories on a local disk by the operating system.

Hadoop's client takes several calls of the system for each file, and two seconds for 65,000 files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any

from spark_jobs.adapters.hadoop.local_files import local_path
from spark_jobs.core.values.garbage import rarely_collected
from spark_jobs.protocol.file_system import Status

#: Before this version, Java reads modification times in seconds. They must be the same as those that Spark lists.
_JAVA_WITH_MILLISECONDS = 11
_NS_PER_MS = 1_000_000


def has_milliseconds(jvm: Any) -> bool:
    """Tell whether Java reads modification times in milliseconds."""
    version = str(jvm.java.lang.System.getProperty("java.specification.version"))
    return not version.startswith("1.") and int(version) >= _JAVA_WITH_MILLISECONDS


def list_locally(uri: str) -> list[Status] | None:
    """Return the entries of a directory as Hadoop's client lists them.

    Returns:
        None if Hadoop's client has to list it, or to say what is wrong: it is no directory, it cannot be read, its
        path is no normal one, or a name is no text in UTF-8.
    """
    directory = local_path(uri)
    if ".." in directory.parts:
        return None
    try:
        with rarely_collected():
            return list(_entries(str(directory)))
    except (OSError, UnicodeError):
        return None


def _entries(directory: str) -> Iterator[Status]:
    prefix = f"file:{directory.rstrip('/')}/"
    with os.scandir(directory) as found:
        for entry in found:
            name = entry.name
            if _is_checksum(name):
                continue
            name.encode()
            try:
                status = entry.stat()
            except FileNotFoundError:  # removed meanwhile, or a link to nothing
                continue
            yield Status(
                prefix + name,
                stat.S_ISDIR(status.st_mode),
                status.st_size,
                status.st_mtime_ns // _NS_PER_MS,
                replication=1,
                link=entry.is_symlink(),
            )


def _is_checksum(name: str) -> bool:
    """Tell whether this is a file with the checksums of another one, which `ChecksumFileSystem` does not list."""
    return name.startswith(".") and name.endswith(".crc")

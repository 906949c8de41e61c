"""Finds the file that could not be read: Spark 3 names it for Parquet only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JJavaError

from spark_jobs.adapters.hadoop.java_errors import root_cause

log = logging.getLogger("lakekeeper")

#: Classes of first causes that say nothing of a file: the cluster or the network failed, or the job was cancelled.
_NOT_OF_A_FILE = (
    "java.lang.InterruptedException",
    "java.lang.OutOfMemoryError",
    "java.net.",
    "java.nio.channels.",
    "java.util.concurrent.",
    "org.apache.hadoop.",
    "org.apache.spark.",
)
#: Reads these files, and raises what Spark raises.
Read = Callable[[Sequence[str]], None]


def unreadable(error: Exception, files: Sequence[str], read: Read | None) -> str | None:
    """Return the URI of a file that cannot be read; None if it is not known, or the error is another one.

    Where no message names it, the files are read again, in halves.

    Args:
        read: None if they cannot be read in another way.
    """
    named = [file for text in _messages(error) for file in files if _path(file) in text]
    if named:
        # The name of one file may begin with that of another one.
        return max(named, key=len)
    if read is None or root_cause(error)[0].startswith(_NOT_OF_A_FILE):
        return None
    log.info("the files are read again, to find the one that cannot be read: %s", root_cause(error)[1])
    return _by_halves(files, read)


def _by_halves(files: Sequence[str], read: Read) -> str | None:
    if not _fails(files, read):
        return None
    while len(files) > 1:
        half = files[: len(files) // 2]
        files = half if _fails(half, read) else files[len(files) // 2 :]
    return files[0]


def _fails(files: Sequence[str], read: Read) -> bool:
    try:
        read(files)
    except Exception:
        return True
    return False


def _messages(error: Exception) -> Iterator[str]:
    """Yield the messages of a Java error and of its causes, also of PySpark's own error classes."""
    java: Any = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    while java is not None:
        yield str(java.getMessage() or "")
        java = java.getCause()


def _path(file: str) -> str:
    """Return the path of a file as messages have it."""
    return unquote(urlparse(file).path)

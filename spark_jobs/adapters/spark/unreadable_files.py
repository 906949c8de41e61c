"""Finds the file that could not be read: Spark 3 names it for Parquet only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from urllib.parse import unquote, urlparse

from spark_jobs.adapters.hadoop.content_errors import may_be_of_a_file
from spark_jobs.adapters.hadoop.java_errors import causes, root_cause

log = logging.getLogger("lakekeeper")

#: Reads these files, and raises what Spark raises.
Read = Callable[[Sequence[str]], None]


def unreadable(error: Exception, files: Sequence[str], read: Read | None) -> str | None:
    """Return the URI of a file that cannot be read; None if it is not known, or the error is another one.

    Where no message names it, the files are read again, in halves.

    Args:
        read: None if they cannot be read in another way.
    """
    texts = [str(java.getMessage() or "") for java in causes(error)]
    named = [file for text in texts for file in files if _path(file) in text]
    if named:
        # The name of one file may begin with that of another one.
        return max(named, key=len)
    if read is None or not may_be_of_a_file(error):
        return None
    log.info("the files are read again, to find the one that cannot be read: %s", root_cause(error)[1])
    return _by_halves(files, read)


class _OtherError(Exception):
    """While the files were read again, the cluster has failed: that tells nothing of them."""


def _by_halves(files: Sequence[str], read: Read) -> str | None:
    """Return the file that fails by itself too; None if there is none, or if the cluster fails meanwhile."""
    try:
        while len(files) > 1:
            half = files[: len(files) // 2]
            files = half if _fails(half, read) else files[len(files) // 2 :]
        return files[0] if _fails(files, read) else None  # guard: fails_alone
    except _OtherError:
        return None


def _fails(files: Sequence[str], read: Read) -> bool:
    try:
        read(files)
    except Exception as error:
        if not may_be_of_a_file(error):  # guard: cluster_tells_nothing_of_files
            raise _OtherError from error
        return True
    return False


def _path(file: str) -> str:
    """Return the path of a file as messages have it."""
    return unquote(urlparse(file).path)

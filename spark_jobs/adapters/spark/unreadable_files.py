"""Finds the file that could not be read: Spark 3 names it for Parquet only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from spark_jobs.adapters.hadoop.content_errors import may_be_of_a_file
from spark_jobs.adapters.hadoop.java_errors import causes, root_cause
from spark_jobs.adapters.spark.file_index import without_server

log = logging.getLogger("lakekeeper")

#: Reads these files, and raises what Spark raises.
Read = Callable[[Sequence[str]], None]


def unreadable(error: Exception, files: Sequence[str], read: Read | None) -> str | None:
    """Return the URI of a file that cannot be read; None if it is not known, or the error is another one.

    Where no message names it, the files are read again, in halves.

    Args:
        read: None if they cannot be read in another way.
    """
    named = _named(error, files)
    if read is None or not may_be_of_a_file(error):
        return named
    # Messages do not write all names as they are, so that another one may seem to be in them.
    if named is not None and by_halves([named], read, may_be_of_a_file):  # guard: named_file_fails
        return named
    log.info("the files are read again, to find the one that cannot be read: %s", root_cause(error)[1])
    return by_halves(files, read, may_be_of_a_file)


def _named(error: Exception, files: Sequence[str]) -> str | None:
    """Return the file whose name is in a message; None if there is none, or if another file's name begins with it."""
    texts = [str(java.getMessage() or "") for java in causes(error)]
    named = max(
        (file for file in files if any(without_server(file) in text for text in texts)), key=len, default=None
    )
    if named is None or any(file != named and file.startswith(named) for file in files):
        return None
    return named


class _OtherError(Exception):
    """While the files were read again, the cluster has failed: that tells nothing of them."""


def by_halves(files: Sequence[str], read: Read, is_of_file: Callable[[Exception], bool]) -> str | None:
    """Return the file that fails by itself too; None if there is none, or if the cluster fails meanwhile.

    Args:
        is_of_file: tells whether an error may be about one of the files that were read.
    """
    try:
        while len(files) > 1:
            half = files[: len(files) // 2]
            files = half if _fails(half, read, is_of_file) else files[len(files) // 2 :]
        return files[0] if _fails(files, read, is_of_file) else None  # guard: fails_alone
    except _OtherError:
        return None


def _fails(files: Sequence[str], read: Read, is_of_file: Callable[[Exception], bool]) -> bool:
    try:
        read(files)
    except Exception as error:
        if not is_of_file(error):  # guard: cluster_tells_nothing_of_files
            raise _OtherError from error
        return True
    return False

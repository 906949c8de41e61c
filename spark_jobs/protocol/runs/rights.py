"""What a person does where the account of the job may not write: the account may have been changed since a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spark_jobs.core.messages.commands import hdfs_path, word
from spark_jobs.protocol.file_system import RecordFiles


@contextmanager
def writing_in(fs: RecordFiles, folder: str, *, with_content: bool = False) -> Iterator[None]:
    """Name the command that ends it where a directory that belongs to another account cannot be written to.

    Args:
        with_content: the job needs what is in the directory, too.
    """
    try:
        yield
    except PermissionError as error:
        way_out = _way_out(fs, folder, "-R " if with_content else "")
        raise PermissionError(f"{error}{way_out}") from None


def _way_out(fs: RecordFiles, folder: str, recursive: str) -> str:
    """Return nothing for a directory that is missing, or that belongs to the account of the job."""
    try:
        found, user = fs.status(folder), fs.user()
    except OSError:
        return ""
    if found is None or found.owner in ("", user):
        return ""
    also = ", and with it the originals that a rollback restores" if recursive else ""
    return (
        f". {folder} belongs to {found.owner}: run the job as that account, or give the directory to {user}"
        f" (hdfs dfs -chown {recursive}{word(user)} {hdfs_path(folder)}){also}"
    )

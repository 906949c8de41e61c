"""What a person does where the account of the job may not write: the account may have been changed since a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spark_jobs.core.messages.remedies.accounts import not_writable
from spark_jobs.protocol.file_system import RecordFiles


@contextmanager
def writing_in(fs: RecordFiles, directory: str, *, with_content: bool = False) -> Iterator[None]:
    """Name the command that ends it where a directory that belongs to another account cannot be written to.

    Args:
        with_content: the job needs what is in the directory, too.
    """
    try:
        yield
    except PermissionError as error:
        remedy = _remedy(fs, directory, with_content=with_content)
        raise PermissionError(f"{error}{remedy}") from None


def _remedy(fs: RecordFiles, directory: str, *, with_content: bool) -> str:
    """Return nothing for a directory that is missing, or that belongs to the account of the job."""
    try:
        status, user = fs.status(directory), fs.user()
    except OSError:
        return ""
    if status is None or status.owner in ("", user):
        return ""
    return not_writable(directory, status.owner, user, with_content=with_content)

"""What the account of the job may not read: the unit, or the table, is refused, and no other one fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode


def not_readable(error: PermissionError) -> Refusal:
    """Return the refusal of what may not be read. It is never remembered: it may be granted at any time."""
    return Refusal(
        RefusalCode.NOT_READABLE, f"{error}. Grant the account of the job the permission to list and read it"
    )


@contextmanager
def reading() -> Iterator[None]:
    """Translate the error of a path that may not be read into a refusal."""
    try:
        yield
    except PermissionError as error:
        raise not_readable(error) from None

"""Units that the job may not touch: what its account may not read, and symbolic links."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import parent
from spark_jobs.protocol.planning.listed_directories import Directories


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


def check_no_link(directories: Directories, location: str) -> None:
    """Raise Refusal for a unit that is a symbolic link.

    A swap would rename the link. A relative one leads nowhere then, and what others write where it has led would be in
    no table any more.
    """
    entry = directories(parent(location)).by_path.get(location)
    if entry is not None and entry.link:  # guard: units_are_no_links
        raise Refusal(
            RefusalCode.SYMLINK,
            f"{location} is a symbolic link, which a swap would rename instead of the files. Set the location to the"
            " directory itself",
        )

"""Units whose directory is a symbolic link of a local disk."""

from __future__ import annotations

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import parent
from spark_jobs.protocol.planning.listed_directories import Directories


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

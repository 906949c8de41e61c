"""What Lakekeeper 0.0.6 has left beside the data of a table, for who asks for it here."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.values.legacy_leftovers import described, described_all, is_leftover_of
from spark_jobs.core.values.model import Unit, parent
from spark_jobs.protocol.file_system import DataDirectories

#: At most this many directories are listed for a hint, which a cleanup gives each night; those beside the units first.
_MOST = 200


def kept_by_lakekeeper_0_0_6(fs: DataDirectories, units: Iterable[Unit]) -> str | None:
    """Return a sentence about what Lakekeeper 0.0.6 has left of these units; None if that is nothing."""
    paths = [unit.location for unit in units]
    locations = frozenset(paths)
    beside_and_inside = dict.fromkeys([*map(parent, paths), *paths])
    for directory in list(beside_and_inside)[:_MOST]:
        try:
            left = leftovers_in(fs, directory, locations)
        except OSError:
            continue  # It is only a hint.
        if left:
            return described_all(left)
    return None


def leftovers_in(fs: DataDirectories, directory: str, locations: Collection[str]) -> list[str]:
    """Return what Lakekeeper 0.0.6 has left of these units in a directory, which may be missing.

    Raises:
        OSError: the directory cannot be listed.
    """
    try:
        directories = [entry.path for entry in fs.list(directory) if entry.is_dir]
    except FileNotFoundError:
        return []
    return [path for path in directories if is_leftover_of(path, locations)]


def leftovers_beside(fs: DataDirectories, live: str) -> list[str]:
    """Return what Lakekeeper 0.0.6 has left beside a live directory, which may be missing. Raise OSError as above."""
    return leftovers_in(fs, parent(live), [live])


def check_nothing_left(fs: DataDirectories, live: str) -> None:
    """Raise LakekeeperError if a live directory is missing because that program has moved it: newer rows are there.

    Older ones in its place would be read as the table, and nothing would tell that rows are missing.
    """
    left = leftovers_beside(fs, live)
    if left:  # guard: nothing_beside_leftovers
        raise LakekeeperError(f"{live} does not exist; {described(left)}")

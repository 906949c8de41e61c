"""What a person may do about a run whose journal cannot be read: its directory may hold the only files of a unit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from spark_jobs.core.layout import Home, working_folder
from spark_jobs.core.model import parent
from spark_jobs.protocol.file_system import FileSystem

_AWAY = "<a directory outside the table>"


def only_originals(fs: FileSystem, folder: str, locations: Collection[str]) -> dict[str, str]:
    """Return the originals below a run's directory whose live directory is missing: the first rename took it away.

    Args:
        folder: the URI of the run's directory.
        locations: the locations that the metastore has. Anything else was dropped, and is nobody's live directory.

    Returns:
        By the path of the missing live directory, the path of its originals.
    """
    home = Home(parent(folder))
    old = [entry.path for entry in fs.list(folder) if entry.is_dir and working_folder(entry.name) == "old"]
    found = {_live(home, base, path): path for base in old for path in _with_files(fs, base)}
    return {live: path for live, path in found.items() if live in locations and fs.status(live) is None}


def _live(home: Home, base: str, path: str) -> str:
    """Return the live directory of originals at `path`, as the layout of a run has it."""
    return f"{home.base}/{home.directory or path[len(base) + 1 :]}"


def _with_files(fs: FileSystem, folder: str) -> Iterator[str]:
    """Return the directories below a folder that hold files."""
    entries = fs.list(folder)
    if any(not entry.is_dir for entry in entries):
        yield folder
    for entry in entries:
        if entry.is_dir:
            yield from _with_files(fs, entry.path)


def commands(folder: str, originals: Mapping[str, str]) -> str:
    """Return the commands after which the jobs work again: put back what only this run has, then move it away."""
    back = [f"hdfs dfs -mv '{path}' '{live}'" for live, path in originals.items()]
    return " && ".join([*back, f"hdfs dfs -mv '{folder}' {_AWAY}"])


def way_out(folder: str, originals: Mapping[str, str]) -> str:
    """Return what a message says of a run that cannot be read."""
    if not originals:
        return f"To go on without this run, move its directory, with all that it holds, away: {commands(folder, {})}"
    live = next(iter(originals))
    return (
        f"The files of {live}, which is missing, are only in {originals[live]}. To go on without this run, put them"
        f" back, and then move its directory away: {commands(folder, originals)}"
    )

"""Deletes what a run does not need any more: rewritten directories that are not live, and empty working directories.

A table may have thousands of partitions. So what exists is found by the listings of the directories above, and not by
asking for each one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values import layout
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.protocol.file_system import DataDirectories
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.late_files import delete_own_files

log = logging.getLogger("lakekeeper")

Mapper = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


def delete_rewritten(
    fs: DataDirectories, directory: str, swaps: Sequence[Swap], mapper: Mapper = map
) -> None:
    """Delete the rewritten directories of these swaps. Only unchanged files of the run are deleted.

    Args:
        directory: the run's directory under its current name.
        mapper: processes several directories at the same time.
    """
    places = [(swap, f"{directory}/{path}") for swap in swaps for path in (swap.new, swap.aside)]
    if len(swaps) > 1:
        above = {parent(path) for _, path in places}
        there = {path for directory in sorted(above) for path in _directories(fs, directory)}
        places = [(swap, path) for swap, path in places if path in there]
    for _ in mapper(partial(_delete_rewritten, fs), places):
        pass


def _directories(fs: DataDirectories, directory: str) -> list[str]:
    """Return the directories in a directory; none if it does not exist, or cannot be listed."""
    try:
        return [f"{directory}/{entry.name}" for entry in fs.list(directory) if entry.is_dir]
    except FileNotFoundError:
        return []
    except OSError as error:
        log.warning("could not list %s: %s", directory, error)
        return []


def _delete_rewritten(fs: DataDirectories, item: tuple[Swap, str]) -> None:
    swap, path = item
    try:
        clear = delete_own_files(fs, swap.compacted, path)
    except OSError as error:
        log.warning("could not delete %s: %s", path, error)
        return
    if not clear:
        log.warning("did not delete %s: it holds files that this run did not write", path)


def remove_empty_directories(services: Services, run: Run, parallelism: int) -> None:
    """Remove the empty working directories of a run.

    Files and the journal are never removed: the file system itself refuses to delete a directory that is not empty. The
    directories of originals are left out. They are not empty, and there may be thousands of them. An error leaves them
    to the next job: the swaps before it are done, and stay in the report.
    """
    try:
        _remove_empty_directories(services, run, parallelism)
    except OSError as error:
        log.warning("did not remove all empty directories of %s: %s", run.directory, error)


def _remove_empty_directories(services: Services, run: Run, parallelism: int) -> None:
    fs = services.fs
    held = {run.path(unit.swap.old) for unit in run.current().units.values() if not unit.final}
    working = [
        entry for entry in fs.list(run.directory) if entry.is_dir and layout.working_directory(entry.name)
    ]
    with services.pool(parallelism) as pool:
        for entry in working:
            _remove_empty(fs, held, pool.map, f"{run.directory}/{entry.name}")


def _remove_empty(fs: DataDirectories, held: set[str], mapper: Mapper, directory: str) -> bool:
    """Remove a directory and those below it that are empty. Return whether it is gone."""
    entries = fs.list(directory)
    below = [f"{directory}/{name_of(entry.path)}" for entry in entries if entry.is_dir]
    unknown = [path for path in below if path not in held]
    gone = list(mapper(partial(_remove_empty, fs, held, map), unknown))
    return len(gone) == len(entries) and all(gone) and fs.delete_empty(directory)

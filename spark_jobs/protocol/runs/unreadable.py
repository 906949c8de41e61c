"""What a person may do about a run whose journal cannot be read: its directory may hold the only rows of a unit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.records.journal import INTENTS, UnitState
from spark_jobs.core.values.layout import Home, RunDirectory, working_directory
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.protocol.file_system import FileSystem
from spark_jobs.protocol.runs.journal_store import Journal

#: The working directories that may hold rows of a table. What is being written is not one of them.
_WITH_ROWS = ("originals", "aside", "conflict", "claimed")
#: Those with rows that were added to a table, and that no other directory has.
_ADDED = ("aside", "conflict")


@dataclass(frozen=True)
class Remains:
    """What the directory of a run that cannot be read holds of a table.

    Attributes:
        originals: by the path of a live directory that is missing, the directory that was live before.
        unclear: directories that may have rows of the table; nothing tells whether the table has these rows.
    """

    originals: Mapping[str, str] = field(default_factory=dict)
    unclear: tuple[str, ...] = ()


def remains_in(fs: FileSystem, directory: str, locations: Collection[str]) -> Remains:
    """Return what the directory of an unreadable run holds.

    The originals of an earlier run are outdated: to put them back would hide newer rows, or double them. So a
    directory is named as a missing live one only if no other run has anything of that unit, or if the journal of the
    newest one that has tells that it became live by it.

    Args:
        directory: the URI of the run's directory.
        locations: the locations that the metastore has. Anything else was dropped, and is nobody's live directory.
    """
    originals: dict[str, str] = {}
    unclear: list[str] = []
    others = _Others(fs, directory)
    for live, places in _by_live(fs, directory).items():
        added = [path for kind, path in places if kind in _ADDED]
        if live not in locations or fs.status(live) is not None or others.recovers(live):
            unclear += added
        elif added or not _is_newest(fs, others, live, places):  # guard: only_newest_originals
            unclear += [path for _, path in places]
        else:
            originals[live] = places[0][1]
    return Remains(originals, tuple(unclear))


def _is_newest(fs: FileSystem, others: _Others, live: str, places: list[tuple[str, str]]) -> bool:
    """Tell whether a run has nothing but the directory that was live before its first rename."""
    (kind, path), *more = places
    return kind == "originals" and not more and others.precede(live, fs.identity(path))


class _Others:
    """The other runs in the same home."""

    def __init__(self, fs: FileSystem, directory: str) -> None:
        self._fs = fs
        entries = [
            entry for entry in fs.list(parent(directory)) if entry.is_dir and RunDirectory.parse(entry.name)
        ]
        self._directories = [entry.path for entry in entries if name_of(entry.path) != name_of(directory)]
        self._states = {path: self._units(path) for path in self._directories}

    def _units(self, directory: str) -> list[UnitState] | None:
        """Return the units of a run; None if its journal cannot be read either."""
        try:
            state = Journal(self._fs, directory).state()
        except (LakekeeperError, OSError):
            return None
        return list(state.units.values()) if state else []

    def recovers(self, live: str) -> bool:
        """Tell whether an interrupted run that can be read has moved the live directory: the next job recovers it."""
        known = (unit for units in self._states.values() for unit in units or ())
        return any(unit.swap.live == live and unit.kind in INTENTS for unit in known)

    def precede(self, live: str, identity: str | None) -> bool:
        """Tell whether what others hold of a unit is older than the directory of this identity."""
        for directory, units in self._states.items():
            if live not in _by_live(self._fs, directory):
                continue
            own = [unit for unit in units or () if unit.swap.live == live]
            if identity not in {unit.swap.new_id for unit in own}:
                return False
        return True


def _by_live(fs: FileSystem, directory: str) -> dict[str, list[tuple[str, str]]]:
    """Return the directories with files that a run has of each live directory, with their kinds."""
    home, listed = Home(parent(directory)), dict[str, list[tuple[str, str]]]()
    for entry in fs.list(directory):
        kind = working_directory(entry.name) if entry.is_dir else None
        if kind not in _WITH_ROWS:
            continue
        for path in _with_files(fs, entry.path):
            relative = path[len(entry.path) + 1 :]
            if kind == "conflict":
                relative = parent(relative) if "/" in relative else relative
            listed.setdefault(f"{home.base}/{home.directory or relative}", []).append((str(kind), path))
    return listed


def _with_files(fs: FileSystem, directory: str) -> Iterator[str]:
    """Return the directories below a directory that hold files."""
    entries = fs.list(directory)
    if any(not entry.is_dir for entry in entries):
        yield directory
    for entry in entries:
        if entry.is_dir:
            yield from _with_files(fs, entry.path)

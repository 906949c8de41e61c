"""The directories above the units of a table. Thousands of partitions have the same ones, so each is listed once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from spark_jobs.core.values.legacy_leftovers import is_leftover
from spark_jobs.core.values.other_writers import SUMMARIES, WriterRules
from spark_jobs.protocol.file_system import Status

#: The position of an entry in its listing, and the entry.
_Placed = tuple[int, Status]


class Directory:
    """The entries of one directory. What the checks of units look for is found once, and not once for each unit."""

    def __init__(self, entries: Sequence[Status]) -> None:
        self._entries = entries
        #: The suspects of all directories, and the rules by which they were found.
        self._known: tuple[WriterRules, list[_Placed]] | None = None

    @cached_property
    def names(self) -> list[str]:
        return [entry.name for entry in self._entries]

    @cached_property
    def by_path(self) -> Mapping[str, Status]:
        return {entry.path: entry for entry in self._entries}

    def partitions_of(self, key: str) -> list[Status]:
        """Return the directories that look like those of a partition key, but for what Lakekeeper 0.0.6 has left."""
        start = f"{key}=".casefold()
        entries = [
            entry for entry in self._entries if entry.is_dir and entry.name.casefold().startswith(start)
        ]
        return [entry for entry in entries if not is_leftover(entry.name)]

    def suspects(self, name: str, rules: WriterRules) -> list[Status]:
        """Return what may prevent the compaction of a directory of this name.

        These are staging of writers, summary files, and what another tool has left of that directory, in the order of
        the listing.
        """
        placed = dict([*self._of_all(rules), *self._leftovers.get(name, ())])
        return [placed[position] for position in sorted(placed)]

    def _of_all(self, rules: WriterRules) -> list[_Placed]:
        if self._known is None or self._known[0] != rules:
            entries = enumerate(self._entries)
            self._known = (
                rules,
                [
                    (i, entry)
                    for i, entry in entries
                    if entry.name in SUMMARIES or rules.is_staging(entry.name, entry.is_dir)
                ],
            )
        return self._known[1]

    @cached_property
    def _leftovers(self) -> Mapping[str, list[_Placed]]:
        """Return the leftovers by the names of the directories that they may be of."""
        placed: dict[str, list[_Placed]] = defaultdict(list)
        for i, entry in enumerate(self._entries):
            for name in _origins(entry.name) if is_leftover(entry.name) else ():
                placed[name].append((i, entry))
        return dict(placed)


def _origins(leftover: str) -> Iterator[str]:
    """Return the beginnings of a name that two underscores follow: `a` and `a__b` for `a__b__old_<timestamp>`."""
    end = leftover.find("__")
    while end >= 0:
        yield leftover[:end]
        end = leftover.find("__", end + 1)


class Directories:
    """Lists directories, each one once. Errors are not kept."""

    def __init__(self, list_directory: Callable[[str], Sequence[Status]]) -> None:
        self._list = list_directory
        self._found: dict[str, Directory] = {}

    def __call__(self, path: str) -> Directory:
        """Return a directory. Raise OSError if it cannot be listed."""
        if path not in self._found:
            self.add(path, self._list(path))
        return self._found[path]

    def __contains__(self, path: str) -> bool:
        return path in self._found

    def add(self, path: str, entries: Sequence[Status]) -> None:
        self._found[path] = Directory(entries)

"""The directories above the units of a table. Thousands of partitions have the same ones, so each is listed once.

Thousands of tables have one directory above them too. It is listed once in a while, and not once for each of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from spark_jobs.core.values.legacy_leftovers import is_leftover
from spark_jobs.core.values.model import parent
from spark_jobs.core.values.other_writers import SUMMARIES, WriterRules
from spark_jobs.protocol.file_system import Status

#: Seconds for which the directory above tables is taken as it was listed. The planning of a large table takes longer.
_RECENT = 60.0
#: The position of an entry in its listing, and the entry.
_Placed = tuple[int, Status]


class Directory:
    """The entries of one directory. What the checks of units look for is found once, and not once for each unit."""

    def __init__(self, entries: Sequence[Status]) -> None:
        self._entries = entries
        #: The suspects of all directories, by the names of staging directories by which they were found.
        self._known: dict[tuple[str, ...], list[_Placed]] = {}

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
        if rules.staging not in self._known:
            self._known[rules.staging] = [
                (i, entry)
                for i, entry in enumerate(self._entries)
                if entry.name in SUMMARIES or rules.is_staging(entry.name, entry.is_dir)
            ]
        return self._known[rules.staging]

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
    """Lists directories, each one once. Errors are not kept.

    Args:
        list_directory: lists one directory.
        above: has those directories that all tables of a job share.
        root: the root of the table; the directory above it is taken from `above`.
    """

    def __init__(
        self,
        list_directory: Callable[[str], Sequence[Status]],
        above: RecentDirectories | None = None,
        root: str = "",
    ) -> None:
        self._list = list_directory
        self._above = above
        self._shared = parent(root)
        self._found: dict[str, Directory] = {}

    def __call__(self, path: str) -> Directory:
        """Return a directory. Raise OSError if it cannot be listed."""
        if path not in self._found:
            above = self._above if path == self._shared else None
            self._found[path] = above(path) if above else Directory(self._list(path))
        return self._found[path]

    def __contains__(self, path: str) -> bool:
        return path in self._found

    def add(self, path: str, entries: Sequence[Status]) -> None:
        self._found[path] = Directory(entries)


class RecentDirectories:
    """Directories as they were listed less than a minute ago. Only for plans: a swap looks at them anew."""

    def __init__(
        self, list_directory: Callable[[str], Sequence[Status]], monotonic: Callable[[], float]
    ) -> None:
        self._list = list_directory
        self._monotonic = monotonic
        self._found: dict[str, tuple[float, Directory]] = {}

    def __call__(self, path: str) -> Directory:
        """Return a directory. Raise OSError if it cannot be listed."""
        began = self._monotonic()
        known = self._found.get(path)
        if known is None or began - known[0] >= _RECENT:
            known = self._found[path] = (began, Directory(self._list(path)))
        return known[1]

"""The tables as the observations show them: held in memory, filled in the order of the observations."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from threading import RLock

from lakekeeper_provider.page.observations import Observation, Stored
from lakekeeper_provider.page.tracks import LETTERS, UNKNOWN, Newest, Track, run_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Point:
    """A table after one job: its files, bytes and small files, and the bytes of originals; NaN where not known.

    Args:
        number: the id of the event
        letter: which verb, of ``LETTERS``
    """

    at: float
    number: int
    letter: str
    files: float
    bytes: float
    small: float
    held: float


@dataclass(frozen=True)
class View:
    """A table as far as somebody may see it: by the jobs of the DAGs that this person may read."""

    server: str
    name: str
    tracks: tuple[Track, ...]

    def newest(self, *keys: str, besides: str | None = None) -> Newest | None:
        """Return the newest observation of some verbs, or of ``SWAPPED`` and the like; of all verbs without any.

        Args:
            besides: a DAG whose jobs do not count
        """
        wanted = keys or tuple(LETTERS)
        found = [track.newest[key] for track in self.tracks for key in wanted if key in track.newest]
        counted = (each for each in found if each.source.dag_id != besides)
        return max(counted, key=lambda each: (each.at, each.number), default=None)

    @property
    def since(self) -> float:
        """Return when it was observed first."""
        return min(track.at[0] for track in self.tracks)

    def compacted_after(self, at: float) -> int:
        """Return how many partitions jobs of all DAGs have compacted after a time, less those that were rolled back."""
        return sum(track.compacted_after(at) for track in self.tracks)

    def undone_at(self, seen: Observation) -> float:
        """Return when what this compaction has swapped was rolled back the last time; minus infinity if never."""
        run = run_of(seen)
        return max((track.undone_at(run) for track in self.tracks if run), default=-math.inf)

    def removals(self) -> Iterator[tuple[float, float]]:
        """Yield when files were removed, and how many, of each DAG."""
        return (each for track in self.tracks for each in track.removals())

    def points(self) -> Iterator[Point]:
        """Yield the table after each job, of all DAGs, oldest first."""
        sizes, held = (UNKNOWN, UNKNOWN, UNKNOWN), UNKNOWN
        for at, event, letter, told, *given in merge(
            *(track.rows() for track in self.tracks), key=itemgetter(0)
        ):
            absolute = chr(letter).isupper()
            files, size, small = given if absolute else (sum(each) for each in zip(sizes, given))
            sizes = _not_below_zero(files), _not_below_zero(size), _not_below_zero(small)
            held = held if math.isnan(told) else told
            yield Point(at, event, chr(letter).lower(), *sizes, held)


def _not_below_zero(value: float) -> float:
    """Return a size; NaN stays."""
    return value if math.isnan(value) else max(value, 0.0)


class Tables:
    """All tables that were observed.

    Attributes:
        version: grows with each observation.
        dags: the DAGs whose jobs have observed any.
        servers: by Hive server, the DAGs whose jobs have worked on it, with when they did the last time.
        unread: by DAG, how many pages of records are of a newer version, or cannot be read.
        lock: held by who adds a page of records, and by who looks at a table, or at all of them.
    """

    def __init__(self) -> None:
        self.version = 0
        self.dags: set[str] = set()
        self.unread: Counter[str] = Counter()
        self.servers: dict[str, dict[str, float]] = {}
        self.lock = RLock()
        self._tracks: dict[tuple[str, str], dict[str, Track]] = {}

    def __len__(self) -> int:
        return len(self._tracks)

    def add(self, seen: Observation) -> None:
        """Add an observation of a verb that is known."""
        if seen.verb not in LETTERS:
            return
        stored = seen.stored
        tracks = self._tracks.setdefault((stored.server, seen.table), {})
        run = run_of(seen)
        undone_at = max((track.undone_at(run) for track in tracks.values()), default=-math.inf)
        tracks.setdefault(stored.source.dag_id, Track()).add(seen, undone_at)
        self.dags.add(stored.source.dag_id)
        at = self.servers.setdefault(stored.server, {})
        at[stored.source.dag_id] = max(at.get(stored.source.dag_id, stored.at), stored.at)
        self.version += 1

    def settle(self) -> None:
        """Bring all records into their form; called by the thread that adds them."""
        for tracks in self._tracks.values():
            for track in tracks.values():
                for newest in track.newest.values():
                    newest.settle()

    def views(self, dags: Collection[str]) -> Iterator[View]:
        """Yield the tables that jobs of these DAGs have observed."""
        for (server, name), tracks in list(self._tracks.items()):
            if found := tuple(track for dag, track in list(tracks.items()) if dag in dags):
                yield View(server, name, found)

    def view(self, server: str, name: str, dags: Collection[str]) -> View | None:
        """Return one table; None if no job of these DAGs has observed it."""
        tracks = self._tracks.get((server, name), {})
        found = tuple(track for dag, track in list(tracks.items()) if dag in dags)
        return View(server, name, found) if found else None

    def dags_of(self, server: str, name: str) -> list[str]:
        """Return the DAGs whose jobs have observed a table."""
        return sorted(self._tracks.get((server, name), {}))


def add(tables: Tables, found: Iterable[Stored]) -> None:
    """Add the observations of stored pages. One that cannot be read is counted, and hides no other."""
    for each in found:
        with tables.lock:
            try:
                _add(tables, each)
            except Exception as error:
                tables.unread[each.source.dag_id] += 1
                log.warning(
                    "results of %s in %s are left out: %r", each.source.task_id, each.source.dag_id, error
                )


def _add(tables: Tables, page: Stored) -> None:
    if not page.extra:  # of a task that had nothing to tell
        return
    if not page.is_known:
        tables.unread[page.source.dag_id] += 1
        return
    for seen in page.observations():
        tables.add(seen)

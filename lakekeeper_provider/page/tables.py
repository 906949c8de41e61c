"""The tables as the observations show them: held in memory, filled in the order of the observations."""

from __future__ import annotations

import json
import logging
import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from operator import itemgetter
from threading import RLock
from typing import Any

from lakekeeper_provider.options.option import ANALYZE, CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.page.observations import Observation, Source, Stored
from lakekeeper_provider.page.records import sound
from lakekeeper_provider.report.health import Record

log = logging.getLogger(__name__)

_UNKNOWN = math.nan
#: What is kept beside the newest observation of each verb: the newest compaction that has rewritten anything, the
#: newest rollback that has restored anything, the newest observation that says what is held, and the newest cleanup
#: that says for how long.
SWAPPED, RESTORED, HELD, RETENTION = "swapped", "restored", "held", "retention"
#: And the newest analysis of all partitions, and the newest compaction that was no dry run and had anything to do.
WHOLE, TRIED = "whole", "tried"
_WROTE = {COMPACT: SWAPPED, ROLLBACK: RESTORED}
#: The letters that a track keeps of the verbs.
LETTERS = {ANALYZE: "a", COMPACT: "c", ROLLBACK: "r", CLEANUP: "d"}


@dataclass(frozen=True, slots=True)
class Point:
    """A table after one job: its files, bytes and small files; NaN where they are not known.

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


@dataclass(slots=True)
class Newest:
    """The newest observation of one verb. The record is kept as text: thousands of them are held.

    Args:
        text: JSON, as it was written until somebody asks for the record
        retention: ``older_than`` and ``keep_last`` of a cleanup
    """

    at: float
    number: int
    source: Source
    verb: str
    run_id: str | None
    text: str
    retention: tuple[Any, Any]
    _is_sound: bool = False

    @classmethod
    def of(cls, seen: Observation) -> Newest:
        """Keep an observation."""
        page = seen.stored
        retention = (page.extra.get("older_than"), page.extra.get("keep_last"))
        return cls(page.at, page.number, page.source, seen.verb, seen.run_id, seen.text, retention)

    def settle(self) -> None:
        """Bring the record into its form now, so that no request has to."""
        if not self._is_sound:
            _ = self.record

    @property
    def record(self) -> Record:
        """Return the record, without what is not of its type."""
        if self._is_sound:
            record: Record = json.loads(self.text)
            return record
        try:
            record = sound(json.loads(self.text))
            self.text = json.dumps(record, separators=(",", ":"))
        except (ValueError, RecursionError):  # written by somebody else, and nested too deeply
            record, self.text = sound({}), json.dumps(sound({}))
        self._is_sound = True
        return record


@dataclass(slots=True)
class Track:
    """What the jobs of one DAG have seen of a table, oldest first: of each job seven numbers.

    The sizes are those of the table after a job that has looked at all partitions (a capital letter), else by how much
    the job has changed them.
    """

    at: array[float] = field(default_factory=lambda: array("d"))
    numbers: array[int] = field(default_factory=lambda: array("q"))
    runs: array[int] = field(default_factory=lambda: array("q"))
    letters: bytearray = field(default_factory=bytearray)
    files: array[float] = field(default_factory=lambda: array("d"))
    bytes: array[float] = field(default_factory=lambda: array("d"))
    small: array[float] = field(default_factory=lambda: array("d"))
    removed: array[float] = field(default_factory=lambda: array("d"))
    newest: dict[str, Newest] = field(default_factory=dict)

    def add(self, seen: Observation, undone_at: float) -> None:
        """Add an observation. It may be older than the last one: clocks of several machines date them.

        The retry of a compaction reports again what the tries before have swapped: it replaces what they have told. One
        that was cleared after a rollback has swapped it once more.

        Args:
            undone_at: when a job of any DAG has rolled back the table the last time
        """
        run = _run_of(seen)
        if run:
            self._forget(run, undone_at)
        place = bisect_right(self.at, seen.stored.at)
        letter = LETTERS[seen.verb]
        self.at.insert(place, seen.stored.at)
        self.numbers.insert(place, seen.stored.number)
        self.runs.insert(place, run)
        self.letters.insert(place, ord(letter.upper() if _is_absolute(seen) else letter))
        for values, size in zip((self.files, self.bytes, self.small), _sizes(seen)):
            values.insert(place, size)
        self.removed.insert(place, -_change(seen, "files"))
        newer = [key for key in _keys(seen) if self._is_newest(key, seen.stored.at)]
        if newer:
            self.newest.update(dict.fromkeys(newer, Newest.of(seen)))

    def _is_newest(self, key: str, at: float) -> bool:
        known = self.newest.get(key)
        return known is None or known.at <= at

    def _forget(self, run: int, after: float) -> None:
        """Remove what compactions of a run have told after a time."""
        told = (
            self.at,
            self.numbers,
            self.runs,
            self.letters,
            self.files,
            self.bytes,
            self.small,
            self.removed,
        )
        for place in range(len(self.at) - 1, bisect_right(self.at, after) - 1, -1):
            if self.runs[place] == run:
                for values in told:
                    del values[place]  # type: ignore[attr-defined]

    def removals(self) -> Iterator[tuple[float, float]]:
        """Yield when files were removed, and how many; a rollback brings them back, below 0."""
        return ((at, files) for at, files in zip(self.at, self.removed) if files)

    def rows(self) -> Iterator[tuple[float, int, int, float, float, float]]:
        """Yield the numbers of each job, oldest first, without what was removed."""
        return zip(self.at, self.numbers, self.letters, self.files, self.bytes, self.small)


def _run_of(seen: Observation) -> int:
    """Return a number for the run of a compaction; 0 for another verb, and for a run without an id."""
    return hash(seen.run_id) or 1 if seen.verb == COMPACT and seen.run_id else 0


def _keys(seen: Observation) -> Iterator[str]:
    """Yield what an observation is the newest of: its verb, and what only some of them say."""
    yield seen.verb
    if seen.verb in _WROTE and seen.rewritten:
        yield _WROTE[seen.verb]
    if seen.verb == COMPACT and _has_tried(seen):
        yield TRIED
    if seen.verb == ANALYZE and _is_absolute(seen):
        yield WHOLE
    if seen.figure("held_runs") is not None:
        yield HELD
    if any(seen.stored.extra.get(key) is not None for key in ("older_than", "keep_last")):
        yield RETENTION


def _is_absolute(seen: Observation) -> bool:
    """Tell whether the sizes are those of the table: one that was refused, or busy, was not looked at."""
    looked = seen.is_whole and seen.figure("files") is not None and seen.number("partitions") > 0
    return looked and not seen.outcomes.get("failed")


def _has_tried(seen: Observation) -> bool:
    """Tell whether a compaction had anything to do, and was no dry run."""
    return "flagged" not in seen.outcomes and str(seen.raw.get("outcome")) != "nothing"


def _change(seen: Observation, of: str) -> float:
    """Return by how much files or bytes have changed, below 0 for fewer."""
    return seen.rewritten.get(f"{of}_after", 0) - seen.rewritten.get(f"{of}_before", 0)


def _sizes(seen: Observation) -> tuple[float, float, float]:
    """Return files, bytes and small files, absolute or as a change."""
    if _is_absolute(seen):
        return (
            seen.number("files"),
            seen.number("bytes"),
            seen.number("flagged_files") + seen.number("left_files"),
        )
    told = seen.rewritten
    small = told.get("files_after", 0) if seen.verb == ROLLBACK else -told.get("files_before", 0)
    return _change(seen, "files"), _change(seen, "bytes"), small


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

    def removals(self) -> Iterator[tuple[float, float]]:
        """Yield when files were removed, and how many, of each DAG."""
        return (each for track in self.tracks for each in track.removals())

    def points(self) -> Iterator[Point]:
        """Yield the table after each job, of all DAGs, oldest first."""
        sizes = (_UNKNOWN, _UNKNOWN, _UNKNOWN)
        for at, event, letter, *given in merge(*(track.rows() for track in self.tracks), key=itemgetter(0)):
            absolute = chr(letter).isupper()
            files, size, small = given if absolute else (sum(each) for each in zip(sizes, given))
            sizes = _not_below_zero(files), _not_below_zero(size), _not_below_zero(small)
            yield Point(at, event, chr(letter).lower(), *sizes)


def _not_below_zero(value: float) -> float:
    """Return a size; NaN stays."""
    return value if math.isnan(value) else max(value, 0.0)


class Tables:
    """All tables that were observed.

    Attributes:
        version: grows with each observation.
        dags: the DAGs whose jobs have observed any.
        servers: by Hive server, the DAGs whose jobs have worked on it.
        unread: by DAG, how many pages of records are of a newer version, or cannot be read.
        lock: held by who adds a page of records, and by who looks at a table, or at all of them.
    """

    def __init__(self) -> None:
        self.version = 0
        self.dags: set[str] = set()
        self.unread: Counter[str] = Counter()
        self.servers: dict[str, set[str]] = {}
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
        undone = (track.newest.get(RESTORED) for track in tracks.values())
        undone_at = max((each.at for each in undone if each is not None), default=-math.inf)
        tracks.setdefault(stored.source.dag_id, Track()).add(seen, undone_at)
        self.dags.add(stored.source.dag_id)
        self.servers.setdefault(stored.server, set()).add(stored.source.dag_id)
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
    if not page.is_known:
        tables.unread[page.source.dag_id] += 1
        return
    for seen in page.observations():
        tables.add(seen)

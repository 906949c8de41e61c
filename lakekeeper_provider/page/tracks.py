"""What the jobs of one DAG have seen of a table, in the order of their times."""

from __future__ import annotations

import json
import math
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lakekeeper_provider.options.option import ANALYZE, CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.page.observations import Observation, Source
from lakekeeper_provider.page.records import sound
from lakekeeper_provider.report.health import Record

UNKNOWN = math.nan
#: What is kept beside the newest observation of each verb: the newest compaction that has rewritten anything, the
#: newest rollback that has restored anything, the newest observation that says what is held, and the newest cleanup
#: that says for how long.
SWAPPED, RESTORED, HELD, RETENTION = "swapped", "restored", "held", "retention"
#: And the newest analysis of all partitions, and the newest compaction that was no dry run and had anything to do.
WHOLE, TRIED = "whole", "tried"
_WROTE = {COMPACT: SWAPPED, ROLLBACK: RESTORED}
#: The letters that a track keeps of the verbs.
LETTERS = {ANALYZE: "a", COMPACT: "c", ROLLBACK: "r", CLEANUP: "d"}
_COMPACTED, _RESTORED = b"cC", b"rR"


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
    """What the jobs of one DAG have seen of a table, oldest first: of each job some numbers.

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
    held: array[float] = field(default_factory=lambda: array("d"))
    units: array[int] = field(default_factory=lambda: array("q"))
    removed: array[float] = field(default_factory=lambda: array("d"))
    newest: dict[str, Newest] = field(default_factory=dict)

    def add(self, seen: Observation, undone_at: float) -> None:
        """Add an observation. It may be older than the last one: clocks of several machines date them.

        The retry of a compaction reports again what the tries before have swapped: it replaces what they have told. One
        that was cleared after a rollback has swapped it once more.

        Args:
            undone_at: when a job of any DAG has rolled back this run the last time
        """
        run = run_of(seen)
        if seen.verb == COMPACT and run and run in self.runs:
            self._forget(run, undone_at)
        place = bisect_right(self.at, seen.stored.at)
        letter = LETTERS[seen.verb]
        self.at.insert(place, seen.stored.at)
        self.numbers.insert(place, seen.stored.number)
        self.runs.insert(place, run)
        self.letters.insert(place, ord(letter.upper() if _is_absolute(seen) else letter))
        for values, size in zip((self.files, self.bytes, self.small), _sizes(seen)):
            values.insert(place, size)
        held = seen.figure("held_bytes")
        self.held.insert(place, UNKNOWN if held is None else held)
        self.units.insert(place, int(_units(seen)))
        self.removed.insert(place, -_change(seen, "files"))
        newer = [key for key in _keys(seen) if self._is_newest(key, seen.stored.at)]
        if newer:
            self.newest.update(dict.fromkeys(newer, Newest.of(seen)))

    def _is_newest(self, key: str, at: float) -> bool:
        known = self.newest.get(key)
        return known is None or known.at <= at

    def _forget(self, run: int, after: float) -> None:
        """Remove what compactions of a run have told after a time."""
        sizes = (self.files, self.bytes, self.small, self.held, self.units, self.removed)
        told = (self.at, self.numbers, self.runs, self.letters, *sizes)
        for place in range(len(self.at) - 1, bisect_right(self.at, after) - 1, -1):
            if self.runs[place] == run and self.letters[place] in _COMPACTED:
                for values in told:
                    del values[place]  # type: ignore[attr-defined]

    def undone_at(self, run: int) -> float:
        """Return when a run was rolled back the last time."""
        if run not in self.runs:
            return -math.inf
        told = zip(self.at, self.runs, self.letters)
        return max(
            (at for at, each, letter in told if each == run and letter in _RESTORED), default=-math.inf
        )

    def compacted_after(self, at: float) -> int:
        """Return how many partitions jobs have compacted after a time, less those that were rolled back."""
        return sum(self.units[bisect_right(self.at, at) :])

    def removals(self) -> Iterator[tuple[float, float]]:
        """Yield when files were removed, and how many; a rollback brings them back, below 0."""
        return ((at, files) for at, files in zip(self.at, self.removed) if files)

    def rows(self) -> Iterator[tuple[float, int, int, float, float, float, float]]:
        """Yield the numbers of each job, oldest first, without what was removed."""
        return zip(self.at, self.numbers, self.letters, self.held, self.files, self.bytes, self.small)


def run_of(seen: Observation) -> int:
    """Return a number for the run that was swapped or rolled back; 0 where nothing was, and for a run without an id."""
    return hash(seen.run_id) or 1 if seen.verb in _WROTE and seen.rewritten and seen.run_id else 0


def _units(seen: Observation) -> float:
    """Return how many partitions were compacted; below 0 for those that were rolled back."""
    return seen.outcomes.get("compacted", 0) - seen.outcomes.get("restored", 0)


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

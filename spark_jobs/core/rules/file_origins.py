"""Who makes the small files of a table: the owners and the name patterns of its newest small files.

The listings of an analysis are counted as they come, so that the memory does not grow with the files.
"""

from __future__ import annotations

import heapq
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from spark_jobs.core.values.file_times import time_of
from spark_jobs.core.values.other_writers import is_flag, is_hidden

_DAYS = 7
_DAY_MS = 86_400_000
_SLOT_MS = 600_000
#: This many of the newest small files count if none is from the last days.
_NEWEST = 1000
#: This many pairs of owner and pattern are told apart. Names without any pattern could be as many as the files.
_PAIRS = 10_000
_SHOWN = 5
_OTHER = "*"
#: What differs between the files of one writer: UUIDs, Hive's numbers of tasks, Spark's numbers of files (`c000`),
#: hexadecimal and decimal numbers. Other digits that end a word stay, up to three: `lz4`.
_VARYING = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?P<hive>\A\d{6}_\d+)"
    r"|(?<![0-9a-z])(?=[a-f]*\d)[0-9a-f]{8,}(?![0-9a-z])"
    r"|(?<=[-.]c)\d{3}(?![0-9a-z])"
    r"|(?<![0-9a-z])\d+|\d{4,}",
    re.IGNORECASE,
)


class ListedFile(Protocol):
    """A file of a listing; `mtime` is in ms since the epoch, `owner` is empty if the listing has none."""

    @property
    def name(self) -> str: ...
    @property
    def length(self) -> int: ...
    @property
    def mtime(self) -> int: ...
    @property
    def owner(self) -> str: ...


@dataclass(frozen=True)
class Origins:
    """The part of a table's report about the origins of its files.

    Attributes:
        writers: the pairs of owner and pattern with the most of the newest small files, as in docs/wire.md.
        files_per_day: the data files of the last days, for each day; None if no unit was listed.
        listed_units: the units that this is about. Units that have not changed since an earlier analysis are not
            listed.
    """

    writers: tuple[dict[str, Any], ...]
    files_per_day: float | None
    listed_units: int


#: By owner, the times in which our own jobs wrote files of the table, in ms since the epoch.
Spans = Mapping[str, Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class _Count:
    files: int = 0
    bytes: int = 0
    newest: int = 0


class _Files:
    """Some files, counted by the ten minutes in which they were written: no more is kept of each of them."""

    def __init__(self) -> None:
        self._slots: dict[int, _Count] = {}

    def add(self, length: int, mtime: int) -> None:
        slot = mtime // _SLOT_MS
        before = self._slots.get(slot, _Count())
        self._slots[slot] = _Count(before.files + 1, before.bytes + length, max(before.newest, mtime))

    def of_others(self, spans: Sequence[tuple[int, int]]) -> _Count:
        """Return the figures of the files that were not written in these times."""
        ours = [(begin // _SLOT_MS, end // _SLOT_MS) for begin, end in spans]
        kept = [
            count
            for slot, count in self._slots.items()
            if not any(first <= slot <= last for first, last in ours)
        ]
        newest = max((count.newest for count in kept), default=0)
        return _Count(sum(count.files for count in kept), sum(count.bytes for count in kept), newest)


class FileOrigins:
    """Counts the files of listings. Several threads may add to it.

    Args:
        small_file: a file with fewer bytes is small.
        now: ms since the epoch.
    """

    def __init__(self, small_file: int, now: int) -> None:
        self._small_file = small_file
        self._since, self._future = now - _DAYS * _DAY_MS, now + _DAY_MS
        self._units = 0
        #: All files of the last days by owner, and the small ones by owner and pattern.
        self._recent: dict[str, _Files] = {}
        self._recent_small: dict[tuple[str, str], _Files] = {}
        #: The newest small files, as a heap: mtime, owner, name, length.
        self._newest: list[tuple[int, str, str, int]] = []
        self._lock = threading.Lock()

    def add_unit(self, files: Iterable[ListedFile]) -> None:
        """Count the files of one unit. Files that no reader reads do not count."""
        with self._lock:
            self._units += 1
            for file in files:
                # A file in the future may be of any age, so that it does not count in what is made per day.
                recent = self._since <= file.mtime <= self._future
                small = file.length < self._small_file
                if (recent or small) and _is_data(file):
                    self._add(file, recent, small)

    def _add(self, file: ListedFile, recent: bool, small: bool) -> None:
        if recent:
            self._recent.setdefault(file.owner, _Files()).add(file.length, file.mtime)
        if recent and small:
            _of(self._recent_small, file.owner, file.name).add(file.length, file.mtime)
        elif small:  # remembered beside recent ones, which may all turn out to be ours
            # One in the future must not hide the newest files.
            known = (file.mtime if file.mtime <= self._future else 0, file.owner, file.name, file.length)
            if len(self._newest) < _NEWEST:
                heapq.heappush(self._newest, known)
            else:
                heapq.heappushpop(self._newest, known)

    def origins(self, ours: Spans | None = None) -> Origins:
        """Return what is known after the last unit, without the files that our own jobs have written."""
        spans = ours or {}
        with self._lock:
            small = _counted(self._recent_small, spans) or _counted(self._by_newest(), spans)
            ordered = sorted(small.items(), key=lambda item: (-item[1].files, -item[1].bytes, item[0]))
            recent = sum(files.of_others(spans.get(owner, ())).files for owner, files in self._recent.items())
            per_day = round(recent / _DAYS, 1) if self._units else None
            return Origins(tuple(_row(*item) for item in ordered[:_SHOWN]), per_day, self._units)

    def _by_newest(self) -> dict[tuple[str, str], _Files]:
        found: dict[tuple[str, str], _Files] = {}
        for mtime, owner, name, length in self._newest:
            _of(found, owner, name).add(length, mtime)
        return found


def _counted(found: Mapping[tuple[str, str], _Files], spans: Spans) -> dict[tuple[str, str], _Count]:
    counts = {key: files.of_others(spans.get(key[0], ())) for key, files in found.items()}
    return {key: count for key, count in counts.items() if count.files}


def pattern(name: str) -> str:
    """Return what the files of one writer have in common: `part-*-*-c*.snappy.parquet`, `000000_*`."""
    return _VARYING.sub(lambda match: "000000_*" if match["hive"] else "*", name)


def _of(found: dict[tuple[str, str], _Files], owner: str, name: str) -> _Files:
    key = (owner, pattern(name))
    if key not in found and len(found) >= _PAIRS:
        key = (owner, _OTHER)
    return found.setdefault(key, _Files())


def _is_data(file: ListedFile) -> bool:
    return not is_hidden(file.name) and not is_flag(file.name, file.length)


def _row(key: tuple[str, str], count: _Count) -> dict[str, Any]:
    newest = time_of(count.newest).strftime("%Y-%m-%dT%H:%M:%SZ")
    owner, names = key
    return {
        "owner": owner or None,
        "pattern": names,
        "files": count.files,
        "bytes": count.bytes,
        "newest": newest,
    }

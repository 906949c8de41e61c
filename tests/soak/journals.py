"""Journals as somebody sees them who only has the files: what has just been recorded, and where a kill left a run."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.soak.tables import local

INTENTS = ("PREPARED", "ROLLBACK_PREPARED")
ENDS = ("FINISHED", "LEFT")
TICKS = 50_000_000  # nanoseconds


@dataclass(frozen=True)
class Event:
    """A record that was not there at the last look. A run is known by its id: its folder changes names."""

    kind: str
    run_id: str
    number: int
    body: dict[str, Any]


class Watch:
    """Tells what is new in the journals below some homes. Made for being asked a thousand times a second."""

    def __init__(self, homes: Sequence[Path]) -> None:
        self._homes = homes
        self._mtimes: dict[Path, int] = {}
        self._folders: dict[Path, list[Path]] = {}
        self._seen: set[tuple[str, int]] = set()
        self.news()

    def news(self) -> list[Event]:
        found = []
        for home in self._homes:
            if self._changed(home):
                self._folders[home] = [path / "journal" for path in _folders(home)]
            for folder in self._folders.get(home, []):
                if self._changed(folder):
                    found += self._fresh(home, folder)
        return found

    def _changed(self, folder: Path) -> bool:
        """An mtime has ticks of some milliseconds: within them, the same one proves nothing."""
        try:
            mtime = folder.stat().st_mtime_ns
        except FileNotFoundError:
            return False
        before, self._mtimes[folder] = self._mtimes.get(folder), mtime
        return mtime != before or time.time_ns() - mtime < TICKS

    def _fresh(self, home: Path, folder: Path) -> Iterator[Event]:
        run_id = _run_id(folder.parent)
        for number, path in _numbered(folder):
            key = (f"{home}/{run_id}", number)
            if key not in self._seen:
                with suppress(FileNotFoundError):
                    body = json.loads(path.read_text())
                    self._seen.add(key)
                    yield Event(body["kind"], run_id, number, body)


def _folders(home: Path) -> list[Path]:
    try:
        return [path for path in home.iterdir() if "." in path.name.lstrip(".") and path.is_dir()]
    except FileNotFoundError:
        return []


def _run_id(folder: Path) -> str:
    return folder.name.rpartition(".")[0]


def _numbered(folder: Path) -> list[tuple[int, Path]]:
    try:
        names = [path for path in folder.iterdir() if path.suffix == ".json" and path.stem.isdigit()]
    except FileNotFoundError:
        return []
    return sorted((int(path.stem), path) for path in names)


@dataclass(frozen=True)
class Left:
    """A run at rest, as its journal and the directories show it."""

    run_id: str
    last: str
    intents: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    @property
    def unfinished(self) -> bool:
        return bool(self.intents) or self.last not in ENDS

    def __str__(self) -> str:
        """PREPARED, and where the directories are; else the last record."""
        if not self.intents:
            return self.last
        where = Counter(self.places)
        return f"{self.intents[0]}, {_where(where)}"


def _where(places: Counter[str]) -> str:
    for special in ("recreated", "gap"):
        if places[special]:
            return special
    return next(iter(places)) if len(places) == 1 else "partly swapped"


def left(home: Path) -> list[Left]:
    """Every run below a home that has a record."""
    found = []
    for folder in _folders(home):
        records = [json.loads(path.read_text()) for _, path in _numbered(folder / "journal")]
        if records:
            found.append(_left(_run_id(folder), records))
    return found


def _left(run_id: str, records: Sequence[dict[str, Any]]) -> Left:
    swaps: dict[str, dict[str, Any]] = {}
    kinds: dict[str, str] = {}
    for record in records:
        for swap in record.get("swaps", ()):
            key = _key(swap)
            swaps[key], kinds[key] = swap, record["kind"]
        for unit in record.get("units", ()) if record["kind"] != "CONFLICT" else ():
            kinds[unit["unit"]] = record["kind"]
    open_units = [key for key, kind in kinds.items() if kind in INTENTS]
    places = tuple(_place(swaps[key]) for key in open_units)
    return Left(run_id, records[-1]["kind"], tuple(kinds[key] for key in open_units), places)


def _key(swap: dict[str, Any]) -> str:
    """As the journal's later records name the unit."""
    return json.dumps(swap["spec"], ensure_ascii=False)


def _place(swap: dict[str, Any]) -> str:
    try:
        found = local(swap["live"]).stat()
    except FileNotFoundError:
        return "gap"
    identity = f"local:{found.st_dev}:{found.st_ino}"
    return {swap["live_id"]: "originals live", swap["new_id"]: "rewritten live"}.get(identity, "recreated")


def litter(home: Path) -> Counter[str]:
    """What killed jobs have left and nobody needs: folders without a record, and working folders that hold files."""
    found: Counter[str] = Counter()
    for folder in _folders(home):
        if not _numbered(folder / "journal"):
            found["run folders without a record"] += 1
        for path in folder.glob("__*"):
            kind = path.name.rpartition("_")[0]
            if kind != "__originals" and any(entry.is_file() for entry in path.rglob("*")):
                found[f"{kind} folders with files"] += 1
    return found

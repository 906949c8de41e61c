"""One observation: what one job has seen of one table, and which task it was."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lakekeeper_provider.page.records import counts, figure, number, sound
from lakekeeper_provider.report import health
from lakekeeper_provider.report.health import Record

#: How JSON begins a half of a character.
_SURROGATE = "\\ud"
_DECODER = json.JSONDecoder()
#: What comes before each value of a list.
_BEFORE = re.compile(r"\s*[\[,]\s*")


@dataclass(frozen=True, slots=True)
class Source:
    """The task that has seen it."""

    dag_id: str
    run_id: str
    task_id: str
    map_index: int


@dataclass(frozen=True)
class Stored:
    """A page of records as Airflow has stored it.

    Args:
        number: the event's id; 0 for an XCom, which is not numbered
        at: seconds since the epoch
        extra: as ``events.health.extras`` has written it
    """

    number: int
    at: float
    source: Source
    extra: Mapping[str, Any]

    @cached_property
    def server(self) -> str:
        """Return the Hive that has the tables."""
        return sys.intern(str(self.extra.get("server") or "default").lower())

    @property
    def is_known(self) -> bool:
        """Tell whether this version can read it."""
        version, verb = self.extra.get("version"), self.extra.get("verb")
        return isinstance(version, int) and version <= health.VERSION and isinstance(verb, str)

    def observations(self) -> Iterator[Observation]:
        """Yield what it says of each table. Of what is no record, nothing: a person may have written it."""
        for record, text in _records(str(self.extra.get("tables") or "")):
            if isinstance(record, dict) and isinstance(record.get("table"), str):
                yield Observation(self, record, text)


def _records(text: str) -> Iterator[tuple[Any, str]]:
    """Yield the records of a page, each with its text."""
    if _SURROGATE in text.lower():
        text = _encodable_json(text)
    place = 0
    while before := _BEFORE.match(text, place):
        try:
            record, place = _DECODER.raw_decode(text, before.end())
        except (ValueError, RecursionError):
            return
        yield record, text[before.end() : place]


def _encodable_json(text: str) -> str:
    try:
        return json.dumps(encodable(json.loads(text)), separators=(",", ":"))
    except (ValueError, RecursionError):
        return ""


@dataclass(frozen=True)
class Observation:
    """What a job has seen of a table.

    Args:
        raw: the record as it was written, with a text as its table
        text: the same as JSON
    """

    stored: Stored
    raw: Record
    text: str

    @property
    def table(self) -> str:
        return str(self.raw["table"])

    @cached_property
    def record(self) -> Record:
        """Return the record, without what is not of its type."""
        return sound(self.raw)

    @cached_property
    def verb(self) -> str:
        return sys.intern(str(self.stored.extra.get("verb")))

    @property
    def run_id(self) -> str | None:
        """Return the run of the job on this table."""
        told = (self.raw.get("run_id"), self.stored.extra.get("run_id"))
        return next((each for each in told if each and isinstance(each, str)), None)

    @property
    def is_whole(self) -> bool:
        """Tell whether every partition was looked at, and the figures are those of the table."""
        return bool(self.stored.extra.get("whole"))

    @cached_property
    def rewritten(self) -> Mapping[str, float]:
        """Return the files and bytes before and after of what was swapped or put back; empty if there was none."""
        return counts(self.raw.get("rewritten")) or {}

    @cached_property
    def outcomes(self) -> Mapping[str, float]:
        """Return how many partitions have ended how."""
        return counts(self.raw.get("outcomes")) or {}

    def figure(self, key: str) -> float | None:
        """Return a figure of the record; None if it has none."""
        return figure(self.raw.get(key))

    def number(self, key: str) -> float:
        """Return a figure of the record; 0 if it has none."""
        return number(self.raw.get(key))


def readable(value: Any) -> dict[str, Any]:
    """Return the extra of an event, or the value of an XCom, without halves of characters; empty if it is none."""
    if not isinstance(value, dict):
        return {}
    if all(map(_is_plain, value.values())) and all(map(str.isascii, value)):
        return value
    try:
        return {encodable(key): encodable(each) for key, each in value.items()}
    except RecursionError:
        return {}


def _is_plain(value: Any) -> bool:
    return value.isascii() if isinstance(value, str) else not isinstance(value, (dict, list))


def encodable(value: Any) -> Any:
    """Return a value of JSON without halves of characters, which no page and no address can have."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {encodable(key): encodable(each) for key, each in value.items()}
    return [encodable(each) for each in value] if isinstance(value, list) else value

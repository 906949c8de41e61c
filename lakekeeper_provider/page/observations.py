"""One observation: what one job has seen of one table, and which task it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lakekeeper_provider.page.records import sound
from lakekeeper_provider.report import health
from lakekeeper_provider.report.health import Record

#: How JSON begins a half of a character.
_SURROGATE = "\\ud"


@dataclass(frozen=True)
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
        server: the Hive that has the tables
        extra: as ``events.health.extras`` has written it
    """

    number: int
    at: float
    server: str
    source: Source
    extra: Mapping[str, Any]

    @property
    def is_known(self) -> bool:
        """Tell whether this version can read it."""
        version = self.extra.get("version")
        return isinstance(version, int) and version <= health.VERSION

    def observations(self) -> Iterator[Observation]:
        """Yield what it says of each table. Of what is no record, nothing: a person may have written it."""
        text = str(self.extra.get("tables") or "[]")
        try:
            records = json.loads(text)
        except (ValueError, RecursionError):
            return
        for record in records if isinstance(records, list) else ():
            if isinstance(record, dict) and isinstance(record.get("table"), str):
                yield Observation(self, sound(encodable(record) if _SURROGATE in text.lower() else record))


@dataclass(frozen=True)
class Observation:
    """What a job has seen of a table."""

    stored: Stored
    record: Record

    @property
    def verb(self) -> str:
        return str(self.stored.extra.get("verb"))

    @property
    def run_id(self) -> str | None:
        """Return the run of the job on this table."""
        found = self.record.get("run_id") or self.stored.extra.get("run_id")
        return None if found is None else str(found)

    @property
    def is_whole(self) -> bool:
        """Tell whether every partition was looked at, and the figures are those of the table."""
        return bool(self.stored.extra.get("whole"))

    def number(self, key: str) -> float:
        """Return a figure of the record; 0 if it has none."""
        return number(self.record.get(key))

    def change(self, of: str) -> float:
        """Return by how much files or bytes have changed, below 0 for fewer."""
        rewritten = self.record.get("rewritten")
        if not isinstance(rewritten, Mapping):
            return 0
        return number(rewritten.get(f"{of}_after")) - number(rewritten.get(f"{of}_before"))


def encodable(value: Any) -> Any:
    """Return a value of JSON without halves of characters, which no page and no address can have."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {encodable(key): encodable(each) for key, each in value.items()}
    return [encodable(each) for each in value] if isinstance(value, list) else value


def number(value: Any) -> float:
    """Return a figure of a sound record; 0 if it has none."""
    return 0 if value is None else float(value)

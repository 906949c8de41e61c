"""Flagged units that do not fit into one XCom: pages of them, under further XCom keys of the same task.

A summary whose units are in pages names them in ``flagged_in``: ``pages`` (the number of units on each), ``token``
(which each try makes anew) and the task that pushed them. Its tables have None as ``flagged``, and ``flagged_at``: the
positions of their units over all pages, from the first one to the one after the last. docs/wire.md, "Flagged units in
XCom", has an example.
"""

from __future__ import annotations

import base64
import gzip
import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from lakekeeper_provider.exceptions import UsageError

Unit = dict[str, "str | None"]
#: A table and one of its units.
Row = tuple[str, Unit]
Summary = Mapping[str, Any]

#: Bytes of one value in XCom, which is stored in Airflow's database.
XCOM_LIMIT = 48 * 1024
_WRAPPING = 128  # bytes of a page around its units: the token and the names of both
_AGAIN = "clear the analysis with the tasks after it, so that it runs again"


def key_of(number: int) -> str:
    """Return the XCom key of a page."""
    return f"flagged_{number}"


def move(summaries: Sequence[Summary], ti: Any) -> list[dict[str, Any]]:
    """Push the flagged units of these summaries as pages of a task, and return the summaries without them.

    Units that are not in the summaries stay where they are: in the pages of another task, or in a report.

    Args:
        ti: the task instance that is running
    """
    rows = [(t["table"], unit) for s in summaries for t in s["tables"] for unit in t["flagged"] or ()]
    packed = _packed(rows)
    source = {
        "pages": [count for count, _ in packed],
        "token": uuid.uuid4().hex,
        "dag_id": ti.dag_id,
        "run_id": ti.run_id,
        "task_id": ti.task_id,
        "map_index": ti.map_index,
    }
    for number, (_, text) in enumerate(packed):
        ti.xcom_push(key=key_of(number), value={"token": source["token"], "units": text})
    return list(_referring(summaries, source))


def _packed(rows: list[Row]) -> list[tuple[int, str]]:
    """Return the rows as the texts of pages, each with the number of its rows."""
    tables = [[name, [unit for _, unit in group]] for name, group in groupby(rows, key=lambda row: row[0])]
    content = json.dumps(tables, ensure_ascii=False, separators=(",", ":")).encode()
    text = base64.b64encode(gzip.compress(content, mtime=0)).decode()
    if len(text) + _WRAPPING <= XCOM_LIMIT or len(rows) < 2:
        return [(len(rows), text)] if rows else []
    half = len(rows) // 2
    return [*_packed(rows[:half]), *_packed(rows[half:])]


def _referring(summaries: Sequence[Summary], source: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    first = 0
    for summary in summaries:
        tables = []
        for table in summary["tables"]:
            after = first + len(table["flagged"] or ())
            moved = {"flagged": None, "flagged_at": [first, after]} if table["flagged"] else {}
            tables.append({**table, **moved})
            first = after
        has_moved = any(table["flagged"] for table in summary["tables"])
        yield {**summary, **({"flagged_in": source} if has_moved else {}), "tables": tables}


@dataclass
class PageReader:
    """Reads units from pages; each page is pulled once.

    Args:
        ti: the task instance that is running; None where no units are in pages
        pull: returns an XCom of another task by the task instance, the key, and the ids of that task
    """

    ti: Any
    pull: Callable[[Any, str, Mapping[str, Any]], Any]
    _pages: dict[tuple[str, int], list[Row]] = field(default_factory=dict)

    def units(self, summary: Summary, table: Mapping[str, Any]) -> list[Unit]:
        """Return all flagged units of a table.

        Raises:
            UsageError: a page is missing, cannot be read, or is not of the try that pushed the summary
        """
        start, stop = table["flagged_at"]
        rows: list[Row] = []
        first = 0
        for number, count in enumerate(summary["flagged_in"]["pages"]):
            if start < first + count and first < stop:
                rows += self._page(summary["flagged_in"], number)[max(0, start - first) : stop - first]
            first += count
        # Fewer units than were flagged, or units of another table, must never look like the result of an analysis.
        if len(rows) != stop - start or any(name != table["table"] for name, _ in rows):
            raise UsageError(f"analysis: its pages do not have the units of {table['table']}: {_AGAIN}")
        return [unit for _, unit in rows]

    def _page(self, source: Mapping[str, Any], number: int) -> list[Row]:
        place = (source["token"], number)
        if place not in self._pages:
            self._pages[place] = self._pulled(source, number)
        return self._pages[place]

    def _pulled(self, source: Mapping[str, Any], number: int) -> list[Row]:
        where = _where(source, number)
        if self.ti is None:
            raise UsageError(f"analysis: {where} is needed: pass ti, the task instance that is running")
        value = self.pull(self.ti, key_of(number), source)
        if not isinstance(value, Mapping):
            raise UsageError(f"analysis: {where} is missing: {_AGAIN}")
        if value.get("token") != source["token"]:
            raise UsageError(f"analysis: {where} is of another try than this summary: {_AGAIN}")
        rows = _unpacked(value.get("units"), where)
        if len(rows) != source["pages"][number]:
            raise UsageError(
                f"analysis: {where} has {len(rows)} units, expected {source['pages'][number]}: {_AGAIN}"
            )
        return rows


def _where(source: Mapping[str, Any], number: int) -> str:
    mapped = f"[{source['map_index']}]" if source["map_index"] >= 0 else ""
    return (
        f"page {number + 1} of {len(source['pages'])} of the flagged units (XCom {key_of(number)} of the task"
        f" {source['task_id']}{mapped} in {source['dag_id']}, {source['run_id']})"
    )


def _unpacked(text: Any, where: str) -> list[Row]:
    try:
        page = json.loads(gzip.decompress(base64.b64decode(text, validate=True)))
        return [(name, dict(unit)) for name, units in page for unit in units]
    except (ValueError, TypeError, EOFError, OSError) as error:
        raise UsageError(f"analysis: {where} cannot be read ({error}): {_AGAIN}") from None

"""What a report says of the health of each table, in a form that is short enough to be kept for every job.

A record is a mapping of JSON for one table; docs/wire.md, "Health records", describes its keys. What does not apply to
a table is left out. Many records go into one page, a text of JSON with a bound.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lakekeeper_provider.options.option import CLEANUP
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report import open_units
from lakekeeper_provider.report.report import Report, skipped_codes, units_with, warning_codes, written

#: The version of the records. A reader knows the older ones, and says what a newer one has that it does not know.
VERSION = 1
#: The asset whose events have the health of all tables, and its alias.
URI, ALIAS = "lakekeeper://hive/tables", "lakekeeper_health"
#: The XComs of a task that did not succeed: this and the number of the page.
XCOM_KEY = "lakekeeper_health_"
#: Bytes of one page: an XCom takes 48 KB, and an event must not hold up those who read thousands of them.
PAGE_BYTES = 32 * 1024
#: How much of a table is in its record; the report has all of it.
_UNITS_SHOWN, _WRITERS_SHOWN, _WARNINGS_SHOWN = 20, 5, 3
_TEXT_SHOWN = 200
#: What a report says of a table under the same name.
_ALSO_ZERO = ("table", "outcome", "files", "bytes", "held_bytes", "held_runs")
_AS_REPORTED = (
    *("rows", "backup_table", "files_per_day", "held_bytes", "held_runs", "held_since"),
    *("freed_bytes", "trashed_bytes"),
)
#: The outcomes of units of which a person wants to know why.
_LEFT = ("failed", "quarantined", "changed", "deferred")

Record = dict[str, Any]


def records(report: Report) -> Iterator[Record]:
    """Yield the record of each table that a job has looked at."""
    return (_record(report, table) for table in report.tables)


def pages(found: Iterable[Record]) -> list[str]:
    """Return records as texts of JSON of at most ``PAGE_BYTES`` bytes; a record alone may be longer."""
    texts: list[str] = []
    page: list[str] = []
    length = 0
    for each in found:
        text = json.dumps(each, separators=(",", ":"))  # ASCII, so that its characters are bytes
        if page and length + len(text) > PAGE_BYTES:
            texts.append(f"[{','.join(page)}]")
            page, length = [], 0
        page.append(text)
        length += len(text) + 1
    return [*texts, f"[{','.join(page)}]"] if page else texts


def _record(report: Report, table: Mapping[str, Any]) -> Record:
    flagged = [unit for unit in units_with(table, ("flagged",)) if unit.get("needs_compaction")]
    values: Record = {
        "table": table["table"],
        "outcome": table["outcome"],
        "code": table.get("code"),
        "reason": _short(table.get("reason")),
        "run_id": table.get("run_id"),
        **{key: table.get(key) for key in _AS_REPORTED},
        **_sizes(report.verb, table),
        **_flagged(flagged),
        "rewritten": {key: value for key, value in written(table).items() if value},
        "partitions": len(table.get("units") or ()),
        "outcomes": dict(Counter(unit["outcome"] for unit in table.get("units") or ())),
        "seconds": round(sum(unit.get("seconds") or 0 for unit in table.get("units") or ()), 1),
        "left_files": sum(unit.get("files") or 0 for unit in units_with(table, _LEFT)),
        "left": [_left(unit) for unit in units_with(table, _LEFT)[:_UNITS_SHOWN]],
        "writers": [dict(each) for each in (table.get("small_file_writers") or ())[:_WRITERS_SHOWN]],
        "warnings": [_short(text) for text in (table.get("warnings") or ())[:_WARNINGS_SHOWN]],
        "warning_codes": warning_codes(table),
        "skipped": skipped_codes(table),
        **open_units.brief(table),
    }
    return {key: value for key, value in values.items() if value or (key in _ALSO_ZERO and value is not None)}


def _sizes(verb: str, table: Mapping[str, Any]) -> Record:
    """Return files and bytes after the job.

    Of a cleanup none, which counts originals and no data of the table; and none of a table that was not looked at.
    """
    if verb == CLEANUP or not table.get("units"):
        return {}
    before, after = table.get("before") or {}, table.get("after") or {}
    return {key: after.get(key, before.get(key)) for key in ("files", "bytes")}


def _flagged(units: Sequence[Mapping[str, Any]]) -> Record:
    largest = sorted(units, key=lambda unit: -(unit.get("files") or 0))[:_UNITS_SHOWN]
    return {
        "flagged": len(units),
        "flagged_files": sum(unit.get("files") or 0 for unit in units),
        "flagged_bytes": sum(unit.get("bytes") or 0 for unit in units),
        "target_files": sum(unit.get("target_files") or 0 for unit in units),
        "deferred_since": min((u["deferred_since"] for u in units if u.get("deferred_since")), default=None),
        "flagged_units": [_unit(unit) for unit in largest],
    }


def _unit(unit: Mapping[str, Any]) -> Record:
    spec = {key: _short(value) for key, value in unit["unit"].items()}
    return {"unit": spec, "files": unit.get("files"), "bytes": unit.get("bytes")}


def _left(unit: Mapping[str, Any]) -> Record:
    why = {"outcome": unit["outcome"], "code": unit.get("code"), "reason": _short(unit.get("reason"))}
    return {**_unit(unit), **why}


def _short(text: Any) -> Any:
    return text if text is None else one_line(str(text))[:_TEXT_SHOWN]

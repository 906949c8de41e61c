"""The summary of a report for XCom, which is stored in Airflow's database: it has a limit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.option import ANALYZE, CHECK, HISTORY
from lakekeeper_provider.report import Report, skipped_codes, units_with, warning_codes

XCOM_LIMIT = 48 * 1024
_WARNINGS_SHOWN = 3
_SOUND = ("done", "nothing")

Tables = list[dict[str, Any]]
Step = Callable[[Tables], Tables]


def summary(report: Report, uri: str | None) -> dict[str, Any]:
    """
    Return the summary for XCom, at most ``XCOM_LIMIT`` bytes long.

    A summary that is too long is shortened in steps: of the warnings of a table the first ones stay, then only how
    often there is which code; an analysis leaves out the tables without flagged units, then the flagged units, if they
    can be read from ``uri``; a check leaves out sound tables; a history leaves out older rows; then each table keeps
    its name, outcome, run id and codes of findings and warnings only; last, verbs other than analyze leave out all
    tables.

    :param uri: where the report is kept; None if it is deleted with the submission
    :raises UsageError: the summary of an analysis is too long in its shortest form
    """
    value = {
        "schema_version": 1,
        "verb": report.verb,
        "run_id": report.run_id,
        "outcome": report.outcome,
        "started": report.started,
        "ended": report.ended,
        "report": uri,
        "tables": [_summary(table, report.verb) for table in report.tables],
    }
    for shorter in (value, *_shorter(value)):
        if _size(shorter) <= XCOM_LIMIT:
            return shorter
    raise UsageError(
        f"the summary of {len(report.tables)} tables has {_size(value)} bytes, more than the {XCOM_LIMIT} "
        "that go to XCom: set report_dir to a folder that keeps reports, or work on fewer tables at once"
    )


def _shorter(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the summary in ever shorter forms."""
    for step in _steps(value):
        value = {**value, "tables": step(value["tables"])}
        yield value


def _steps(value: Mapping[str, Any]) -> Iterable[Step]:
    verb, kept = value["verb"], value["report"] is not None
    if verb == ANALYZE:
        # Without a report, the flagged units would be lost.
        shorter: tuple[Step, ...] = (_without_flagged_units, _outline) if kept else ()
        return (*_FEWER_WARNINGS, _with_flagged_units, *shorter)
    own = _STEPS_OF.get(verb, ())
    # Last no table: the job is done, and must not fail because of the size of its summary.
    return (*_FEWER_WARNINGS, *own, _outline, lambda _: [])


def _first_warnings(count: int, tables: Tables) -> Tables:
    return [{**table, "warnings": table["warnings"][:count]} for table in tables]


_FEWER_WARNINGS = (partial(_first_warnings, _WARNINGS_SHOWN), partial(_first_warnings, 0))


def _with_flagged_units(tables: Tables) -> Tables:
    return [table for table in tables if table["flagged"]]


def _without_flagged_units(tables: Tables) -> Tables:
    return [{**table, "flagged": None} for table in tables]


def _without_sound(tables: Tables) -> Tables:
    return [table for table in tables if table["outcome"] not in _SOUND]


def _newest(rows: int, tables: Tables) -> Tables:
    return [{**table, "history": table["history"][:rows]} for table in tables]


_STEPS_OF: Mapping[str, tuple[Step, ...]] = {
    CHECK: (_without_sound,),
    HISTORY: (partial(_newest, 10), partial(_newest, 1)),
}


def _outline(tables: Tables) -> Tables:
    keys = ("table", "outcome", "run_id", "flagged", "codes", "warning_codes", "skipped")
    return [{key: table[key] for key in keys if key in table and table[key] != {}} for table in tables]


def _size(value: Any) -> int:
    return len(json.dumps(value))


def _summary(table: Mapping[str, Any], verb: str) -> dict[str, Any]:
    keys = ("table", "outcome", "code", "reason", "run_id", "before", "after", "rows", "backup_table")
    brief = {key: table.get(key) for key in keys}
    brief |= {"warnings": list(table.get("warnings") or ()), "warning_codes": warning_codes(table)}
    brief |= {"skipped": skipped_codes(table)}
    if verb == ANALYZE:
        return {**brief, "flagged": flagged_units(table)}
    if verb == HISTORY:
        return {**brief, "history": list(table.get("history") or ())}
    return {**brief, **_counts(table)} if verb == CHECK else brief


def _counts(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many findings a check has, by severity and by code."""
    found = table.get("findings") or ()
    damage = sum(finding["severity"] == "damage" for finding in found)
    codes = Counter(finding["code"] for finding in found)
    return {"damage": damage, "notices": len(found) - damage, "codes": dict(codes)}


def flagged_units(table: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """Return the partition values of the units that an analysis flagged."""
    return [dict(unit["unit"]) for unit in units_with(table, ("flagged",))]

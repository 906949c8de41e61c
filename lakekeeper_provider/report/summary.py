"""The summary of a report for XCom, which is stored in Airflow's database: it has a limit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.option import ANALYZE, CHECK, CLEANUP, COMPACT, HISTORY
from lakekeeper_provider.report import open_units, pages
from lakekeeper_provider.report.overview import needs_a_look
from lakekeeper_provider.report.pages import XCOM_LIMIT
from lakekeeper_provider.report.report import Report, skipped_codes, units_with, warning_codes

#: What a table keeps of earlier compactions: bytes, how many can be rolled back, and since when.
HELD = ("held_bytes", "held_runs", "held_since")
#: The outcomes of units that a compaction was to do, and has left to the next one.
LEFT = ("deferred", "changed", "failed", "quarantined")
#: The verbs whose tables are summed up if XCom has no room for them.
_SUMMED = (ANALYZE, COMPACT, CLEANUP)
_WARNINGS_SHOWN = 3
#: How much of the reason of a table is kept where XCom has little room.
_REASON_SHOWN = 100
_SOUND = ("done", "nothing")

Tables = list[dict[str, Any]]
Step = Callable[[Tables], Tables]


def summary(report: Report, uri: str | None, ti: Any = None) -> dict[str, Any]:
    """Return the summary for XCom, at most ``XCOM_LIMIT`` bytes long.

    A summary that is too long is shortened in steps: of the warnings of a table the first ones stay, then only how
    often there is which code; an analysis leaves out the tables without flagged units of which nothing is to be told,
    then the flagged units, if they can be read from ``uri``, then all tables without flagged units; a check leaves out
    sound tables, a cleanup those in which it had nothing to do; a history leaves out older rows; then each table keeps
    its name, outcome, run id and codes of findings and warnings only; last, verbs other than analyze leave out all
    tables. ``left_out`` has the sums of the tables of an analysis, a compaction or a cleanup that were left out.

    If the flagged units of an analysis do not fit and there is no ``uri``, ``ti`` pushes them as pages, and the rest is
    shortened in the same steps.

    Args:
        uri: where the report is kept; None if it is deleted with the submission
        ti: the task instance, if it may push flagged units under further keys

    Raises:
        UsageError: the summary of an analysis is too long in its shortest form
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
    found = _fitting(value)
    if found is None and report.verb == ANALYZE and uri is None and ti is not None:
        [value] = pages.move([value], ti)
        found = _fitting(value)
    if found is not None:
        return found
    raise UsageError(
        f"the summary of {len(report.tables)} tables has {size(value)} bytes, more than the {XCOM_LIMIT} "
        "that go to XCom: set report_dir to a directory that keeps reports, or work on fewer tables at once"
    )


def _fitting(value: dict[str, Any]) -> dict[str, Any] | None:
    return next((shorter for shorter in (value, *_shorter(value)) if size(shorter) <= XCOM_LIMIT), None)


def _shorter(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the summary in ever shorter forms."""
    whole = value["tables"]
    for step in _steps(value):
        value = {**value, "tables": step(value["tables"])}
        listed = {table["table"] for table in value["tables"]}
        gone = [table for table in whole if table["table"] not in listed]
        yield {**value, "left_out": left_out(gone)} if gone and value["verb"] in _SUMMED else value


def left_out(tables: Tables) -> dict[str, Any]:
    """Return the sums of tables for which XCom has no room: how many, how many need a look, and what they hold.

    ``done`` counts those on which the job has worked, and ``idle`` those of which an analysis has nothing to tell.
    """
    holding = [table for table in tables if table.get("held_runs")]
    held = {
        "held_runs": sum(table["held_runs"] for table in holding),
        "held_bytes": sum(table["held_bytes"] for table in holding),
        "held_since": min((table["held_since"] for table in holding), default=None),
    }
    done = sum(table["outcome"] == "done" for table in tables)
    undone = [table for table in tables if needs_a_look(table)]
    idle = sum(table.get("flagged") == [] and table["outcome"] != "refused" for table in tables) - len(undone)
    return {"tables": len(tables), "done": done, "undone": len(undone), "idle": max(idle, 0), **held}


def _steps(value: Mapping[str, Any]) -> Iterable[Step]:
    verb, kept = value["verb"], value["report"] is not None or "flagged_in" in value
    if verb == ANALYZE:
        # Without a report or pages, the flagged units would be lost.
        shorter: tuple[Step, ...] = (_without_flagged_units, _outline_with_reasons) if kept else ()
        return (*_FEWER_WARNINGS, _to_tell, *shorter, _without_open_units, _with_flagged_units)
    own = _STEPS_OF.get(verb, ())
    # Last no table: the job is done, and must not fail because of the size of its summary.
    shortest = _outline_with_reasons if verb == COMPACT else outline
    return (*_FEWER_WARNINGS, *own, shortest, lambda _: [])


def _first_warnings(count: int, tables: Tables) -> Tables:
    return [{**table, "warnings": table["warnings"][:count]} for table in tables]


_FEWER_WARNINGS = (partial(_first_warnings, _WARNINGS_SHOWN), partial(_first_warnings, 0))


def _to_tell(tables: Tables) -> Tables:
    return [table for table in tables if table["flagged"] != [] or needs_a_look(table)]


def _with_flagged_units(tables: Tables) -> Tables:
    return [table for table in tables if table["flagged"] != []]


def _without_open_units(tables: Tables) -> Tables:
    return [without(table, "open", "open_refused") for table in tables]


def _without_flagged_units(tables: Tables) -> Tables:
    return [{**table, "flagged": None} for table in tables]


def _without_sound(tables: Tables) -> Tables:
    return [table for table in tables if table["outcome"] not in _SOUND]


def _newest(rows: int, tables: Tables) -> Tables:
    return [{**table, "history": table["history"][:rows]} for table in tables]


def _without_idle(tables: Tables) -> Tables:
    return [table for table in tables if table["outcome"] != "nothing"]


_STEPS_OF: Mapping[str, tuple[Step, ...]] = {
    CHECK: (_without_sound,),
    CLEANUP: (_without_idle,),
    HISTORY: (partial(_newest, 10), partial(_newest, 1)),
}


def outline(tables: Tables) -> Tables:
    """Return of each table what other tasks need, and codes."""
    keys = (
        *("table", "outcome", "code", "run_id", "flagged", "flagged_at", "codes", "warning_codes", "skipped"),
        *("score", "deferred_since", "flagged_bytes", "flagged_files", "options", "open", "open_refused"),
        *("left_files", *HELD),
    )
    return [
        {
            key: table[key]
            for key in keys
            if key in table and table[key] != {} and (key != "code" or table[key])
        }
        for table in tables
    ]


def _outline_with_reasons(tables: Tables) -> Tables:
    return [{**short, **_short_reason(table)} for short, table in zip(outline(tables), tables)]


def _short_reason(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the beginning of the reason of a table about which a person can do something."""
    reason = str(table.get("reason") or "") if needs_a_look(table) else ""
    return {"reason": reason[:_REASON_SHOWN]} if reason else {}


def size(value: Any) -> int:
    """Return how many bytes a value has in XCom."""
    return len(json.dumps(value))


def _summary(table: Mapping[str, Any], verb: str) -> dict[str, Any]:
    keys = ("table", "outcome", "code", "reason", "run_id", "before", "after", "rows", "backup_table")
    brief = {key: table.get(key) for key in keys}
    brief |= {"warnings": list(table.get("warnings") or ()), "warning_codes": warning_codes(table)}
    brief |= {"skipped": skipped_codes(table)}
    brief |= {key: table[key] for key in HELD if table.get(key) is not None}
    if verb == ANALYZE:
        return {**brief, "flagged": flagged_units(table), **urgency(table), **open_units.brief(table)}
    if verb == HISTORY:
        return {**brief, "history": list(table.get("history") or ())}
    if verb == COMPACT:
        left = units_with(table, LEFT)
        brief |= {"left_files": sum(unit.get("files") or 0 for unit in left)} if left else {}
    return {**brief, **(_counts(table) if verb == CHECK else open_units.brief(table))}


def urgency(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the order of tables depends on, as far as it is known of the flagged units.

    ``score`` is their mean, weighted by bytes; ``deferred_since`` is the earliest; ``flagged_bytes`` and
    ``flagged_files`` are their sums.
    """
    units = units_with(table, ("flagged",))
    scored = [(unit["score"], unit["bytes"]) for unit in units if unit.get("score") and unit.get("bytes")]
    total = sum(read for _, read in scored)
    figures = {
        "score": round(sum(score * read for score, read in scored) / total, 3) if total else None,
        "deferred_since": min((u["deferred_since"] for u in units if u.get("deferred_since")), default=None),
        "flagged_bytes": sum(unit.get("bytes") or 0 for unit in units) or None,
        "flagged_files": sum(unit.get("files") or 0 for unit in units) or None,
    }
    return {key: value for key, value in figures.items() if value is not None}


def _counts(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many findings a check has, by severity and by code."""
    findings = table.get("findings") or ()
    damage = sum(finding["severity"] == "damage" for finding in findings)
    codes = Counter(finding["code"] for finding in findings)
    return {"damage": damage, "notices": len(findings) - damage, "codes": dict(codes)}


def flagged_units(table: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """Return the partition values of the units that an analysis flagged."""
    return [dict(unit["unit"]) for unit in units_with(table, ("flagged",))]


def without(values: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the values without some keys."""
    return {key: value for key, value in values.items() if key not in keys}


def fingerprints(table: Mapping[str, Any]) -> list[str | None]:
    """Return the fingerprints of the files of the flagged units, in the order of ``flagged_units``."""
    return [unit.get("fingerprint") for unit in units_with(table, ("flagged",))]

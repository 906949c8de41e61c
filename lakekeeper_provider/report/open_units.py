"""Units that analyses find day after day, and that no compaction has rewritten. A report has since when, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lakekeeper_provider.report.report import unit_name

#: A unit is named from this many days on.
OPEN_FROM = 3
#: This many are named in the log of a task, and in a summary.
_LISTED, _NAMED = 20, 3


def open_units(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the units of a table that have been open for ``OPEN_FROM`` days, those of the most days first."""
    units = [unit for unit in table.get("units") or () if (unit.get("open_days") or 0) >= OPEN_FROM]
    return sorted(units, key=lambda unit: -unit["open_days"])


def brief(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what XCom has of them: how many, since when, the first names, and what the last night has met.

    Units that are refused are apart: a compaction by an analysis is not given them, and says nothing of them.
    """
    units = open_units(table)
    refused = [unit for unit in units if unit["outcome"] == "skipped"]
    others = [unit for unit in units if unit["outcome"] != "skipped"]
    return {name: _figures(each) for name, each in (("open", others), ("open_refused", refused)) if each}


def _figures(units: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "units": len(units),
        "since": min(unit["open_since"] for unit in units),
        "names": [dict(unit["unit"]) for unit in units[:_NAMED]],
        "last": dict(Counter(map(_last, units)).most_common(_NAMED)),
    }


def left(analysed: Mapping[str, Any], compacted: Mapping[str, Any] | None) -> str | None:
    """Return a sentence about the units of a table that its jobs of one night have left open; None without any.

    Args:
        analysed: what XCom has of the table from the analysis; empty without one
        compacted: the same of the compaction after it, if there was one
    """
    # A compaction that had to wait for another job has looked at nothing.
    last = analysed if compacted is None or compacted["outcome"] == "busy" else compacted
    refused = last.get("open_refused") or analysed.get("open_refused")
    attempts = [each for each in (last.get("open"), refused) if each]
    return sentence(_joined(attempts)) if attempts else None


def _joined(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    last: Counter[str] = Counter()
    for each in tables:
        last.update(each["last"])
    return {
        "units": sum(each["units"] for each in tables),
        "since": min(each["since"] for each in tables),
        "names": [name for each in tables for name in each["names"]][:_NAMED],
        "last": dict(last.most_common(_NAMED)),
    }


def sentence(attempt: Mapping[str, Any]) -> str:
    """Return what XCom has of the units of one table, for a person."""
    count, names = attempt["units"], ", ".join(map(unit_name, attempt["names"]))
    more = f" and {count - len(attempt['names'])} more" if count > len(attempt["names"]) else ""
    what = "partition" if count == 1 else "partitions"
    why = ", ".join(f"{number} {kind}" for kind, number in attempt["last"].items())
    return f"{count} {what} open since {attempt['since'][:10]} ({names}{more}); last: {why}"


def lines(table: Mapping[str, Any]) -> list[str]:
    """Return the units of a table, with the reason of each night."""
    units = open_units(table)
    described = [line for unit in units[:_LISTED] for line in _lines(unit)]
    rest = len(units) - _LISTED
    return [*described, f"  ... and {rest} more that are open"] if rest > 0 else described


def _lines(unit: Mapping[str, Any]) -> list[str]:
    attempts: Sequence[Mapping[str, Any]] = unit.get("open_attempts") or ()
    head = f"  {unit_name(unit['unit'])}: open since {unit['open_since'][:10]}, found on {unit['open_days']} days"
    if not attempts:
        return [f"{head}; no compaction has begun it"]
    return [head, *(f"    {each['at'][:10]} {_kind(each)}: {each['reason'] or '-'}" for each in attempts)]


def _last(unit: Mapping[str, Any]) -> str:
    attempts = unit.get("open_attempts")
    return _kind(attempts[-1]) if attempts else "not begun"


def _kind(attempt: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (attempt["outcome"], attempt["code"])))

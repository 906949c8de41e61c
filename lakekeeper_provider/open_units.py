"""Units that analyses find day after day, and that no compaction has rewritten. A report has since when, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lakekeeper_provider.report import unit_name

#: A unit is named from so many days on.
OPEN_FROM = 3
#: So many are named in the log of a task, and in a summary.
_LISTED, _NAMED = 20, 3


def open_units(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the units of a table that have been open for ``OPEN_FROM`` days, those of the most days first."""
    found = [unit for unit in table.get("units") or () if (unit.get("open_days") or 0) >= OPEN_FROM]
    return sorted(found, key=lambda unit: -unit["open_days"])


def brief(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what XCom has of them: how many, since when, the first names, and what the last night has met."""
    units = open_units(table)
    if not units:
        return {}
    return {
        "open": {
            "units": len(units),
            "since": min(unit["open_since"] for unit in units),
            "names": [dict(unit["unit"]) for unit in units[:_NAMED]],
            "last": dict(Counter(map(_last, units)).most_common(_NAMED)),
        }
    }


def sentence(found: Mapping[str, Any]) -> str:
    """Return what XCom has of the units of one table, for a person."""
    count, names = found["units"], ", ".join(map(unit_name, found["names"]))
    more = f" and {count - len(found['names'])} more" if count > len(found["names"]) else ""
    what = "partition" if count == 1 else "partitions"
    why = ", ".join(f"{number} {kind}" for kind, number in found["last"].items())
    return f"{count} {what} open since {found['since'][:10]} ({names}{more}); last: {why}"


def lines(table: Mapping[str, Any]) -> list[str]:
    """Return the units of a table, with the reason of each night."""
    units = open_units(table)
    found = [line for unit in units[:_LISTED] for line in _lines(unit)]
    rest = len(units) - _LISTED
    return [*found, f"  ... and {rest} more that are open"] if rest > 0 else found


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

"""The environment of the templates: each value is escaped, and has a unit; and the lines of plots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report.report import unit_name
from lakekeeper_provider.report.units import human

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
#: The size of a sparkline in units of SVG, with room for the width of its line.
_WIDTH, _HEIGHT, _ROOM = 120.0, 24.0, 2.0
UNKNOWN = "-"


@cache
def environment(*directories: Path) -> Environment:
    """Return the environment of the templates of this package, and of further directories.

    Args:
        directories: those whose templates come first
    """
    loader = ChoiceLoader([FileSystemLoader(each) for each in (*directories, _HERE / "templates")])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)  # guard: html_escaped
    made.trim_blocks = made.lstrip_blocks = True
    made.filters.update(
        {
            "size": size,
            "count": count,
            "line": line,
            "moment": moment,
            "unit": unit,
            "island": island,
            "spark": spark,
            "most": most,
            "bars": bars,
        }
    )
    return made


def line(value: Any) -> str:
    """Return a text without characters that change how others around it are shown."""
    return UNKNOWN if value is None else one_line(str(value))


def size(value: Any) -> str:
    """Return bytes with a unit."""
    return human(value) if isinstance(value, (int, float)) and value == value else UNKNOWN


def count(value: Any) -> str:
    """Return a number of things, with a separator of thousands."""
    return f"{round(value):,}" if isinstance(value, (int, float)) and value == value else UNKNOWN


def unit(value: Any) -> str:
    """Return the name of a partition."""
    return one_line(unit_name(value)) if isinstance(value, Mapping) else UNKNOWN


def moment(value: Any) -> Markup:
    """Return a time in UTC; a script of the page shows it in the reader's time zone.

    Args:
        value: seconds since the epoch, or a text of ISO 8601
    """
    try:
        at = (
            datetime.fromtimestamp(value, timezone.utc)
            if isinstance(value, (int, float))
            else datetime.fromisoformat(str(value).replace("Z", "+00:00")).astimezone(timezone.utc)
        )
    except (ValueError, OverflowError, OSError, TypeError):
        return Markup.escape(UNKNOWN if value is None else line(value))
    return Markup('<time datetime="{}">{} UTC</time>').format(at.isoformat(), at.strftime("%Y-%m-%d %H:%M"))


def island(value: Any) -> Markup:
    """Return data for a script of the page, which no reader of HTML takes for markup."""
    text = json.dumps(value, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")  # guard: data_is_no_markup
    return Markup(text)  # noqa: S704 - ASCII without a character that means anything in HTML


def spark(values: Sequence[float]) -> str:
    """Return the points of a line in SVG, from the first value to the last; empty for fewer than two.

    The line begins at zero: a table whose files are as many as before is a straight line at the top.
    """
    if len(values) < 2:
        return ""
    most = max(*values, 1.0)
    step = (_WIDTH - 2 * _ROOM) / (len(values) - 1)
    tall = _HEIGHT - 2 * _ROOM
    points = ((_ROOM + step * i, _ROOM + tall * (1 - value / most)) for i, value in enumerate(values))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def most(records: Sequence[Mapping[str, Any]]) -> float:
    """Return the greatest number of files that any of these records has before or after."""
    return max((max(_before_after(each)) for each in records), default=0.0)


def bars(record: Mapping[str, Any], greatest: float) -> tuple[str, str] | None:
    """Return the lengths of two bars: files before and after; None where nothing was rewritten, or would be."""
    before, after = _before_after(record)
    if not before or not greatest:
        return None
    before, after = (max(1.0, _WIDTH * files / greatest) for files in (before, after))
    return f"{before:.1f}", f"{after:.1f}"


def _before_after(record: Mapping[str, Any]) -> tuple[float, float]:
    rewritten = record.get("rewritten")
    told = rewritten if isinstance(rewritten, Mapping) else {}
    before, after = told.get("files_before"), told.get("files_after")
    if before is None:
        before, after = record.get("flagged_files"), record.get("target_files")
    return _number(before), _number(after)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0

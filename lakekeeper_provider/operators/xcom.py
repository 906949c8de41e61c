"""Read the XComs of other tasks of this package: one value, or a list of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lakekeeper_provider import exchange, report, report_summary
from lakekeeper_provider.compat import Context
from lakekeeper_provider.exceptions import ReportError, UsageError
from lakekeeper_provider.option import ANALYZE
from lakekeeper_provider.parsers import from_json

Unit = dict[str, str | None]


def entries(name: str, value: Any, verb: str) -> list[Mapping[str, Any]]:
    """
    Return the summaries of ``verb`` in an XCom.

    :param name: the argument that holds the XCom, for messages
    :param value: one summary, a list of them, or JSON of either; None for a mapped task that pushed nothing
    :raises UsageError: the value is not the output of a task of this verb
    """
    value = from_json(name, value)
    found = [value] if isinstance(value, Mapping) or value is None else value
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise UsageError(f"{name}: expected the output of a {verb} task, got {value!r}")
    return [_entry(name, entry, verb) for entry in found if entry is not None]


def _entry(name: str, entry: Any, verb: str) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping) or entry.get("schema_version") != 1 or entry.get("verb") != verb:
        raise UsageError(f"{name}: expected the output of a {verb} task, got {str(entry)[:200]}")
    return entry


def flagged_units(analyses: Iterable[Mapping[str, Any]]) -> dict[str, list[Unit]]:
    """Return the flagged units of analyses by table, without the tables that have none."""
    units: dict[str, list[Unit]] = {}
    for analysis in analyses:
        for table, found in _flagged(analysis):
            units.setdefault(table, []).extend(found)
    return {table: found for table, found in units.items() if found}


def _flagged(analysis: Mapping[str, Any]) -> Iterable[tuple[str, list[Unit]]]:
    tables = analysis["tables"]
    names = {table["table"] for table in tables}
    if all(table.get("flagged") is not None for table in tables):
        return [(table["table"], table["flagged"]) for table in tables]
    uri = analysis.get("report")
    if not uri:
        raise UsageError("analysis: it contains neither the flagged units nor the URI of a report that does")
    try:
        full = report.parse(exchange.read(uri), ANALYZE)
    except ReportError as error:
        raise UsageError(f"analysis: {uri}: {error}") from None
    return [(t["table"], report_summary.flagged_units(t)) for t in full.tables if t["table"] in names]


def current_pass(context: Context) -> str | None:
    """
    Return an identifier of the current pass of the DAG run: its start date.

    Clearing a task of a *finished* DAG run restarts the run, with a new start date. Clearing a task of a running
    one does not, and belongs to the same pass. ``clear_number`` of the run is not suitable: in Airflow 3 it
    also grows while the run is running.
    """
    start = context["dag_run"].start_date
    return start.isoformat() if start else None

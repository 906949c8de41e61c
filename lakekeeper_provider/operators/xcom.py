"""Read the XComs of other tasks of this package: one value, or a list of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lakekeeper_provider.compat import Context, pull_xcom
from lakekeeper_provider.exceptions import ReportError, UsageError
from lakekeeper_provider.options.definitions import options_of_plan
from lakekeeper_provider.options.option import ANALYZE, PLAN
from lakekeeper_provider.options.parsers import from_json, given
from lakekeeper_provider.report import report
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report.pages import PageReader, Unit
from lakekeeper_provider.submission import exchange


def entries(name: str, value: Any, *verbs: str, required: bool = True) -> list[Mapping[str, Any]]:
    """Return the summaries of a verb in an XCom.

    Args:
        name: the argument that holds the XCom, for messages
        value: one summary, a list of them, or JSON of either; in a list, None for a mapped task that pushed nothing
        verbs: the verbs that are expected
        required: whether there must be a summary, unless the list is empty: of a task whose XCom is gone nothing is
            known, which is not the same as nothing to do

    Raises:
        UsageError: the value is not the output of a task of one of these verbs, or there is no output
    """
    value = from_json(name, given(value))
    expected = f"{name}: expected the output of a {verbs[0]} task"
    items = [value] if isinstance(value, Mapping) or value is None else value
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise UsageError(f"{expected}, got {value!r}")
    listed = list(items)
    known = [_entry(expected, entry, verbs) for entry in listed if entry is not None]
    if required and listed and not known:
        raise UsageError(
            f"{name}: the XCom of that task is not there: it has pushed none, or somebody has removed it; clear that"
            " task with the tasks after it, so that it runs again"
        )
    return known


def _entry(expected: str, entry: Any, verbs: Sequence[str | None]) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping) or entry.get("schema_version") != 1 or entry.get("verb") not in verbs:
        raise UsageError(f"{expected}, got {str(entry)[:200]}")
    return entry


def analyses(value: Any) -> list[Mapping[str, Any]]:
    """Return the summaries of analyses in an XCom, or in the report of a plan.

    A plan becomes an analysis that is ``as_planned``: it flags the units of the plan, in the same order.

    Raises:
        UsageError: the value is neither
    """
    tables = entries("analysis", value, ANALYZE, PLAN)
    return [_of_plan(entry) if entry["verb"] == PLAN else entry for entry in tables]


def _of_plan(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        plan = report.parse(json.dumps(entry), PLAN)
    except ReportError as error:
        raise UsageError(f"analysis: the plan cannot be read: {error}") from None
    if plan.error:
        raise UsageError(f"analysis: the plan is not whole: {plan.error}")
    _check_once([table["table"].lower() for table in plan.tables])
    tables = [
        {
            **{"table": table["table"], "outcome": table["outcome"], "flagged": units},
            "fingerprints": report_summary.fingerprints(table),
            "options": table.get("options") or {},
        }
        for table in plan.tables
        if (units := report_summary.flagged_units(table))
    ]
    return {
        **{"schema_version": 1, "verb": ANALYZE, "run_id": plan.run_id, "outcome": plan.outcome},
        **{"report": None, "as_planned": True, "tables": tables},
    }


def _check_once(tables: Sequence[str]) -> None:
    twice = (
        sorted({table for table in tables if tables.count(table) > 1})
        if len(set(tables)) < len(tables)
        else []
    )
    if twice:
        raise UsageError(
            f"analysis: the plan has table {twice[0]} twice, and does not say which of the two is meant: plan the table"
            " again, or remove one of them"
        )


def are_planned(tables: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether all of the analyses are plans, which have an order of their own."""
    return all(analysis.get("as_planned") for analysis in tables)


def in_order(tables: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return the tables of analyses, each with its analysis, in the order of their compaction.

    Those with units that were deferred before come first, the longest first; then those with the highest score. Plans
    keep their order.
    """
    pairs = [(analysis, table) for analysis in tables for table in analysis["tables"]]
    return pairs if are_planned(tables) else sorted(pairs, key=lambda pair: _urgency(pair[1]))


def _urgency(table: Mapping[str, Any]) -> tuple[bool, str, float, str]:
    since = table.get("deferred_since")
    return since is None, since or "", -(table.get("score") or 0), table["table"]


def has_flagged_units(table: Mapping[str, Any]) -> bool:
    """Tell whether an analysis has flagged units of a table; if it has no list of them, a report or pages do."""
    return table.get("flagged") != []


def flagged_units(tables: Sequence[Mapping[str, Any]], ti: Any) -> dict[str, list[Unit]]:
    """Return the flagged units of analyses by table, without the tables that have none, in the order of ``in_order``.

    Args:
        ti: the task instance that is running, which pulls the pages

    Raises:
        UsageError: units cannot be read
    """
    reader = UnitReader(ti)
    units: dict[str, list[Unit]] = {}
    for analysis, table in in_order(tables):
        units.setdefault(table["table"], []).extend(reader.units(analysis, table))
    return {table: of_table for table, of_table in units.items() if of_table}


def fingerprints(
    tables: Sequence[Mapping[str, Any]], units: Mapping[str, Sequence[Unit]] | None
) -> dict[str, list[str | None]]:
    """Return the fingerprints that the files of units had in plans, by table, in the order of ``flagged_units``.

    Args:
        units: the units of the plans; tables of which not all fingerprints are known are left out
    """
    found_of: dict[str, list[str | None]] = {}
    for _, table in in_order(tables) if are_planned(tables) else ():
        found_of.setdefault(table["table"], []).extend(table.get("fingerprints", ()))
    return {
        table: of_table
        for table, of_table in found_of.items()
        if len(of_table) == len((units or {}).get(table, ()))
    }


def planned_options(tables: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the options by which plans were made, by table.

    Raises:
        UsageError: a plan sets an option that no plan can set, or two plans of one table differ
    """
    options: dict[str, Mapping[str, Any]] = {}
    for table in (table for analysis in tables for table in analysis["tables"] if table.get("options")):
        name = table["table"].lower()
        known = options.setdefault(name, options_of_plan(f"analysis: {name}: ", table["options"]))
        if known != options_of_plan("", table["options"]):
            raise UsageError(
                f"analysis: {name} is in two plans that were made by other options: plan it again, or compact one after"
                " the other"
            )
    return options


class UnitReader:
    """Reads the flagged units of analyses: from the summary, from pages, or from a report.

    Args:
        ti: the task instance that is running, which pulls the pages
    """

    def __init__(self, ti: Any) -> None:
        self._pages = PageReader(ti, pull_xcom)
        self._reports: dict[str, Mapping[str, list[Unit]]] = {}

    def units(self, analysis: Mapping[str, Any], table: Mapping[str, Any]) -> list[Unit]:
        """Return the flagged units of one table.

        Raises:
            UsageError: they cannot be read
        """
        if table.get("flagged") is not None:
            return list(table["flagged"])
        if "flagged_at" in table:
            return self._pages.units(analysis, table)
        uri = analysis.get("report")
        if not uri:
            raise UsageError(
                "analysis: it contains neither the flagged units nor the URI of a report that does"
            )
        if uri not in self._reports:
            self._reports[uri] = _reported(uri)
        return self._reports[uri].get(table["table"], [])


def _reported(uri: str) -> Mapping[str, list[Unit]]:
    try:
        full = report.parse(exchange.read(uri), ANALYZE)
    except ReportError as error:
        raise UsageError(f"analysis: {uri}: {error}") from None
    return {table["table"]: report_summary.flagged_units(table) for table in full.tables}


def current_pass(context: Context) -> str | None:
    """Return an identifier of the current pass of the DAG run: its start date.

    Clearing a task of a *finished* DAG run restarts the run, with a new start date. Clearing a task of a running
    one does not, and belongs to the same pass. ``clear_number`` of the run is not suitable: in Airflow 3 it
    also grows while the run is running.
    """
    start = context["dag_run"].start_date
    return start.isoformat() if start else None

"""The report of a plan, as a compaction takes it: the units, their order, and the files that they had."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.printable import shortened, shown
from spark_jobs.core.messages.remedies.runs import not_a_plan
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.definitions import OPTIONS, Options
from spark_jobs.core.options.option import Layer
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import SCHEMA_VERSION, TableReport

#: The verbs whose reports say what to compact.
_VERBS = ("plan", "analyze")
#: The options by which a unit is flagged and by which it is written: a compaction takes them from the plan.
_TAKEN = tuple(name for name, option in OPTIONS.items() if Layer.PLAN in option.layers)
#: What a plan tells, and a compaction takes from the table: a plan may be older than the table's properties.
_TOLD = ("readers",)
#: This many units are named in a warning.
_NAMED = 10

PlannedUnit = dict[str, "str | None"]


@dataclass(frozen=True)
class PlannedTable:
    """What a plan says of one table.

    Attributes:
        units: the flagged units in the order of the plan, with the fingerprints of their files.
        options: those by which the plan was made. An analysis does not tell them.
    """

    units: Sequence[tuple[PlannedUnit, str | None]]
    options: Mapping[str, Any]


#: By table, in the order of the plan.
Planned = Mapping[str, PlannedTable]


def options_of(options: Options) -> dict[str, Any]:
    """Return the options of a table that its plan tells, as values of JSON."""
    values = {name: getattr(options, name) for name in (*_TAKEN, *_TOLD)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None
    }


def parse_plan(text: str, where: str) -> Planned:
    """Return the flagged units of a plan, in its order. Tables without any are left out.

    Args:
        where: the name of the file, for messages.

    Raises:
        UsageError: it is not the report of a plan or an analysis.
    """
    try:
        report = json.loads(text)
        version, verb = report["schema_version"], report["verb"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _no_plan(where, error) from None
    if version != SCHEMA_VERSION or verb not in _VERBS:
        raise UsageError(not_a_plan(where, shown(verb), shown(version)))
    if report.get("error"):
        raise UsageError(f"{where} is not a whole plan: {shortened(str(report['error']))}")
    try:
        return _tables(report["tables"], where)
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_plan(where, error) from None


def _no_plan(where: str, error: Exception) -> UsageError:
    return UsageError(f"{where} is not the report of a plan: {type(error).__name__}: {shortened(str(error))}")


def _tables(reports: Sequence[Mapping[str, Any]], where: str) -> Planned:
    tables: dict[str, PlannedTable] = {}
    for report in reports:
        name = str(TableName.parse(report["table"]))
        if name in tables:  # guard: each_table_once_in_a_plan
            raise UsageError(
                f"{where} has table {shortened(name)} twice, and does not say which of the two is meant: plan the"
                " table again, or remove one of them"
            )
        tables[name] = _planned(report, name, where)
    return {name: table for name, table in tables.items() if table.units}


def _planned(table: Mapping[str, Any], name: str, where: str) -> PlannedTable:
    units = [unit for unit in table["units"] if unit["outcome"] == UnitOutcome.FLAGGED]
    planned = [(dict(unit["unit"]), unit.get("fingerprint")) for unit in units]
    return PlannedTable(
        planned, _options(dict(table.get("options") or {}), f"{where}, table {shortened(name)}")
    )


def _options(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the options that a compaction takes. Raise UsageError for one that a plan cannot set."""
    for name in given:
        if name not in (*_TAKEN, *_TOLD):  # guard: plans_choose_and_size
            raise UsageError(
                f"{where}: a plan cannot set {shown(name)}, but only {', '.join(_TAKEN)}; remove it, and set it as an"
                " argument or in the configuration"
            )
    return {name: value for name, value in given.items() if name in _TAKEN}


def changed_since(table: TableReport, planned: Sequence[tuple[PlannedUnit, str | None]]) -> str | None:
    """Return a warning that names the units whose files have changed since the plan; None if no unit's have.

    A unit that was not read to its end, and has no fingerprint in the report, is not named.
    """
    before = {_key(unit): fingerprint for unit, fingerprint in planned if fingerprint}
    changed = [
        unit.unit
        for unit in table.units
        if unit.fingerprint and before.get(_key(unit.unit), unit.fingerprint) != unit.fingerprint
    ]
    if not changed:
        return None
    names = ["/".join(f"{key}={value}" for key, value in unit.items()) or "the table" for unit in changed]
    rest = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return WarningCode.PLAN_CHANGED.text(
        f"the files of {len(names)} units are not those of the plan, so they were planned again:"
        f" {', '.join(names[:_NAMED])}{rest}"
    )


def _key(unit: Mapping[str, str | None]) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted((name.lower(), value) for name, value in unit.items()))

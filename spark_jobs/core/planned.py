"""The report of a plan, as a compaction takes it: the units, their order, and the files that they had."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spark_jobs.core.errors import UsageError
from spark_jobs.core.model import TableName
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.warning_codes import WarningCode
from spark_jobs.core.wire import SCHEMA_VERSION, TableReport

#: The verbs whose reports say what to compact.
_VERBS = ("plan", "analyze")
#: The options by which a unit is flagged and by which it is written: a compaction takes them from the plan.
_OPTIONS = (
    *("strategy", "target_file_size", "compaction_ratio_threshold", "min_input_files", "block_size_mb"),
    *("sort_columns", "readers"),
)
#: So many units are named in a warning.
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
    values = {name: getattr(options, name) for name in _OPTIONS}
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
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{where} is not the report of a plan: {type(error).__name__}: {error}") from None
    if version != SCHEMA_VERSION or verb not in _VERBS:
        raise UsageError(
            f"{where} is not a plan: it has the verb {verb!r} and schema_version {version}; `lakekeeper plan` writes"
            " one"
        )
    if report.get("error"):
        raise UsageError(f"{where} is not a whole plan: {report['error']}")
    try:
        tables = {table["table"]: _planned(table) for table in report["tables"]}
        return {name: table for name, table in tables.items() if table.units}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{where} is not the report of a plan: {type(error).__name__}: {error}") from None


def _planned(table: Mapping[str, Any]) -> PlannedTable:
    TableName.parse(table["table"])
    units = [unit for unit in table["units"] if unit["outcome"] == UnitOutcome.FLAGGED]
    found = [(dict(unit["unit"]), unit.get("fingerprint")) for unit in units]
    return PlannedTable(found, dict(table.get("options") or {}))


def changed_since(table: TableReport, planned: Sequence[tuple[PlannedUnit, str | None]]) -> str | None:
    """Return a warning that names the units whose files are not those of the plan; None if all are.

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

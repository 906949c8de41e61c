"""Asset events: what a job did to each table, for DAGs that are scheduled on it, and for those who read the events."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from lakekeeper_provider.compat import AIRFLOW_V_3_0_PLUS, Asset, AssetAlias, Context
from lakekeeper_provider.options.option import ANALYZE, CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report.report import Report, units_with, warning_codes

log = logging.getLogger(__name__)

Scalar = str | int | float | None

#: The outcome of the units that an event of a verb is about.
_UNITS_OF = {ANALYZE: "flagged", COMPACT: "compacted", ROLLBACK: "restored", CLEANUP: "cleaned"}
#: The events of one task are sent to Airflow's API in one message: bytes of all extras, and number of tables.
_BYTES_OF_ALL = 2 * 1024 * 1024
_BYTES_OF_ONE = 32 * 1024
_TABLES = 1000


def outlets_of(verb: str) -> list[AssetAlias]:
    """Return the alias under which the events of a verb are emitted; none for a verb without, and on Airflow 2.

    Airflow 2 records an event of an alias only if it has found the alias in the DAG, which it does not for a mapped
    operator. Else the task fails after it has succeeded, and would run again.
    """
    return [AssetAlias(f"lakekeeper_{verb}")] if AIRFLOW_V_3_0_PLUS and verb in _UNITS_OF else []


def uri_of(table: str, verb: str, server: str) -> str:
    """Return the URI of the asset: the one that Airflow's Hive provider uses, and the verb.

    Without the verb, the event would say that the table has other rows: DAGs that wait for new rows would start, and
    a DAG that compacts after each load would start itself.

    Args:
        server: host and port of HiveServer2
    """
    database, _, name = table.partition(".")
    # guard: names_in_uris_quoted
    return f"hive://{server}/{quote(database, safe='')}/{quote(name, safe='')}?lakekeeper={verb}"


def emit(context: Context, report: Report, uri: str | None, server: str) -> None:
    """Emit an event for each table on which the job did something. Airflow records them if the task succeeds.

    An error is logged: the job is done, and must not run again because of an event.

    Args:
        uri: where the report is kept
    """
    outlets, accessors = outlets_of(report.verb), context.get("outlet_events")
    if not outlets or accessors is None:
        return
    try:
        for table, extra in extras(report, uri):
            _add(accessors[outlets[0]], table, uri_of(table, report.verb, server), extra)
    except Exception as error:
        log.warning("asset events of %s could not be emitted: %s", report.verb, error)


def _add(events: Any, table: str, uri: str, extra: dict[str, Scalar]) -> None:
    """Add an event; one table must not stop the others."""
    try:
        events.add(Asset(uri), extra=extra)
    except Exception as error:
        log.warning("%s", one_line(f"the asset event of {table} could not be emitted: {error}"))


def extras(report: Report, uri: str | None) -> Iterator[tuple[str, dict[str, Scalar]]]:
    """Yield the tables with something done, and the extra of each event.

    ``partitions`` is JSON, as the argument ``partitions`` of the operators takes it; None where it would be too large.
    """
    # A dry run does nothing to a table.
    acted = [table for table in report.tables if units_with(table, (_UNITS_OF[report.verb],))]
    if len(acted) > _TABLES:
        log.warning("asset events are emitted for %s of %s tables", _TABLES, len(acted))
    shown = acted[:_TABLES]
    limit = min(_BYTES_OF_ONE, _BYTES_OF_ALL // max(1, len(shown)))
    for table in shown:
        extra = _extra(report, table, uri)
        if len(json.dumps(extra)) > limit:
            extra["partitions"] = None
        yield table["table"], extra


def _extra(report: Report, table: Mapping[str, Any], uri: str | None) -> dict[str, Scalar]:
    """Return the extra: texts and numbers, so that metrics and templates need no step to read it."""
    units = units_with(table, (_UNITS_OF[report.verb],))
    before, after = table.get("before") or {}, table.get("after") or {}
    warnings = warning_codes(table)
    return {
        "verb": report.verb,
        "outcome": table["outcome"],
        "run_id": table.get("run_id") or report.run_id,
        "files_before": before.get("files"),
        "files_after": after.get("files"),
        "bytes_before": before.get("bytes"),
        "bytes_after": after.get("bytes"),
        "rows": table.get("rows"),
        "partition_count": len(units),
        "partitions": json.dumps([dict(unit["unit"]) for unit in units]),
        **_of_verb(report.verb, table, units),
        "warnings": sum(warnings.values()),
        "warning_codes": ",".join(warnings),
        "report": uri,
    }


def _of_verb(verb: str, table: Mapping[str, Any], units: Sequence[Mapping[str, Any]]) -> dict[str, Scalar]:
    sums = {key: sum(unit.get(key) or 0 for unit in units) for key in ("files", "bytes", "target_files")}
    if verb == ANALYZE:
        flagged = {"small_files": sums["files"], "files_after_estimate": sums["target_files"]}
        return {**flagged, "score": report_summary.urgency(table).get("score")}
    if verb == COMPACT:
        held = {"originals_held_files": sums["files"], "originals_held_bytes": sums["bytes"]}
        left = {"partitions_deferred": len(units_with(table, ("deferred",)))}
        return {**held, **left, "backup_table": table.get("backup_table")}
    if verb == CLEANUP:
        return {key: table.get(key) or 0 for key in ("freed_bytes", "trashed_bytes")}
    return {}

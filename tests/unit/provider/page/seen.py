"""Observations for tests of the pages."""

from __future__ import annotations

import json
from typing import Any

from lakekeeper_provider.page import figures
from lakekeeper_provider.page.observations import Source, Stored
from lakekeeper_provider.page.tables import Tables, add
from lakekeeper_provider.report import health

DAY = 86_400
NOW = 20_500 * DAY + 3_600.0


def stored(
    *records: dict[str, Any],
    verb: str = "analyze",
    at: float = NOW,
    number: int = 1,
    dag_id: str = "nightly",
    **extra: Any,
) -> Stored:
    told = {"version": health.VERSION, "verb": verb, "whole": verb == "analyze", **extra}
    source = Source(dag_id, "scheduled__1", verb, -1)
    return Stored(number, at, source, {"server": "hive:10000", **told, "tables": json.dumps(records)})


def record(name: str = "sales.events", **more: Any) -> dict[str, Any]:
    return {"table": name, "outcome": "done", "partitions": 1, **more}


def tables_of(*pages: Stored) -> Tables:
    tables = Tables()
    add(tables, pages)
    return tables


ALL = ("nightly", "on_demand", "team")
ANALYSED = record(files=1_000, bytes=5_000, flagged=4, flagged_files=900)
REWRITTEN = {"files_before": 600, "files_after": 6, "bytes_before": 3_000, "bytes_after": 2_800}


def row_of(*pages, dags=ALL, name="sales.events"):
    view = tables_of(*pages).view("hive:10000", name, dags)
    return None if view is None else figures.row(view, NOW)


def all_of(*pages):
    return figures.of_all(tables_of(*pages).views(ALL), NOW)[1]

"""Observations for tests of the pages."""

from __future__ import annotations

import json
from typing import Any

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

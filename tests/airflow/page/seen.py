"""What jobs have told, for tests of the pages in Airflow's API server."""

from __future__ import annotations

import re
from datetime import timedelta

from tests.airflow.page.conftest import NOW, event

ANALYSED = {
    "table": "sales.events",
    "outcome": "done",
    "files": 1_000,
    "bytes": 1_000,
    "flagged": 4,
    "partitions": 9,
}
ANALYSED |= {"flagged_files": 900, "flagged_units": [{"unit": {"date": "a"}, "files": 9, "bytes": 90}]}
REWRITTEN = {"files_before": 600, "files_after": 6, "bytes_before": 3_000, "bytes_after": 2_800}
COMPACTED = {"table": "sales.events", "outcome": "partial", "rewritten": REWRITTEN, "held_runs": 1}
COMPACTED |= {
    "outcomes": {"compacted": 3, "deferred": 1},
    "held_bytes": 3_000,
    "held_since": "2026-02-24T01:00:00Z",
}
COMPACTED |= {
    "left": [
        {"unit": {"date": "b"}, "files": 1, "bytes": 1, "outcome": "deferred", "code": None, "reason": "late"}
    ]
}
TABLE = "/lakekeeper/table?server=hive:10000&name="


def night(**more):
    return [event(ANALYSED, **more), event(COMPACTED, verb="compact", at=NOW - timedelta(hours=7), **more)]


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))

"""Write events of the tables' health as nights of maintenance leave them. It runs with Airflow's Python.

python -m benchmarks.pages.make_events TABLES NIGHTS
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from airflow.models.asset import AssetEvent, AssetModel
from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from airflow.utils.session import create_session
from sqlalchemy import insert

from lakekeeper_provider.report import health

DATABASES = 40
#: The share of the tables that a night compacts.
COMPACTED = 0.3
DAG = "lakekeeper_maintenance_db{:02}"


class Lake:
    """Tables whose files grow by day and are compacted by night."""

    def __init__(self, tables: int) -> None:
        self._random = random.Random(7)
        self.names = [f"db{n % DATABASES:02}.table_{n:05}" for n in range(tables)]
        self._files = [self._random.randint(20, 3_000) for _ in self.names]

    def analyzed(self, number: int) -> dict[str, Any]:
        """Return the record of an analysis."""
        self._files[number] += self._random.randint(0, 120)
        files = self._files[number]
        small = files // 2
        units = [
            {"unit": {"date": f"2026-11-0{day}"}, "files": small // 3, "bytes": small * 333}
            for day in (1, 2, 3)
        ]
        writer = {
            "owner": "etl",
            "pattern": "part-*-c000.snappy.parquet",
            "files": small,
            "bytes": small * 1_000,
        }
        return {
            **self._common(number, files),
            "outcomes": {"flagged": 3, "healthy": 27},
            **{"flagged": 3, "flagged_files": small, "flagged_bytes": small * 1_000, "target_files": 3},
            **{"flagged_units": units, "writers": [writer], "files_per_day": 31.5},
        }

    def compacted(self, number: int) -> dict[str, Any] | None:
        """Return the record of a compaction; None for a table that this night leaves alone."""
        if self._random.random() > COMPACTED:
            return None
        before = self._files[number]
        self._files[number] = after = max(5, before // 3)
        left = {
            "unit": {"date": "2026-11-09"},
            "files": 40,
            "bytes": 4_000,
            "outcome": "deferred",
            "reason": "late",
        }
        sizes = {"files_before": before - after + 3, "files_after": 3}
        sizes |= {f"bytes_{when}": (before - after) * 1_000 for when in ("before", "after")}
        outcomes = {"compacted": 3, "deferred": 1}
        return {
            **self._common(number, after),
            "outcomes": outcomes,
            "rewritten": sizes,
            "left": [left],
            "left_files": 40,
        }

    def _common(self, number: int, files: int) -> dict[str, Any]:
        odd = {"warning_codes": {"METADATA_NOT_KEPT": 1}, "warnings": ["METADATA_NOT_KEPT: pandas"]}
        return {
            **{"table": self.names[number], "outcome": "done", "files": files, "bytes": files * 3_000_000},
            **{
                "partitions": 30,
                "held_bytes": files * 1_000_000,
                "held_runs": 2,
                "held_since": "2026-11-20T01:00:00Z",
            },
            **(odd if number % 17 == 0 else {}),
        }


def events(lake: Lake, night: int, nights: int) -> Iterator[dict[str, Any]]:
    """Yield the columns of the events of one night: one for each table and job, as mapped tasks leave them."""
    evening = datetime.now(timezone.utc) - timedelta(days=nights - night, hours=3)
    for verb, hours in (("analyze", 0), ("compact", 2)):
        for number in range(len(lake.names)):
            record = lake.analyzed(number) if verb == "analyze" else lake.compacted(number)
            if record is not None:
                at = evening + timedelta(hours=hours, seconds=0.1 * number)
                yield _event(record, verb, number, f"nightly-{night:04}", at)


def _event(record: dict[str, Any], verb: str, number: int, run_id: str, at: datetime) -> dict[str, Any]:
    told = {
        "version": health.VERSION,
        "verb": verb,
        "outcome": "done",
        "run_id": run_id,
        "ended": at.isoformat(),
    }
    told |= {"report": None, "server": "default", "whole": verb == "analyze", "page": 1, "pages": 1}
    return {
        "timestamp": at,
        "source_dag_id": DAG.format(number % DATABASES),
        "source_run_id": f"scheduled__{run_id}",
        "source_task_id": verb,
        "source_map_index": number // DATABASES,
        "extra": {**told, "tables": json.dumps([record], separators=(",", ":"))},
    }


def main() -> int:
    tables, nights = map(int, sys.argv[1:])
    with create_session() as session:
        session.merge(DagBundleModel(name="dags-folder"))
        session.flush()
        for number in range(DATABASES):
            place = {"bundle_name": "dags-folder", "fileloc": "/dags/x.py", "relative_fileloc": "x.py"}
            session.merge(DagModel(dag_id=DAG.format(number), is_paused=False, is_stale=False, **place))
        asset = AssetModel(name=health.URI, uri=health.URI, group="asset", extra={})
        session.add(asset)
        session.flush()
        number = asset.id
    lake = Lake(tables)
    for night in range(nights):
        rows = [{"asset_id": number, **event} for event in events(lake, night, nights)]
        with create_session() as session:
            session.execute(insert(AssetEvent), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

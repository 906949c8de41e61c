"""The metrics of the jobs, by Airflow's own client, at a StatsD server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from lakekeeper_provider import metrics, report
from tests.airflow.conftest import ROOT
from tests.airflow.support import context, wait_for
from tests.airflow.tasks import compact
from tests.harness.statsd_server import StatsdServer

#: Sends the metrics of reports as the process of a task does, which has set up the client before.
PROGRAM = """
import json, sys
try:
    from airflow.sdk.observability import stats
    from airflow.sdk.observability.metrics import stats_utils
    stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=False)
except ImportError:
    pass  # Airflow 2 sets it up by itself
from lakekeeper_provider import metrics, report
from lakekeeper_provider.compat import Stats, utcnow
for text in json.load(sys.stdin):
    metrics.send(report.parse(text, json.loads(text)["verb"]), Stats, utcnow())
"""
BEFORE, AFTER = {"files": 200, "bytes": 9000}, {"files": 2, "bytes": 8000}


def job(verb: str, *tables: dict[str, Any]) -> str:
    times = {"started": "2026-02-24T01:00:00Z", "ended": "2026-02-24T01:00:07Z"}
    named = [{"table": f"db.t{number}", "outcome": "done", **table} for number, table in enumerate(tables)]
    return json.dumps({"schema_version": 1, "verb": verb, "outcome": "done", **times, "tables": named})


def row(kind: str, rollback: str | None, at: str = "2026-02-23T01:00:00Z") -> dict[str, Any]:
    return {"kind": kind, "rollback": rollback, "at": at, "before": BEFORE, "after": AFTER}


COMPACT = job(
    "compact",
    {
        "units": [{"unit": {}, "outcome": "compacted"}, {"unit": {}, "outcome": "quarantined"}],
        "before": BEFORE,
        "after": AFTER,
        "warnings": ["ATTRIBUTE_NOT_KEPT: the owner is not kept"],
    },
    {"before": BEFORE, "after": AFTER},
)
CLEANUP = job("cleanup", {"freed_bytes": 70, "trashed_bytes": 30})
HISTORY = job(
    "history",
    {"history": [row("compact", "possible"), row("compact", "superseded", "2026-02-20T01:00:00Z")]},
    {"history": [row("compact", "cleaned"), row("rollback", None), row("compact", "possible")]},
)


@pytest.fixture
def statsd() -> Iterator[StatsdServer]:
    server = StatsdServer()
    yield server
    server.close()


def test_a_server_receives_every_documented_name(statsd):
    environ = {**os.environ, **statsd.environ(), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM]
    sent = json.dumps([COMPACT, CLEANUP, HISTORY])
    done = subprocess.run(command, input=sent, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expected = {
        "compact.duration": "7000.000000|ms",
        "compact.tables.done": "2|c",
        "compact.units.compacted": "1|c",
        "compact.units.quarantined": "1|c",
        "compact.warnings.ATTRIBUTE_NOT_KEPT": "1|c",
        "compact.files_before": "400|c",
        "compact.files_after": "4|c",
        "compact.bytes_before": "18000|c",
        "compact.bytes_after": "16000|c",
        "cleanup.freed_bytes": "70|c",
        "cleanup.trashed_bytes": "30|c",
        "history.originals_held_runs": "3|g",
        "history.originals_held_files": "600|g",
        "history.originals_held_bytes": "27000|g",
    }

    def arrived() -> bool:
        return {f"airflow.lakekeeper.{name}" for name in expected} <= set(statsd.received)

    wait_for("the metrics", arrived)
    got = {name: statsd.received[f"airflow.lakekeeper.{name}"] for name in expected}
    assert got == {name: [value] for name, value in expected.items()}
    ours = [name.split(".", 3) for name in statsd.received if name.startswith("airflow.lakekeeper.")]
    kinds = {name.split(".")[0] for *_, name in ours}
    assert kinds == {name.split(".")[0] for name in metrics.METRICS}


def test_the_oldest_backup_has_its_age_in_seconds():
    now = datetime(2026, 2, 24, 1, tzinfo=timezone.utc)
    found = {metric.name: metric.value for metric in metrics.of(report.parse(HISTORY, "history"), now)}
    assert found["lakekeeper.history.oldest_backup_seconds"] == 4 * 24 * 3600
    none = {metric.name: metric.value for metric in metrics.of(report.parse(job("history"), "history"), now)}
    assert none["lakekeeper.history.oldest_backup_seconds"] == 0


def test_a_metric_that_cannot_be_sent_does_not_fail_the_task(spark, monkeypatch, caplog):
    def failing(*_: Any) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("lakekeeper_provider.operators.observed_job.Stats", SimpleNamespace(timing=failing))
    assert compact().execute(context())["outcome"] == "done"
    assert "the metrics of compact could not be sent: no route to host" in caplog.text

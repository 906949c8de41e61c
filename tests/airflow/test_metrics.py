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

from lakekeeper_provider.events import metrics
from lakekeeper_provider.operators.history import HistoryOperator
from lakekeeper_provider.report import report
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
from lakekeeper_provider.events import metrics
from lakekeeper_provider.compat import Stats, utcnow
from lakekeeper_provider.report import report
for text in json.load(sys.stdin):
    metrics.send(report.parse(text, json.loads(text)["verb"]), Stats, utcnow())
"""
BEFORE, AFTER = {"files": 200, "bytes": 9000}, {"files": 2, "bytes": 8000}


def job(verb: str, *tables: dict[str, Any], **more: int) -> str:
    times = {"started": "2026-02-24T01:00:00Z", "ended": "2026-02-24T01:00:07Z"}
    named = [{"table": f"db.t{number}", "outcome": "done", **table} for number, table in enumerate(tables)]
    return json.dumps(
        {"schema_version": 1, "verb": verb, "outcome": "done", **times, "tables": named, **more}
    )


def row(kind: str, rollback: str | None, run_id: str, at: str = "2026-02-23T01:00:00Z") -> dict[str, Any]:
    figures = {"before": BEFORE, "after": AFTER}
    return {"kind": kind, "rollback": rollback, "run_id": run_id, "at": at, **figures}


#: A unit that was swapped, and one that has nothing to do with it.
UNIT = {
    "unit": {"d": "1"},
    "outcome": "compacted",
    "files": 200,
    "files_after": 2,
    "bytes": 9000,
    "bytes_after": 8000,
}
DEFERRED = {"unit": {"d": "4"}, "outcome": "deferred", "files": 30, "bytes": 700}
HEALTHY = {"unit": {"d": "2"}, "outcome": "healthy", "files": 1000, "bytes": 10**9}


COMPACT = job(
    "compact",
    {
        "units": [UNIT, HEALTHY, {"unit": {"d": "3"}, "outcome": "quarantined"}],
        "warnings": ["ATTRIBUTE_NOT_KEPT: the owner is not kept"],
    },
    {"units": [UNIT, DEFERRED]},
    namenode_calls=1234,
)
ANALYSIS = job(
    "analyze",
    {"units": [{"unit": {"d": str(days)}, "outcome": "flagged", "open_days": days} for days in (2, 3, 9)]},
)
CLEANUP = job("cleanup", {"freed_bytes": 70, "trashed_bytes": 30})
HISTORY = job(
    "history",
    {
        "history": [
            row("compact", "possible", "r2"),
            row("compact", "superseded", "r1", "2026-02-20T01:00:00Z"),
            row("compact", "superseded", "r1", "2026-02-20T00:00:00Z"),
        ]
    },
    {
        "history": [
            row("compact", "cleaned", "r1"),
            row("rollback", None, "r0"),
            row("compact", "possible", "r2"),
        ]
    },
)


@pytest.fixture
def statsd() -> Iterator[StatsdServer]:
    server = StatsdServer()
    yield server
    server.close()


def test_a_server_receives_every_documented_name(statsd):
    environ = {**os.environ, **statsd.environ(), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM]
    sent = json.dumps([COMPACT, ANALYSIS, CLEANUP, HISTORY])
    done = subprocess.run(command, input=sent, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expected = {
        "compact.duration": "7000.000000|ms",
        "compact.tables.done": "2|c",
        "compact.units.compacted": "2|c",
        "compact.units.healthy": "1|c",
        "compact.units.quarantined": "1|c",
        "compact.units.deferred": "1|c",
        "compact.deferred_files": "30|c",
        "compact.deferred_bytes": "700|c",
        "compact.namenode_calls": "1234|c",
        "compact.warnings.ATTRIBUTE_NOT_KEPT": "1|c",
        "compact.files_before": "400|c",
        "compact.files_after": "4|c",
        "compact.bytes_before": "18000|c",
        "compact.bytes_after": "16000|c",
        "analyze.open_units": "2|g",
        "cleanup.freed_bytes": "70|c",
        "cleanup.trashed_bytes": "30|c",
        "history.originals_held_runs": "3|g",
        "history.originals_held_files": "800|g",
        "history.originals_held_bytes": "36000|g",
    }

    def arrived() -> bool:
        return {f"airflow.lakekeeper.{name}" for name in expected} <= set(statsd.received)

    wait_for("the metrics", arrived, patience=30)
    got = {name: statsd.received[f"airflow.lakekeeper.{name}"] for name in expected}
    assert got == {name: [value] for name, value in expected.items()}
    ours = [name.split(".", 3) for name in statsd.received if name.startswith("airflow.lakekeeper.")]
    kinds = {name.split(".")[0] for *_, name in ours}
    assert kinds == {name.split(".")[0] for name in metrics.METRICS}


def test_the_oldest_backup_has_its_age_in_seconds():
    now = datetime(2026, 2, 24, 1, tzinfo=timezone.utc)
    found = {metric.name: metric.value for metric in metrics.of(report.parse(HISTORY, "history"), now)}
    assert found["lakekeeper.history.oldest_backup_seconds"] == 4 * 24 * 3600 + 3600
    none = {metric.name: metric.value for metric in metrics.of(report.parse(job("history"), "history"), now)}
    assert none["lakekeeper.history.oldest_backup_seconds"] == 0


def test_a_history_that_is_not_whole_has_no_gauges():
    """Else an alert on the oldest backup would end just when the job fails."""
    now = datetime(2026, 2, 24, 1, tzinfo=timezone.utc)
    failed = report.parse(
        json.dumps({"schema_version": 1, "verb": "history", "outcome": "failed"}), "history"
    )
    assert list(metrics.of(failed, now)) == []
    limited = metrics.of(report.parse(HISTORY, "history"), now, whole=False)
    assert [metric.kind for metric in limited if metric.kind == metrics.GAUGE] == []
    assert not HistoryOperator(task_id="h", database="sales", limit=5).has_all_rows()


def test_a_metric_that_cannot_be_sent_does_not_fail_the_task(spark, monkeypatch, caplog):
    def failing(*_: Any) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("lakekeeper_provider.events.observed_job.Stats", SimpleNamespace(timing=failing))
    assert compact().execute(context())["outcome"] == "done"
    assert "the metrics of compact could not be sent: no route to host" in caplog.text

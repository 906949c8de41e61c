"""What a newcomer finds in the UI after `make demo` and `make up`."""

from __future__ import annotations

import os
from typing import Any

import pytest

from demo import screenshot
from demo.services import machine
from demo.workspace import DAG
from tests.demo.airflow_client import AirflowClient

pytestmark = pytest.mark.live


def first_run(api: AirflowClient) -> str:
    """The run of `make demo`."""
    return str(api.get(f"/dags/{DAG}/dagRuns?order_by=run_after&limit=1")["dag_runs"][0]["dag_run_id"])


@pytest.mark.skipif(
    bool(machine.missing_browser()) and os.environ.get("LAKEKEEPER_CLUSTER") != "required",
    reason="a browser is needed: apt-get install chromium chromium-driver",
)
def test_a_browser_shows_the_logs_of_the_finished_run(api):
    text = screenshot.look_at(screenshot.LOG, api.url, api.token, first_run(api))

    for shown in (
        "demo.lakekeeper_events_2p: done, 9 units compacted, 900 -> 9 files",
        "date=2026-02-23/ref=A  100 -> 1",
        "phases: start",
    ):
        assert shown in text


def test_the_asset_events_have_the_figures(api):
    events: list[dict[str, Any]] = api.get("/assets/events?limit=100")["asset_events"]
    of_the_run = [
        event
        for event in events
        if event["source_run_id"] == first_run(api) and event["uri"].startswith("hive:")
    ]
    found = {
        (event["uri"].rpartition("/")[2], event["extra"]["files_before"], event["extra"]["files_after"])
        for event in of_the_run
        if event["extra"]["verb"] == "compact"
    }

    assert found == {
        ("lakekeeper_flat?lakekeeper=compact", 500, 1),
        ("lakekeeper_events?lakekeeper=compact", 600, 3),
        ("lakekeeper_events_2p?lakekeeper=compact", 900, 9),
    }
    small = [event["extra"]["small_files"] for event in of_the_run if event["extra"]["verb"] == "analyze"]
    assert sorted(small)[-3:] == [500, 600, 900]

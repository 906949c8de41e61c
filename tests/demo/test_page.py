"""The page of a table in Airflow's UI, over the demo's tables, as somebody with a browser uses it."""

from __future__ import annotations

from typing import Any

import pytest

from demo import screenshot
from demo.screenshot import Screenshot
from tests.demo.airflow_client import AirflowClient
from tests.demo.conftest import Demo
from tests.harness.waiting import wait_for

pytestmark = [pytest.mark.live, pytest.mark.full]

TABLE = "/lakekeeper/table?server=default&name=demo.lakekeeper_flat"
ROLL_BACK = "Roll back the last compaction"


def act(api: AirflowClient, button: str, confirm: str) -> None:
    """Click a button of the page of a table, confirm it, and wait until what it has triggered has ended."""
    known = succeeded(api)
    page = Screenshot("", TABLE, ("Triggered: manual__",), (), (button, confirm))
    screenshot.look_at(page, api.url, api.token, "")
    wait_for("the run", lambda: succeeded(api) > known, patience=180)


def succeeded(api: AirflowClient) -> set[str]:
    runs: list[dict[str, Any]] = api.get("/dags/lakekeeper_on_demand/dagRuns")["dag_runs"]
    assert not [run for run in runs if run["state"] == "failed"]
    return {run["dag_run_id"] for run in runs if run["state"] == "success"}


def wait_until_shown(api: AirflowClient, *texts: str) -> None:
    """The page reads what is new every ten seconds."""

    def shown() -> bool:
        page = Screenshot("", TABLE, ("Files and bytes over time",), ())
        found = screenshot.look_at(page, api.url, api.token, "")
        return all(text in found for text in texts)

    wait_for(f"{texts} on the page", shown, patience=60)


def test_a_table_is_rolled_back_and_compacted_again_by_the_buttons_of_its_page(
    api: AirflowClient, demo: Demo
):
    live = demo.workspace.warehouse / "demo" / "lakekeeper_flat"

    def files() -> int:
        return len([file for file in live.iterdir() if file.suffix == ".parquet"])

    page = Screenshot("", TABLE, ("is paused: unpause it first",), ())
    screenshot.look_at(page, api.url, api.token, "")
    api.unpause("lakekeeper_on_demand")
    wait_until_shown(api, "Files\n1\n", ROLL_BACK)
    act(api, ROLL_BACK, "Roll back")
    restored = files()
    assert restored >= 500  # and what another test has appended
    wait_until_shown(api, f"Files\n{restored}\n", "nothing can be rolled back")
    act(api, "Compact now", "Compact")
    wait_until_shown(api, "Files\n1\n", ROLL_BACK)
    assert files() == 1

"""The background reader: it reads each result once, whenever it appears, and none that is odd stops it."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from airflow.models.asset import AssetEvent
from airflow.utils.session import create_session
from sqlalchemy.exc import OperationalError

from lakekeeper_provider.page import follower
from lakekeeper_provider.page.follower import Reader
from lakekeeper_provider.report import health
from tests.airflow.page.conftest import NOW, event, leave_in_xcom
from tests.harness.waiting import wait_for

ALL = ("nightly", "team_b")


def extra(name: str, **more: Any) -> dict[str, Any]:
    record = {"table": name, "outcome": "failed", "files": 7, "bytes": 7, "partitions": 1}
    told = {"version": health.VERSION, "verb": "compact", "whole": True, "server": "hive:10000", "page": 1}
    return {**told, "tables": json.dumps([record]), **more}


def analysed(name: str, **more: Any) -> dict[str, Any]:
    return event({"table": name, "outcome": "done", "files": 7, "bytes": 7, "partitions": 1}, **more)


def read(reader: Reader) -> set[str]:
    """Read what is new; return the names of all tables, as a page shows them."""
    while reader.read():
        pass
    return {view.name for view in reader.snapshot().tables.views(ALL)}


@pytest.mark.parametrize(
    "odd",
    [
        {"page": []},
        {"page": {}, "version": 1},
        {"tables": 7, "version": 1, "verb": "compact"},
        [],
        "text",
        7,
        None,
        {"version": 1, "verb": ["compact"], "tables": "[]"},
        {"server": [], "version": 1, "verb": "compact", "tables": '[{"table": "a.b"}]'},
    ],
    ids=str,
)
def test_an_xcom_that_somebody_has_written_stops_nothing(airflow_db, recorded, odd):
    leave_in_xcom(odd, extra("sales.failed"))
    recorded(analysed("sales.one"))
    reader = Reader()
    assert {"sales.one", "sales.failed"} <= read(reader)
    recorded(analysed("sales.two"))
    assert "sales.two" in read(reader)


def test_values_that_are_nested_deeply_stop_nothing(airflow_db, recorded):
    deep: Any = []
    for _ in range(600):
        deep = [deep]
    leave_in_xcom({"version": 1, "verb": "compact", "tables": "[]", "page": deep})
    odd = analysed("sales.odd")
    odd["extra"]["report"] = deep
    recorded(odd, analysed("sales.one"))
    assert read(Reader()) >= {"sales.one"}


@pytest.mark.parametrize(("state", "known"), [("failed", True), ("skipped", True), ("success", False)])
def test_what_is_left_in_xcom_is_read_of_tasks_that_have_not_succeeded(airflow_db, recorded, state, known):
    recorded(analysed("sales.one"))
    leave_in_xcom(extra("sales.failed"), state=state)
    assert ("sales.failed" in read(Reader())) is known


@pytest.mark.parametrize("idle", [0, 900, 100_000])
@pytest.mark.parametrize("behind", [0, 300])
def test_an_event_that_appears_after_one_with_a_higher_id_is_read(
    airflow_db, recorded, monkeypatch, idle, behind
):
    """Ids are given before a transaction ends, and clocks of machines differ."""
    at = NOW - timedelta(seconds=behind)
    late, last = recorded(analysed("sales.late", at=at), analysed("sales.last", at=at))
    with create_session() as session:
        session.delete(session.get(AssetEvent, late))
    reader = Reader()
    assert read(reader) == {"sales.last"}
    assert read(reader) == {"sales.last"}
    with create_session() as session:
        found = session.get(AssetEvent, last)
        session.add(AssetEvent(id=late, asset_id=found.asset_id, **analysed("sales.late", at=at)))
    now = time.time()
    monkeypatch.setattr(follower.time, "time", lambda: now + idle)
    assert read(reader) == {"sales.last", "sales.late"}
    (view,) = (view for view in reader.tables.views(ALL) if view.name == "sales.last")
    assert len(list(view.points())) == 1


def test_an_error_of_the_database_loses_nothing_and_counts_nothing_twice(airflow_db, recorded, monkeypatch):
    monkeypatch.setattr(follower, "_EVERY", 0.05)
    recorded(analysed("sales.one"))
    own, read_once = follower.Follower(), Reader.read
    failures = iter([True, False, True])

    def failing(reader):
        again = read_once(reader)
        if next(failures, False):
            raise OperationalError("select", {}, OSError("the server has closed the connection"))
        return again

    monkeypatch.setattr(Reader, "read", failing)
    try:
        own.snapshot()
        recorded(analysed("sales.two"))
        names = {"sales.one", "sales.two"}
        wait_for("both", lambda: {view.name for view in own.snapshot().tables.views(ALL)} == names)
        assert own.snapshot().tables.version == 2
    finally:
        own.stop()


def test_an_xcom_is_read_after_one_of_a_clock_that_is_ahead(airflow_db, recorded):
    recorded(analysed("sales.one"))
    leave_in_xcom(extra("sales.ahead"), at=NOW + timedelta(minutes=10))
    reader = Reader()
    assert "sales.ahead" in read(reader)
    leave_in_xcom(extra("sales.failed"))
    assert "sales.failed" in read(reader)
    assert reader.tables.version == 3


def test_the_first_page_has_results_however_long_they_take_to_read(airflow_db, recorded, monkeypatch):
    """Where the database has answered after half a second only, the page said that nothing is known."""
    recorded(analysed("sales.one"))
    monkeypatch.setattr(follower, "_FIRST_SECONDS", 0)
    assert "sales.one" in {view.name for view in follower._first().tables.views(ALL)}

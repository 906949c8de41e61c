"""Airflow's API server with the pages, in this process, on a database with events of the tables' health."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from airflow.models.asset import AssetEvent, AssetModel
from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from fastapi.testclient import TestClient
from sqlalchemy import delete, insert, text
from sqlalchemy.orm import Session

from lakekeeper_provider.page import plugin
from lakekeeper_provider.report import health
from tests.airflow.page.per_dag_auth import RIGHTS, PerDagAuthManager

NOW = datetime.now(timezone.utc)
DAGS = ("nightly", "team_b", "lakekeeper_on_demand")
_RUN_NUMBERS = itertools.count(1)
Client = Callable[[str | None], TestClient]


def event(
    *records: dict[str, Any], verb: str = "analyze", dag_id: str | None = "nightly", **more: Any
) -> dict:
    """The columns of an event, without its asset."""
    told = {
        "version": health.VERSION,
        "verb": verb,
        "run_id": "r1",
        "whole": verb == "analyze",
        "outcome": "done",
        "server": "hive:10000",
    }
    run_id, at = more.pop("source_run_id", "scheduled__1"), more.pop("at", NOW - timedelta(hours=8))
    return {
        "timestamp": at,
        "source_dag_id": dag_id,
        "source_run_id": dag_id and run_id,
        "source_task_id": dag_id and verb,
        "source_map_index": -1,
        "extra": {**told, **more, "tables": json.dumps(records)},
    }


def add_dags(session: Session) -> None:
    """Add the DAGs whose jobs have found something, and the one that the pages trigger."""
    session.merge(DagBundleModel(name="dags-folder"))
    session.flush()
    for dag_id in DAGS:
        place = {"fileloc": "/dags/x.py", "relative_fileloc": "x.py", "bundle_name": "dags-folder"}
        session.merge(DagModel(dag_id=dag_id, is_stale=False, is_paused=False, **place))


@pytest.fixture(scope="module")
def application(airflow_db: Path) -> Iterator[Any]:
    """The whole API server as Airflow makes it, with the plugin, and users with rights per DAG."""
    from airflow import plugins_manager
    from airflow.api_fastapi import app as core
    from airflow.configuration import conf

    with pytest.MonkeyPatch.context() as patched:
        manager = f"{PerDagAuthManager.__module__}.{PerDagAuthManager.__qualname__}"
        patched.setenv("AIRFLOW__CORE__AUTH_MANAGER", manager)
        patched.setenv("AIRFLOW__API_AUTH__JWT_SECRET", "only-for-these-tests-" + 64 * "0")
        users = ",".join(f"{name}:admin" for name in RIGHTS)
        patched.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", users)
        found = plugins_manager.get_fastapi_plugins()
        if not any(each["url_prefix"] == plugin.PREFIX for each in found[0]):
            apps = [*found[0], *plugin.LakekeeperPlugin.fastapi_apps]
            patched.setattr(plugins_manager, "get_fastapi_plugins", lambda: (apps, found[1]))
        assert conf.get("core", "auth_manager") == manager
        core.purge_cached_app()
        with create_session() as session:
            add_dags(session)
        yield core.create_app("core")
        core.purge_cached_app()
        with create_session() as session:
            session.execute(delete(DagModel).where(DagModel.dag_id.in_(DAGS)))


@pytest.fixture
def client(application: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Return a client of a user by the cookie of Airflow's UI; None is nobody in particular."""
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    from lakekeeper_provider.page import app, follower, shown

    # Nothing of an earlier test is known.
    own = follower.Follower()
    monkeypatch.setattr(app, "follower", own)
    monkeypatch.setattr(app, "_cache", shown.Cache())

    def of(name: str | None) -> TestClient:
        cookies = {}
        if name:
            user = SimpleAuthManagerUser(username=name, role="admin")
            cookies = {"_token": get_auth_manager().generate_jwt(user)}
        return TestClient(application, cookies=cookies, raise_server_exceptions=False)

    yield of
    own.stop()


def leave_in_xcom(
    *values: Any,
    key: str = f"{health.XCOM_KEY}0",
    state: str = "failed",
    at: datetime | None = None,
    dag_id: str = "nightly",
) -> None:
    """Leave values in XCom as tasks do that end in this state, now: each is of a DAG run of its own."""
    at = at or datetime.now(timezone.utc)
    with create_session() as session:
        session.execute(text("PRAGMA foreign_keys = OFF"))
        for value in values:
            place = {"dag_id": dag_id, "run_id": str(uuid4()), "task_id": "compact", "map_index": -1}
            needed = {
                "try_number": 1,
                "pool": "default_pool",
                "pool_slots": 1,
                "max_tries": 0,
                "state": state,
            }
            session.execute(insert(TaskInstance).values(id=uuid4(), **place, **needed))
            xcom = {"key": key, "value": value, "timestamp": at, "dag_run_id": next(_RUN_NUMBERS)}
            session.execute(insert(XComModel).values(**place, **xcom))


@pytest.fixture
def recorded(airflow_db: Path) -> Iterator[Callable[..., list[int]]]:
    """Return a function that records events, as Airflow does, and returns their ids; they are deleted afterwards."""

    def record(*events: dict[str, Any]) -> list[int]:
        with create_session() as session:
            found = session.query(AssetModel).filter_by(uri=health.URI).one_or_none()
            if found is None:
                found = AssetModel(name=health.URI, uri=health.URI, group="asset", extra={})
                session.add(found)
                session.flush()
            made = [AssetEvent(asset_id=found.id, **each) for each in events]
            session.add_all(made)
            session.flush()
            return [each.id for each in made]

    def forget() -> None:
        with create_session() as session:
            session.execute(delete(AssetEvent))
            session.execute(delete(XComModel))
            session.execute(delete(TaskInstance).where(TaskInstance.pool == "default_pool"))

    record.forget = forget  # type: ignore[attr-defined]
    forget()
    yield record
    forget()

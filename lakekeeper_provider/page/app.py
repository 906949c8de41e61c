"""The app behind the pages: its routes, which only read. Acts go to Airflow's own REST."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.core_api.security import requires_access_dag
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from lakekeeper_provider.page import access, on_demand, shown, stored
from lakekeeper_provider.page.access import User
from lakekeeper_provider.page.follower import Follower, Snapshot
from lakekeeper_provider.page.listing import Wanted
from lakekeeper_provider.page.plugin import PREFIX, base
from lakekeeper_provider.report.html.rendering import STATIC, environment

#: The page of a table reads so many events.
_RUNS_SHOWN = 200
#: Only scripts and styles of this app run, and only Airflow shows it in a frame.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}

app = FastAPI(title="Lakekeeper", docs_url=None, redoc_url=None, openapi_url=None)
follower = Follower()
_templates = environment(Path(__file__).parent / "templates")
_cache = shown.Cache()


@app.middleware("http")
async def with_policy(request: Request, call_next: Any) -> Response:
    """Add the headers to each answer, also to an error."""
    response: Response = await call_next(request) if _names_a_run(request) else Response("Not Found", 404)
    for name, value in _HEADERS.items():
        may_be_kept = name == "Cache-Control" and "/static/" in request.url.path
        if not may_be_kept:  # guard: each_answer_has_the_policy
            response.headers[name] = value
    return response


def _names_a_run(request: Request) -> bool:
    """Tell whether a DAG run may have these names: PostgreSQL takes none with NUL, and raises an error."""
    return not request.url.path.endswith(("/run", "/task")) or "%00" not in request.url.query


@app.exception_handler(HTTPException)
async def say_why(_: Request, error: HTTPException) -> HTMLResponse:
    """Show an error as a page; without a login, with the way to it."""
    values = {"code": error.status_code, "detail": error.detail, "login": f"{base()}/auth/login"}
    return HTMLResponse(_page("error.html", values), error.status_code)


@app.get("/", response_class=HTMLResponse)
def list_of_tables(request: Request, user: User) -> str:
    """Return the list of all tables that the user may see."""
    snapshot = follower.snapshot()
    dags = access.readable(user, list(snapshot.tables.dags))
    seen = _cache.seen(snapshot, dags, time.time())
    wanted = Wanted.of(request.query_params)
    values = shown.tables(seen, wanted)
    if not seen.rows:
        values["acts"] = on_demand.acts(user)
    values["several"] = len({row.server for row in seen.rows}) > 1
    return _page("tables.html", {**values, **_of(snapshot, dags, seen.since)})


@app.get("/table", response_class=HTMLResponse)
def one_table(request: Request, user: User) -> str:
    """Return one table."""
    server, name = (request.query_params.get(key, "") for key in ("server", "name"))
    snapshot = follower.snapshot()
    observers = snapshot.tables.dags_of(server, name)
    if not observers:
        raise HTTPException(404, "No job has looked at this table")
    # The same answer for a table that nobody has looked at: the address must not tell which tables there are.
    permitted = access.permitted(user, observers)
    view = snapshot.tables.view(server, name, permitted)
    if view is None:
        raise HTTPException(404, "No job has looked at this table")
    with snapshot.tables.lock:
        numbers = [point.number for point in view.points()][-_RUNS_SHOWN:]
        servers = {each: dict(dags) for each, dags in snapshot.tables.servers.items()}
    found = stored.numbered([each for each in numbers if each])
    if 0 in numbers:
        found = sorted([*found, *stored.failed(_RUNS_SHOWN, permitted)], key=lambda each: each.at)
    runs = shown.runs_of(view, found)
    with snapshot.tables.lock:
        values, since = shown.table(view, runs), view.since
    values["several"] = len(access.readable_of(user, servers)) > 1
    values["acts"] = on_demand.acts(user)
    if not on_demand.works_on(server, servers):
        values["acts"]["why_not"] = values["acts"]["why_not"] or on_demand.elsewhere()
    return _page("table.html", {**values, **_of(snapshot, permitted, since)})


@app.get(
    "/run",
    response_class=HTMLResponse,
    dependencies=[Depends(requires_access_dag("GET", DagAccessEntity.TASK_INSTANCE))],
)
def one_run(user: User, dag_id: str, run_id: str) -> str:
    """Return what one DAG run has done."""
    # Airflow before 3.1.8 reads the DAG from the path only, and would ask whether any DAG may be read.
    access.require(user, dag_id, DagAccessEntity.TASK_INSTANCE)
    run_id = _run_id(dag_id, run_id)
    snapshot = follower.snapshot()
    found = stored.of_run(dag_id, run_id)
    states = stored.states(dag_id, run_id)
    if not states and not found:
        raise HTTPException(404, "There is no such DAG run")
    dags = access.readable(user, list(snapshot.tables.dags))
    with snapshot.tables.lock:
        view_of = partial(snapshot.tables.view, dags=dags)
        values = shown.run(dag_id, run_id, found, states, view_of)
    return _page("run.html", {**values, **_of(snapshot, {dag_id})})


@app.get(
    "/task",
    response_class=HTMLResponse,
    dependencies=[Depends(requires_access_dag("GET", DagAccessEntity.XCOM))],
)
def one_task(user: User, dag_id: str, run_id: str, task_id: str, map_index: str = "") -> str:
    """Return the report of one task instance; Airflow's UI sends no index of a task that is not mapped."""
    access.require(user, dag_id, DagAccessEntity.XCOM)
    index = int(map_index) if map_index.isascii() and map_index.isdigit() and len(map_index) < 10 else -1
    run_id = _run_id(dag_id, run_id)
    found = [
        each
        for each in stored.of_run(dag_id, run_id)
        if (each.source.task_id, each.source.map_index) == (task_id, index)
    ]
    known = {(task, number): state for task, number, _, state in stored.states(dag_id, run_id)}
    values = shown.task(dag_id, run_id, task_id, index, found, known.get((task_id, index)))
    return _page("task.html", {**values, **_of(None)})


app.mount("/static", StaticFiles(directory=STATIC), name="static")


def _run_id(dag_id: str, run_id: str) -> str:
    """Return the id of a run: the UI of Airflow 3.1 does not encode it, and a plus arrives as a space."""
    return run_id if stored.states(dag_id, run_id) else run_id.replace(" ", "+")


def _of(snapshot: Snapshot | None, dags: Collection[str] = (), since: float | None = None) -> dict[str, Any]:
    """Return what each page has: how old the data is, since when it is known, and what could not be read.

    Args:
        dags: those of which the user sees anything
    """
    if snapshot is None:
        return {"complete": True, "read_at": None, "since": None, "unread": 0}
    unread = sum(snapshot.tables.unread[dag] for dag in dags)
    return {"complete": snapshot.complete, "read_at": snapshot.read_at, "since": since, "unread": unread}


def _page(name: str, values: Mapping[str, Any]) -> str:
    return _templates.get_template(name).render(base=base(), root=f"{base()}{PREFIX}", **values)

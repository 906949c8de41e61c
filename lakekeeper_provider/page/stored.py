"""What Airflow's database has of the observations: events with a task as their source, and XComs of tasks that failed.

An event without a source was sent by REST: whoever may do that could say anything of any table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Any, cast

from airflow.models.asset import AssetEvent, AssetModel
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from sqlalchemy import select, true

from lakekeeper_provider.page.observations import Source, Stored, readable
from lakekeeper_provider.report import health

#: The names of mapped task instances; the attribute of the model is a private one.
_NAMES: Any = TaskInstance.__table__.c.rendered_map_index
#: Events are read in portions: each is a query, and what it returns is held at once.
PORTION = 2_000
#: The states of tasks that have left their results in XCom.
_NOT_SUCCEEDED = ("failed", "skipped", "up_for_retry", "upstream_failed")
#: Names and not a pattern, which no index would serve.
_XCOM_KEYS = tuple(f"{health.XCOM_KEY}{number}" for number in range(64))
#: Columns of the table, and not of the model, whose loader would take half of the time and hold all rows at once.
_EVENTS: Any = AssetEvent.__table__.c
_EVENT = (
    *(_EVENTS.id, _EVENTS.timestamp, _EVENTS.extra),
    *(_EVENTS.source_dag_id, _EVENTS.source_run_id, _EVENTS.source_task_id, _EVENTS.source_map_index),
)


def after(number: int, limit: int = PORTION) -> Iterator[Stored]:
    """Yield the next events after an id, in the order of their ids."""
    return _events(_EVENTS.id > number, order=_EVENTS.id, limit=limit)


def before(number: int | None, limit: int = PORTION) -> Iterator[Stored]:
    """Yield the last events before an id, or of all, newest first."""
    condition = _EVENTS.id < number if number is not None else _EVENTS.id > 0
    return _events(condition, order=_EVENTS.id.desc(), limit=limit)


def numbered(numbers: Sequence[int]) -> list[Stored]:
    """Return the events with these ids. One that Airflow has deleted meanwhile is left out."""
    return list(_events(_EVENTS.id.in_(numbers), order=_EVENTS.id, limit=len(numbers)))


def of_run(dag_id: str, run_id: str) -> list[Stored]:
    """Return what the tasks of one DAG run have observed, events and XComs, in their order."""
    condition = (_EVENTS.source_dag_id == dag_id) & (_EVENTS.source_run_id == run_id)
    # One without an extra is of a task that had nothing to tell.
    events = (each for each in _events(condition, order=_EVENTS.id, limit=None) if each.extra)
    of_xcom = (XComModel.dag_id == dag_id) & (XComModel.run_id == run_id)
    return sorted([*events, *_xcoms(of_xcom, order=XComModel.timestamp)], key=lambda each: each.at)


def failed_since(at: float) -> Iterator[Stored]:
    """Yield what tasks have left in XCom since a time, in seconds since the epoch, oldest first."""
    return _xcoms(XComModel.timestamp > datetime.fromtimestamp(at, timezone.utc), order=XComModel.timestamp)


def failed(limit: int, dags: Iterable[str] | None = None) -> list[Stored]:
    """Return the last that tasks have left in XCom, of these DAGs or of all, oldest first."""
    condition = true() if dags is None else XComModel.dag_id.in_(dags)
    return list(_xcoms(condition, order=XComModel.timestamp.desc(), limit=limit))[::-1]


def _events(condition: Any, *, order: Any, limit: int | None) -> Iterator[Stored]:
    """Yield one after the other: thousands at once would make each run of the garbage collector a long one."""
    of_a_task = _EVENTS.source_dag_id.is_not(None)
    with create_session() as session:
        # An event has only the id of its asset.
        assets = session.scalars(select(AssetModel.id).where(AssetModel.uri == health.URI)).all()
        query = select(*_EVENT).where(_EVENTS.asset_id.in_(assets), of_a_task, condition)
        for row in session.execute(query.order_by(order).limit(limit)):
            number, at, extra, *source = cast("Any", row)
            yield Stored(number, at.timestamp(), _source(*source), readable(extra))


def _source(dag_id: str, run_id: str | None, task_id: str | None, map_index: int | None) -> Source:
    # Thousands of events have the same texts.
    dag, run, task = (sys.intern(each or "") for each in (dag_id, run_id, task_id))
    return Source(dag, run, task, -1 if map_index is None else map_index)


def _xcoms(condition: Any, *, order: Any, limit: int | None = None) -> Iterator[Stored]:
    """Yield what tasks have left that did not succeed: those of a task that has succeeded are nobody's any more."""
    of_task = (TaskInstance.dag_id == XComModel.dag_id) & (TaskInstance.run_id == XComModel.run_id)
    of_task &= (TaskInstance.task_id == XComModel.task_id) & (TaskInstance.map_index == XComModel.map_index)
    query = (
        select(
            *(XComModel.timestamp, XComModel.value, XComModel.dag_id, XComModel.run_id),
            *(XComModel.task_id, XComModel.map_index),
        )
        .join(TaskInstance, of_task)
        .where(XComModel.key.in_(_XCOM_KEYS), TaskInstance.state.in_(_NOT_SUCCEEDED), condition)
    )
    with create_session() as session:
        for row in session.execute(query.order_by(order).limit(limit)):
            at, value, *source = cast("Any", row)
            yield Stored(0, at.timestamp(), _source(*source), readable(_value(value)))


def _value(value: Any) -> Any:
    """Return an XCom: Airflow stores JSON, or a text of it. Of another backend there is only a reference."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def states(dag_id: str, run_id: str) -> list[tuple[str, int, str | None, str | None]]:
    """Return task, map index, name and state of each task instance of a DAG run."""
    query = select(TaskInstance.task_id, TaskInstance.map_index, _NAMES, TaskInstance.state).where(
        TaskInstance.dag_id == dag_id, TaskInstance.run_id == run_id
    )
    with create_session() as session:
        rows: Any = session.execute(query).all()
    return [(str(task), int(index), name, state) for task, index, name, state in rows]

"""The end of a night: what it did is shown, kept for the next nights, and told to those who can do something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakekeeper_provider.events.notify import Notifier, message, notify
from lakekeeper_provider.report.backlog import Backlog
from lakekeeper_provider.report.open_units import OPEN_FROM
from lakekeeper_provider.report.overview import Overview

#: The XCom of the task that the next night reads: only a night that counts has it.
KEY = "nights"


def conclude(
    overview: Overview,
    context: Any,
    notifier: Notifier | None = None,
    held_limit: float | None = None,
    *,
    counts: bool = True,
    failed: Sequence[str] = (),
) -> dict[str, Any]:
    """Show what a run did, push its figures as XComs of the task, and send the message about it.

    Args:
        context: that of the task
        held_limit: more bytes of originals than that are a reason to write
        counts: the run says something of the pace of the nights: it has worked in its window, on the whole database
        failed: the tasks of the run that have failed

    Returns:
        the figures of ``Overview.figures``
    """
    earlier = _earlier_nights(context)
    waited = _waited(overview, earlier.get("waiting")) if counts else {}
    backlog = Backlog.after(overview.night, earlier.get("nights")) if counts else Backlog([])
    print("\n".join(filter(None, [overview.text(), backlog.line])))
    print("to undo it, clear only the task `rollback`; to undo one table, only its mapped task")
    figures = overview.figures()
    # Pushed before the task may fail: the next night counts from it.
    context["ti"].xcom_push(key="return_value", value=figures)
    if counts:
        context["ti"].xcom_push(key=KEY, value={"nights": backlog.to_json(), "waiting": waited})
    overdue = [name for name, nights in waited.items() if nights >= OPEN_FROM]
    notify(notifier, message(overview, backlog, held_limit, failed=failed, overdue=overdue), context)
    return figures


def _waited(overview: Overview, earlier: Any) -> dict[str, int]:
    """Return in how many nights, one after the other, each table that has waited in this one has waited."""
    before = earlier if isinstance(earlier, Mapping) else {}
    return {name: int(before.get(name) or 0) + 1 for name in overview.waiting()}


def _earlier_nights(context: Any) -> Mapping[str, Any]:
    """Return what the last night that counts has pushed; empty if there is none."""
    task = context["ti"]
    # Without a map index, Airflow 3 returns the values of all runs.
    value = task.xcom_pull(task_ids=task.task_id, key=KEY, include_prior_dates=True, map_indexes=-1)
    return value if isinstance(value, Mapping) else {}

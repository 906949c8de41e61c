"""The end of a night: what it did is shown, kept for the next nights, and told to those who can do something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakekeeper_provider.events.notify import Notifier, message, notify
from lakekeeper_provider.report.backlog import Backlog
from lakekeeper_provider.report.overview import Overview


def conclude(
    overview: Overview,
    context: Any,
    notifier: Notifier | None = None,
    held_limit: float | None = None,
    *,
    counts: bool = True,
) -> dict[str, Any]:
    """Show what a run did, push its figures as the XCom of the task, and send the message about it.

    Args:
        context: that of the task
        held_limit: more bytes of originals than that are a reason to write
        counts: the run says something of the pace of the nights: it has worked in its window, on the whole database

    Returns:
        the figures of ``Overview.figures``, and ``nights``, those of the last week
    """
    earlier = _earlier_nights(context)
    backlog = Backlog.after(overview.night, earlier) if counts else Backlog([])
    print("\n".join(filter(None, [overview.text(), backlog.line])))
    print("to undo it, clear only the task `rollback`; to undo one table, only its mapped task")
    figures = {**overview.figures(), "nights": backlog.to_json() if counts else earlier}
    # Pushed before the task may fail: the next night counts from it.
    context["ti"].xcom_push(key="return_value", value=figures)
    notify(notifier, message(overview, backlog, held_limit), context)
    return figures


def _earlier_nights(context: Any) -> list[dict[str, int]] | None:
    """Return the nights that the last run of this task has pushed; None if there is none."""
    task = context["ti"]
    # Without a map index, Airflow 3 returns the values of all runs.
    value = task.xcom_pull(task_ids=task.task_id, include_prior_dates=True, map_indexes=-1)
    return value.get("nights") if isinstance(value, Mapping) else None

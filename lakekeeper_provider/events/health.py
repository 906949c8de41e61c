"""What each job tells the page of the tables: the health of every table that it has looked at.

Airflow records it as events of one asset if the task succeeds. A task that does not succeed pushes it to XCom, and its
retry or the next run replaces it.

Each task declares that asset, so that it is there before the first event. Of two tasks that end at once, and whose
events both need an asset that there is not yet, Airflow fails one after its job is done.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from lakekeeper_provider.compat import AIRFLOW_V_3_1_PLUS, Asset, AssetAlias, Context
from lakekeeper_provider.options.option import ANALYZE, CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.report import health
from lakekeeper_provider.report.report import Report

log = logging.getLogger(__name__)

#: So many pages are left in XCom at most: the reader asks for them by their names.
_PAGES = 64
_VERBS = (ANALYZE, COMPACT, ROLLBACK, CLEANUP)
_ASSET, _ALIAS = Asset(health.URI), AssetAlias(health.ALIAS)


def outlets_of(verb: str) -> list[Any]:
    """Return the asset of the events, and its alias; none for a verb without, and before Airflow 3.1: no page there."""
    return [_ASSET, _ALIAS] if AIRFLOW_V_3_1_PLUS and verb in _VERBS else []


def emit(context: Context, report: Report, told: dict[str, Any], server: str) -> None:
    """Emit the events. An error is logged: the job is done, and must not run again because of an event.

    The first page is the event of the asset itself, of which Airflow records one for a task; further ones go through
    the alias.

    Args:
        told: what holds for the job as a whole, as ``extras`` has it
        server: host and port of HiveServer2
    """
    accessors = context.get("outlet_events")
    if not outlets_of(report.verb) or accessors is None:
        return
    try:
        for extra in extras(report, {**told, "server": server}):
            if extra["page"] == 1:
                accessors[_ASSET].extra = extra
            else:
                accessors[_ALIAS].add(_ASSET, extra=extra)
    except Exception as error:
        log.warning("the health of the tables of this job could not be recorded: %s", error)


def push(context: Context, report: Report, told: dict[str, Any], server: str) -> None:
    """Push the same to XCom, from a task that will not succeed. An error is logged, likewise."""
    if not outlets_of(report.verb):
        return
    try:
        for number, extra in zip(range(_PAGES), extras(report, {**told, "server": server})):
            context["ti"].xcom_push(key=f"{health.XCOM_KEY}{number}", value=extra)
    except Exception as error:
        log.warning("the health of the tables of this job could not be kept: %s", error)


def extras(report: Report, told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the extra of each event; ``tables`` is a page of records.

    Args:
        told: ``report`` (its URI), ``server``, ``whole`` (every partition of each table was looked at) and, of a
            cleanup, its retention
    """
    texts = health.pages(health.records(report))
    for number, text in enumerate(texts):
        yield {
            "version": health.VERSION,
            "verb": report.verb,
            "outcome": report.outcome,
            "run_id": report.run_id,
            "ended": report.ended,
            **told,
            "page": number + 1,
            "pages": len(texts),
            "tables": text,
        }

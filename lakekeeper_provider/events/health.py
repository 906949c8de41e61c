"""What each job tells the page of the tables: the health of every table that it has looked at.

Airflow records it as events of one asset if the task succeeds. A task that does not succeed pushes it to XCom, and its
retry or the next run replaces it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from lakekeeper_provider.compat import AIRFLOW_V_3_0_PLUS, Asset, AssetAlias, Context
from lakekeeper_provider.options.option import ANALYZE, CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.report import health
from lakekeeper_provider.report.report import Report

log = logging.getLogger(__name__)

#: So many pages are left in XCom at most: the reader asks for them by their names.
_PAGES = 64
_VERBS = (ANALYZE, COMPACT, ROLLBACK, CLEANUP)


def alias_of(verb: str) -> AssetAlias | None:
    """Return the alias of the events; None for a verb that has none, and on Airflow 2, which has no such page."""
    return AssetAlias(health.ALIAS) if AIRFLOW_V_3_0_PLUS and verb in _VERBS else None


def emit(context: Context, report: Report, told: dict[str, Any], server: str) -> None:
    """Emit the events. An error is logged: the job is done, and must not run again because of an event.

    Args:
        told: what holds for the job as a whole, as ``extras`` has it
        server: host and port of HiveServer2
    """
    alias, accessors = alias_of(report.verb), context.get("outlet_events")
    if alias is None or accessors is None:
        return
    try:
        for extra in extras(report, told):
            accessors[alias].add(Asset(health.uri_of(server)), extra=extra)
    except Exception as error:
        log.warning("the health of the tables of this job could not be recorded: %s", error)


def push(context: Context, report: Report, told: dict[str, Any], server: str) -> None:
    """Push the same to XCom, from a task that will not succeed. An error is logged, likewise."""
    if alias_of(report.verb) is None:
        return
    try:
        for number, extra in zip(range(_PAGES), extras(report, told)):
            context["ti"].xcom_push(key=f"{health.XCOM_KEY}{number}", value={**extra, "server": server})
    except Exception as error:
        log.warning("the health of the tables of this job could not be kept: %s", error)


def extras(report: Report, told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the extra of each event; ``tables`` is a page of records.

    Args:
        told: ``report`` (its URI), ``whole`` (every partition of each table was looked at) and, of a cleanup, its
            retention
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

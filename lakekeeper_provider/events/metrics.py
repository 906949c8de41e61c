"""Metrics of the jobs, for Airflow's own client, which sends them to StatsD or OpenTelemetry. Pure, but for `send`."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from lakekeeper_provider.options.option import ANALYZE, CLEANUP, COMPACT, HISTORY, ROLLBACK
from lakekeeper_provider.report.open_units import open_units
from lakekeeper_provider.report.report import Report, units_with, warning_codes, written

log = logging.getLogger(__name__)

COUNTER, GAUGE, TIMER = "counter", "gauge", "timer"


@dataclass(frozen=True)
class Metric:
    """One value. A counter is added to, a gauge replaces the last value, a timer is in milliseconds."""

    kind: str
    name: str
    value: float


#: All metrics by their names below ``lakekeeper.VERB.``: the kind, and what it is. docs/guides/monitoring.md has
#: them.
METRICS: Mapping[str, tuple[str, str]] = {
    "duration": (TIMER, "from the start of the job to its end"),
    "tables.OUTCOME": (COUNTER, "tables with this outcome"),
    "units.OUTCOME": (COUNTER, "partitions, or tables without partitions, with this outcome"),
    "warnings.CODE": (COUNTER, "warnings with this code"),
    "namenode_calls": (COUNTER, "calls of the driver to the NameNode"),
    "deferred_files": (COUNTER, "compact: files of the units that were left to the next job"),
    "deferred_bytes": (COUNTER, "compact: bytes of these files"),
    "files_before": (COUNTER, "compact, rollback: files of the units that were swapped, before"),
    "files_after": (COUNTER, "compact, rollback: files of these units afterwards"),
    "bytes_before": (COUNTER, "compact, rollback: bytes of these units before"),
    "bytes_after": (COUNTER, "compact, rollback: bytes of these units afterwards"),
    "freed_bytes": (COUNTER, "cleanup: bytes of originals that were deleted"),
    "trashed_bytes": (COUNTER, "cleanup: bytes of originals that were moved to the trash"),
    "open_units": (
        GAUGE,
        "analyze: partitions that were found on three days or more, and not compacted in between",
    ),
    "originals_held_runs": (
        GAUGE,
        "history: compactions whose originals are still kept, over all tables of the job",
    ),
    "originals_held_files": (GAUGE, "history: files that these compactions have replaced"),
    "originals_held_bytes": (GAUGE, "history: bytes of these files"),
    "oldest_backup_seconds": (GAUGE, "history: age of the oldest of these compactions; 0 without any"),
}
#: A compaction whose originals are kept, by what its row of a history says about a rollback.
_HELD = ("possible", "superseded")
_WORD = re.compile(r"[a-z]{1,32}")


def send(report: Report, client: Any, now: datetime, *, whole: bool = True) -> None:
    """Send the metrics of a job.

    An error is logged: the job is done, and must not run again because of a metric.

    Args:
        client: Airflow's ``Stats``
        now: the current instant
        whole: a history has all its rows; without them, there are no gauges
    """
    act: Mapping[str, Callable[[str, float], object]] = {
        COUNTER: lambda name, value: client.incr(name, int(value)),
        GAUGE: lambda name, value: client.gauge(name, value),
        TIMER: lambda name, value: client.timing(name, value),
    }
    try:
        for metric in of(report, now, whole=whole):
            act[metric.kind](metric.name, metric.value)
    except Exception as error:
        log.warning("the metrics of %s could not be sent: %s", report.verb, error)


def of(report: Report, now: datetime, *, whole: bool = True) -> Iterator[Metric]:
    """Return the metrics of a report. Counters of 0 are left out.

    Gauges need the reports of all tables: what could not be read must not look like originals that are gone, or like
    units that are compacted.
    """
    if report.started and report.ended:
        taken = _instant(report.ended) - _instant(report.started)
        yield _metric(report.verb, "duration", max(0.0, taken.total_seconds() * 1000))
    for name, count in _counters(report).items():
        if count:
            yield _metric(report.verb, name, count)
    if whole and report.outcome in ("done", "nothing") and not report.error:
        for name, value in _gauges(report, now).items():
            yield _metric(report.verb, name, value)


def _gauges(report: Report, now: datetime) -> Mapping[str, float]:
    """Return what is known of all tables."""
    if report.verb == ANALYZE:
        return {"open_units": sum(len(open_units(table)) for table in report.tables)}
    return _held(report, now) if report.verb == HISTORY else {}


def _metric(verb: str, name: str, value: float) -> Metric:
    known = (
        METRICS.get(name) or METRICS[next(key for key in METRICS if key.split(".")[0] == name.split(".")[0])]
    )
    return Metric(known[0], f"lakekeeper.{verb}.{name}", value)


def _counters(report: Report) -> Counter[str]:
    counts: Counter[str] = Counter(namenode_calls=report.namenode_calls or 0)
    for table in report.tables:
        counts[f"tables.{table['outcome']}"] += 1
        counts.update(f"units.{_word(unit['outcome'])}" for unit in table.get("units") or ())
        for code, count in warning_codes(table).items():
            counts[f"warnings.{code}"] += count
        if report.verb in (COMPACT, ROLLBACK):
            counts.update(written(table))
        if report.verb == COMPACT:
            for unit in units_with(table, ("deferred",)):
                counts.update(deferred_files=unit.get("files") or 0, deferred_bytes=unit.get("bytes") or 0)
        if report.verb == CLEANUP:
            for name in ("freed_bytes", "trashed_bytes"):
                counts[name] += table.get(name) or 0
    return counts


def _word(outcome: str) -> str:
    """Return an outcome of units, which may be of a later version of the jobs, as a part of a metric's name."""
    return outcome if _WORD.fullmatch(outcome) else "other"  # guard: outcomes_are_words


def _held(report: Report, now: datetime) -> dict[str, float]:
    """Return the gauges of the originals that are kept, over all tables of a history."""
    entries = [
        (table["table"], row)
        for table in report.tables
        for row in table.get("history") or ()
        if row["kind"] == COMPACT and row["rollback"] in _HELD
    ]
    rows = [row for _, row in entries]
    ages = [(now - _instant(row["at"])).total_seconds() for row in rows if row["at"]]
    return {
        "originals_held_runs": len({(table, row["run_id"]) for table, row in entries}),
        **{f"originals_held_{what}": sum(row["before"][what] for row in rows) for what in ("files", "bytes")},
        "oldest_backup_seconds": max([0.0, *ages]),
    }


def _instant(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)

"""The decision which runs' originals are deleted by a cleanup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.options.layers import Layers, parse_option
from spark_jobs.core.options.parsers import parse_bool
from spark_jobs.core.values.file_times import AHEAD
from spark_jobs.core.values.model import TableName

#: A shorter retention must be allowed explicitly: a wrong compaction is often detected on the next day.
SHORT = timedelta(hours=24)


@dataclass(frozen=True)
class AgedRun:
    """A run that still holds originals, and the time when it swapped the last of them."""

    run_id: str
    committed_at: datetime


def check_retention(
    layers: Layers, whole: str | None, named: Sequence[str] = (), database: str | None = None
) -> None:
    """Raise UsageError for a retention that looks like a mistake.

    A value on the command line is used as it is: there, no retention means all originals of the named tables, and so
    does `0d`. A file or an operator needs this check, because no person watches the job.

    Args:
        whole: what is cleaned up, if nobody has named the tables on the command line: a database as a whole, or the
            tables of a file. Else None.
        named: the tables that the file names.
        database: the one that is cleaned up as a whole.
    """
    unattended = [
        ("the arguments", layers.arguments),
        *((f"the section of table {table}", section) for table, section in layers.tables.items()),
        ("the configuration", layers.settings),
    ]
    if whole and not all(_has_retention(layer) for layer in _merged(layers, named, database)):
        raise UsageError(
            f"cleanup of {whole} needs a retention: --older-than 7d, or --keep-last 1"
            " (--older-than 0d for all originals)"
        )
    if _has_value(layers.command_line, "older_than"):
        return
    for where, layer in unattended:
        older_than = parse_option("older_than", layer.get("older_than"), where)
        if older_than is not None and older_than < SHORT and not _allowed(layers, layer):
            raise UsageError(
                f"older_than = {layer['older_than']!r} in {where} is under 24 hours: to allow that, set"
                " allow_short_retention: true there"
            )


def _merged(layers: Layers, named: Sequence[str], database: str | None) -> list[Mapping[str, Any]]:
    """Return what counts for each of these tables, or for each table of the database that has a section or none."""
    sections = [layers.tables.get(str(TableName.parse(name)), {}) for name in named]
    if database is not None:
        own = (name for name in layers.tables if TableName.parse(name).database == database.lower())
        sections = [{}, *(layers.tables[name] for name in own)]
    return [
        {**layers.settings, **section, **layers.arguments, **layers.command_line}
        for section in sections or [{}]
    ]


def _has_retention(layer: Mapping[str, Any]) -> bool:
    return _has_value(layer, "older_than") or bool(
        parse_option("keep_last", layer.get("keep_last"), "a layer")
    )


def _has_value(layer: Mapping[str, Any], name: str) -> bool:
    return layer.get(name) is not None


def _allowed(layers: Layers, layer: Mapping[str, Any]) -> bool:
    """Tell whether a short retention is allowed globally, or in the layer of the value itself."""
    values = [each.get("allow_short_retention") for each in (layers.arguments, layers.settings, layer)]
    return any(parse_bool(value) for value in values if value is not None)


def expired(
    runs: Sequence[AgedRun], now: datetime, older_than: timedelta | None, keep_last: int = 0
) -> list[AgedRun]:
    """Return the runs that are past their retention, oldest first. The newest `keep_last` runs are never included.

    A run in the future is none of the newest ones, which would be deleted in its place. It is due only if all are.
    """
    odd = in_future(runs, now)  # guard: future_runs_keep_no_place
    newest_first = sorted((r for r in runs if r not in odd), key=lambda run: run.committed_at, reverse=True)
    candidates = [*newest_first[keep_last:], *([] if keep_last else odd)]
    due = [run for run in candidates if not older_than or now - run.committed_at >= older_than]
    return sorted(due, key=lambda run: run.committed_at)


def in_future(runs: Sequence[AgedRun], now: datetime) -> list[AgedRun]:
    """Return the runs whose time is no evidence of their age."""
    return [run for run in runs if run.committed_at - now > AHEAD]

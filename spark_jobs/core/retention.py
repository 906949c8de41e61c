"""Which runs may give up their originals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.core.errors import UsageError
from spark_jobs.core.layers import Layers, parse_option
from spark_jobs.core.parsers import parse_bool

#: A shorter one has to be asked for: a compaction that was wrong is often found out the next day.
SHORT = timedelta(hours=24)


@dataclass(frozen=True)
class Candidate:
    """A run that still holds originals, and when it swapped the last of them."""

    run_id: str
    committed_at: datetime


def check_retention(layers: Layers, database: str | None) -> None:
    """Raises UsageError for a retention that looks like an accident; `database` is the one to clean up as a whole.

    What a person types on the command line counts as it is: no retention means all originals of the tables that he
    names, and `0d` means all as well. A file, or an operator, acts when nobody looks.
    """
    unattended = [
        ("the arguments", layers.arguments),
        *((f"the section of table {table}", section) for table, section in layers.tables.items()),
        ("the configuration", layers.settings),
    ]
    known = [layers.command_line, layers.arguments, layers.settings]
    if database and not any(map(_retains, known)):
        raise UsageError(
            f"cleanup of the whole database {database} wants a retention: --older-than 7d, or --keep-last 1"
            " (--older-than 0d for all originals)"
        )
    if _given(layers.command_line, "older_than"):
        return
    for where, layer in unattended:
        older_than = parse_option("older_than", layer.get("older_than"), where)
        if older_than is not None and older_than < SHORT and not _allowed(layers, layer):
            raise UsageError(
                f"older_than = {layer['older_than']!r} in {where} is under 24 hours: if that is meant, say"
                " allow_short_retention: true there"
            )


def _retains(layer: Mapping[str, Any]) -> bool:
    return _given(layer, "older_than") or bool(parse_option("keep_last", layer.get("keep_last"), "a layer"))


def _given(layer: Mapping[str, Any], name: str) -> bool:
    return layer.get(name) is not None


def _allowed(layers: Layers, layer: Mapping[str, Any]) -> bool:
    """Where it is said for all, or beside the value itself."""
    said = [each.get("allow_short_retention") for each in (layers.arguments, layers.settings, layer)]
    return any(parse_bool(value) for value in said if value is not None)


def expired(
    runs: Sequence[Candidate], now: datetime, older_than: timedelta | None, keep_last: int = 0
) -> list[Candidate]:
    """Runs past the retention, oldest first; the newest `keep_last` always stay."""
    newest_first = sorted(runs, key=lambda run: run.committed_at, reverse=True)
    spared = newest_first[keep_last:]
    due = [run for run in spared if older_than is None or now - run.committed_at >= older_than]
    return sorted(due, key=lambda run: run.committed_at)

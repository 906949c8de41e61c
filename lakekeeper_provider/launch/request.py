"""The request file: the resolved configuration and the units to work on, as the wire defines it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import SELECTIONS
from lakekeeper_provider.options.selection import Selection

SCHEMA_VERSION = 1
#: Stands for every table of the job in ``runs``.
EVERY_TABLE = "*"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def build_request(
    config: Config,
    arguments: Mapping[str, Any],
    *,
    units: Mapping[str, Sequence[Mapping[str, str | None]]] | None = None,
    fingerprints: Mapping[str, Sequence[str | None]] | None = None,
    runs: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return the request; parts that say nothing are left out.

    Args:
        fingerprints: of the files that the units had in a plan, in the order of ``units``
    """
    parts: dict[str, Any] = {
        "arguments": dict(arguments),
        "tables": {table: dict(options) for table, options in config.tables.items()},
        "settings": dict(config.settings),
    }
    request = {"schema_version": SCHEMA_VERSION, **{key: part for key, part in parts.items() if part}}
    # An empty `units` means "nothing", not "everything": it must never be dropped.
    if units is not None:
        request["units"] = {table: [dict(unit) for unit in found] for table, found in units.items()}
    if fingerprints:
        request["fingerprints"] = {table: list(found) for table, found in fingerprints.items()}
    if runs is not None:
        request["runs"] = {table: list(names) for table, names in runs.items()}
    return request


def as_planned(config: Config, options: Mapping[str, Mapping[str, Any]]) -> Config:
    """Return the configuration with the options by which tables were planned, which only arguments replace."""
    sections = {table.lower(): dict(section) for table, section in config.tables.items()}
    for table, planned in options.items():
        sections[table.lower()] = {**sections.get(table.lower(), {}), **planned}
    return replace(config, tables=sections) if options else config


def dump(request: Mapping[str, Any]) -> bytes:
    """Return the bytes of a request file."""
    return json.dumps(request, indent=1, ensure_ascii=False).encode()


def part_of(arguments: Mapping[str, Any]) -> str | None:
    """Return a short name of the units that arguments select; None if they select all."""
    chosen = {key: arguments[key] for key in SELECTIONS if arguments.get(key) is not None}
    text = json.dumps(chosen, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16] if chosen else None


def run_id_of(
    dag_id: str, dag_run_id: str, task_id: str, selection: Selection, parts: Sequence[str] = ()
) -> str:
    """Return the id of a compaction: the same for every try of a task, so that a retry resumes its own run.

    Neither the try number nor the map index is part of it: a mapped list may come in another order.

    Args:
        parts: the parts of tables that are compacted, where several tasks compact one table
    """
    identity = json.dumps([dag_id, dag_run_id, task_id, selection.key, *parts])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    slug = _UNSAFE.sub("-", f"{dag_id}-{task_id}").strip("-")[:47].rstrip("-")
    return f"{slug}-{digest}" if slug else digest

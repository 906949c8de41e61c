"""The request to a job, as docs/wire.md defines it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.printable import shortened, shown
from spark_jobs.core.wire.report import SCHEMA_VERSION

#: Stands for every table of the job in the `runs` of a request.
EVERY_TABLE = "*"
_KEYS = ("schema_version", "arguments", "tables", "settings", "units", "fingerprints", "runs")


@dataclass(frozen=True)
class Request:
    """The request of the caller. docs/wire.md describes each key."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, list[dict[str, str | None]]] | None = None
    fingerprints: Mapping[str, list[str | None]] | None = None
    runs: Mapping[str, list[str]] | None = None

    @classmethod
    def from_json(cls, text: str) -> Request:
        """Parse a request. Raise UsageError for anything that docs/wire.md does not allow."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"the request is not valid JSON: {error}") from None
        _check_request(data)
        return cls(
            **{key: value for key, value in data.items() if key != "schema_version" and value is not None}
        )


def _check_request(data: Any) -> None:
    if not isinstance(data, dict):
        raise UsageError(f"the request must be a JSON object, not {type(data).__name__}")
    for key, value in data.items():
        if key not in _KEYS:
            raise UsageError(
                f"unknown key {shown(key)} in the request; the known keys are {', '.join(_KEYS)}"
            )
        if key != "schema_version" and value is not None and not isinstance(value, dict):
            raise UsageError(f"'{key}' in the request must be an object, not {shown(value)}")
    if data.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        raise UsageError(
            f"the request has schema_version {shown(data['schema_version'])}; these jobs support only {SCHEMA_VERSION}"
        )
    _check_tables(data)


def _check_tables(data: Mapping[str, Any]) -> None:
    units = data.get("units") or {}
    for table, fingerprints in (data.get("fingerprints") or {}).items():
        of_table = units.get(table)
        if not isinstance(fingerprints, list) or not isinstance(of_table, list):
            raise UsageError(f"the units and fingerprints of {shortened(table)} in the request must be lists")
        if len(fingerprints) != len(of_table):
            raise UsageError(
                f"the request has {len(of_table)} units of {shortened(table)}, and fingerprints of {len(fingerprints)}"
            )

"""Reports of the jobs that have a text in each place where docs/wire.md allows one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

#: All outcomes of units, and one of a later version of the jobs.
UNIT_OUTCOMES = ("flagged", "compacted", "restored", "failed", "skipped", "deferred", "changed", "cleaned")
#: The outcome of a job with that of its tables.
OUTCOMES = (("done", "done"), ("failed", "failed"), ("unsafe", "damaged"), ("usage", "refused"))
_TIMES = {"started": "2026-02-24T01:00:00Z", "ended": "2026-02-24T01:03:10Z"}
_COUNTS = {"files": 1, "bytes": 2}


def hostile_unit(text: str, outcome: str) -> dict[str, Any]:
    """Return a unit with a text as key, value, code, reason, and all else that is a text."""
    texts = (
        "code",
        "reason",
        "fingerprint",
        "engine",
        "engine_reason",
        "strategy",
        "strategy_reason",
        "deferred_since",
    )
    figures: dict[str, Any] = {
        "files": 3,
        "target_files": 1,
        "bytes": 9,
        "threshold": 5,
        "files_after": 1,
        "bytes_after": 8,
    }
    attempt = {"at": text, "outcome": text, "code": text, "reason": text}
    opened = {"open_since": text, "open_days": 9, "open_attempts": [attempt]}
    more = {**dict.fromkeys(texts, text), **figures, **opened}
    return {"unit": {text: text, "d": None}, "outcome": outcome, **more}


def hostile_table(text: str, outcome: str, name: str | None = None) -> dict[str, Any]:
    """Return a table with a text in each place."""
    row = {"at": "2026-02-24T01:00:00Z", "kind": "compact", "run_id": text, "who": text, "units": 1}
    row |= {"before": _COUNTS, "after": _COUNTS, "rollback": text, "seconds": 1.0, "partitions": [text]}
    finding = {"severity": "damage", "code": text, "message": text, "command": text}
    finding |= {"run_id": text, "unit": text, "path": text}
    writer = {"owner": text, "pattern": text, "files": 1, "bytes": 1, "newest": text}
    return {
        "table": f"sales.{text}" if name is None else name,
        "outcome": outcome,
        **dict.fromkeys(("code", "reason", "run_id", "format", "codec", "location", "backup_table"), text),
        "partition_types": {text: text},
        "warnings": [text, f"{text}: x", f"CODE: {text}"],
        "units": [hostile_unit(text, each) for each in (*UNIT_OUTCOMES, text)],
        "history": [row],
        "findings": [finding],
        "small_file_writers": [writer],
        "pyarrow": text,
        "options": {text: text},
        "before": {"files": 600, "bytes": 314572},
        "after": {"files": 3, "bytes": 290012},
        "rows": 300000,
    }


def hostile_report(verb: str, outcome: str, tables: Sequence[dict[str, Any]], text: str) -> dict[str, Any]:
    head = {"schema_version": 1, "verb": verb, "version": text, "run_id": text, "outcome": outcome, **_TIMES}
    return {**head, "error": text, "phases": {text: 1.0}, "tables": list(tables)}


def hostile_reports(verbs: Sequence[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield each verb with the JSON of a report of each outcome."""
    for verb in verbs:
        for outcome, of_table in OUTCOMES:
            yield verb, json.dumps(hostile_report(verb, outcome, [hostile_table(text, of_table)], text))

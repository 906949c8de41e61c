"""Read the reports of our jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from benchmarks.measuring import RunFailed

#: In the order in which a job goes through them.
PHASES = ("start", "list", "footers", "read", "write", "verify", "swap", "register", "log")


def require(report: Mapping[str, Any], label: str, *outcomes: str) -> None:
    """Raise RunFailed unless the job ended with one of these outcomes."""
    if report["outcome"] not in outcomes:
        reasons = [table["reason"] for table in report["tables"] if table["reason"]]
        raise RunFailed(f"{label}: the job ended as {report['outcome']}: {reasons or report['error']}")


def phases(report: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of each phase: those of the job, or else of all its tables; empty where it has none."""
    total: Counter[str] = Counter()
    for part in [report] if report.get("phases") else report["tables"]:
        total.update(part.get("phases") or {})
    return {name: round(seconds, 2) for name, seconds in total.items()}


def require_engine(report: Mapping[str, Any], label: str, engine: str) -> None:
    """Raise RunFailed unless this engine has written each unit."""
    units = [unit for table in report["tables"] for unit in table["units"]]
    other = [unit for unit in units if unit.get("engine") != engine]
    if other:
        raise RunFailed(
            f"{label}: {len(other)} of {len(units)} units were not written by {engine}: {other[0]}"
        )

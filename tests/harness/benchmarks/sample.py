"""Results as a run of the benchmarks leaves them."""

from __future__ import annotations

from typing import Any

from benchmarks.measuring import Measured
from benchmarks.results import Result, Results

CONTEXT = {"cores": "2", "memory": "24 GB", "commit": "abc1234", "date": "2026-02-24"}


def result(step: str, number: int, wall: float, **figures: Any) -> Result:
    measured = Measured(wall, cpu=2 * wall, jvm_mb=1000 + number, python_mb=60, others=0.0)
    return Result(step, number, measured, figures, "2026-02-24T01:00:00Z")


def results(case: str, files: int = 100, code: str = "code", **seconds: list[float]) -> Results:
    """Return the results of a case: for each step the seconds of its rounds."""
    found = [
        result(step, number, wall) for step, walls in seconds.items() for number, wall in enumerate(walls, 1)
    ]
    facts = {"tables": 1, "units": 1, "files": files, "bytes": 3_000_000, "outputs": 1}
    return Results(case, code, dict(CONTEXT), facts, found)

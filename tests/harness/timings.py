"""How long each job is expected to take: the committed table, corrected by the last run on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from demo.services import paths

#: {"default": {job: seconds}, "all": {job: seconds}}
COMMITTED = Path(__file__).with_name("timings.json")


def last_run() -> Path:
    """Kept over runs, beside what they leave."""
    return paths.SCRATCH / "timings.json"


def expected(test_set: str) -> dict[str, float]:
    """Seconds by the name of the job."""
    return {**_read(COMMITTED).get(test_set, {}), **_read(last_run()).get(test_set, {})}


def record(test_set: str, seconds: Mapping[str, float]) -> None:
    """Keep what the jobs of this run took, for the order of the next one."""
    file = last_run()
    known = _read(file)
    known[test_set] = {**known.get(test_set, {}), **{name: round(took) for name, took in seconds.items()}}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def _read(file: Path) -> dict[str, dict[str, float]]:
    """Nothing where there is no table, or none that can be read: then the order is that of the list of suites."""
    try:
        found: dict[str, dict[str, float]] = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return found

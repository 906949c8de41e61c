"""What each job says of the originals that a table keeps afterwards: the next analysis says the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.uneven_table import job, uneven

KEYS = ("held_bytes", "held_runs", "held_since")
AT_ONCE = ("--older-than", "0s", "--skip-trash")
Verb = tuple[str, ...]


def held(report: dict[str, Any]) -> list[Any]:
    return [report["tables"][0].get(key) for key in KEYS]


def twice_compacted() -> SimulatedCluster:
    sim = uneven()
    for run_id in ("r1", "r2"):
        job(sim, "compact", "--run-id", run_id, "--max-units", 2, "--order", "files-asc")
    return sim


@pytest.mark.parametrize(
    ("verbs", "runs"),
    [
        ([("rollback", "--run-id", "r2")], 1),
        ([("rollback",), ("rollback",)], 0),
        ([("rollback", "--run-id", "r1"), ("rollback", "--run-id", "r1")], 1),
        ([("rollback", "--dry-run")], 2),
        ([("cleanup", "--keep-last", "1", *AT_ONCE)], 1),
        ([("cleanup", *AT_ONCE)], 0),
        ([("cleanup", *AT_ONCE), ("cleanup", *AT_ONCE)], 0),
        ([("cleanup", "--dry-run", *AT_ONCE)], 2),
    ],
)
def test_what_is_held_afterwards(verbs: list[Verb], runs: int) -> None:
    sim = twice_compacted()
    for words in verbs:
        report = job(sim, *words)
    assert report["exit_code"] == 0
    assert report["tables"][0]["held_runs"] == runs
    assert held(report) == held(job(sim, "analyze"))

"""An earlier release meets a home in which runs are, or are being, folded: it sees fewer runs, and does no harm."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from tests.crash.crashes import crash_states
from tests.crash.explorer import compact
from tests.crash.figures import figures
from tests.crash.oracle import check
from tests.crash.scenario import FLAT, run
from tests.crash.settled import add_files, folded, folds_at, history, settled
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_releases import RELEASES, cluster

CLEANUP = ["cleanup", "--tables", FLAT, "--older-than", "0s", "--skip-trash"]
RETRY = ["compact", "--tables", FLAT, "--run-id", "r0"]


def as_json(sim: SimulatedCluster) -> dict[str, Any]:
    tree, ledger = sim.tree, sim.ledger
    tables = sim.metastore.tables()
    return {
        "millis": tree.millis,
        "next_id": tree.next_id,
        "born": sim.born,
        "inodes": {
            number: {
                **vars(inode),
                "children": dict(inode.children),
                "content": base64.b64encode(inode.content).decode(),
            }
            for number, inode in tree.inodes.items()
        },
        "tables": {
            str(name): {"facts": asdict(table.facts), "partitions": [*table.partitions.items()]}
            for name, table in tables
        },
        "ledger": {
            "next_id": ledger.next_id,
            "committed": sorted(ledger.committed),
            "overwritten": sorted(ledger.overwritten),
        },
    }


def gone_on(
    states: Sequence[SimulatedCluster], jobs: Sequence[Sequence[str]]
) -> list[tuple[list[int], SimulatedCluster]]:
    """The exit codes of 0.1.0's jobs on each of these clusters, and what they leave."""
    lines = "".join(json.dumps({"cluster": as_json(sim), "jobs": jobs}) + "\n" for sim in states)
    environ = {**os.environ, "PYTHONPATH": str(RELEASES / "jobs-0.1.0.zip")}
    command = [sys.executable, "go_on.py"]
    done = subprocess.run(
        command, env=environ, cwd=RELEASES, input=lines, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(answers) == len(states)
    return [(answer["codes"], cluster(answer["cluster"])) for answer in answers]


@pytest.mark.parametrize(
    "jobs", [[RETRY, CLEANUP], [["rollback", "--tables", FLAT], RETRY]], ids=["retry", "rollback"]
)
def test_it_goes_on_wherever_a_fold_was_killed(jobs: list[list[str]]) -> None:
    start, act = settled(), compact(FLAT, "r2")
    first = folds_at(start, act).start
    states = [
        state for state in crash_states(start, act) if state.point is not None and state.point.number >= first
    ]
    line = figures(f"0.1.0 after a fold of {FLAT}", "crashes, then two jobs of it and one of this release")
    for state in states:
        add_files(state.sim)
    for state, (codes, sim) in zip(states, gone_on([state.sim for state in states], jobs), strict=True):
        line.states += 1
        last = run(sim.client(), "compact", "--tables", FLAT, "--run-id", "last")["exit_code"]
        problems = [*check(sim), *([f"exit codes {codes}, {last}: stuck"] if {*codes, last} != {0} else [])]
        line.violated(f"{act} {state}; then 0.1.0", problems)
    assert line.violations == []
    assert line.states > 40


def test_folded_runs_do_not_exist_to_it_and_do_again_to_this_release() -> None:
    sim = folded()
    ((codes, left),) = gone_on([sim], [["rollback", "--tables", FLAT, "--run-id", "r1"], CLEANUP])
    assert codes == [0, 0]
    assert {row["run_id"] for row in history(left)} == {"r1", "r2"}
    assert check(left) == []

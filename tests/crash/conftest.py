"""Clusters: one of two directories for the tests of the model itself, those with tables for the tests of guards."""

from __future__ import annotations

import pytest

from tests.crash import figures, writers
from tests.crash.flat_table import compact
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import build
from tests.crash.simulated_cluster import SimulatedCluster


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the proofs counted."""
    for line in figures.TABLE:
        terminalreporter.write_line(str(line))


@pytest.fixture
def sim() -> SimulatedCluster:
    """/a holds a file of rows 1 to 3, /b is an empty directory."""
    sim = SimulatedCluster()
    writers.append(sim, f"{AUTHORITY}/a", sim.ledger.fresh(3))
    sim.tree.make_dirs(f"{AUTHORITY}/b")
    return sim


@pytest.fixture
def flat() -> SimulatedCluster:
    return build()


@pytest.fixture
def done() -> SimulatedCluster:
    """The cluster after a compaction of the flat table."""
    sim = build()
    assert compact(sim.client())["exit_code"] == 0
    return sim


@pytest.fixture
def built() -> SimulatedCluster:
    """Tables that all need a compaction."""
    return build()

"""A cluster of two directories, for the tests of the model itself."""

from __future__ import annotations

import pytest

from tests.crash import figures, writers
from tests.crash.model_tree import AUTHORITY
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

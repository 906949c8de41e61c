"""The cluster whose tables other writers work on."""

from __future__ import annotations

import pytest

from tests.crash.scenario import build
from tests.crash.simulated_cluster import SimulatedCluster


@pytest.fixture
def sim() -> SimulatedCluster:
    return build()

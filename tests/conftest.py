"""What every suite shares: the harness's fixtures, and the markers."""

from __future__ import annotations

import pytest

pytest_plugins = ["tests.harness.fixtures", "tests.harness.selection"]

MARKERS = {
    "smoke": "the few that also run on the oldest Spark",
    "live": "starts servers, or a real spark-submit",
}


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")

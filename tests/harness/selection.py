"""A pytest plugin: which tests belong to `make test`, and which are left to `make test-all`.

Two markers say so. `full`: thorough repetition of what the default set shows already. `one_version`: the outcome does
not depend on the version of Spark or Airflow, so that the default set runs it on the reference version alone.
Plain pytest runs everything.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

MARKERS = {
    "full": "run by `make test-all` only",
    "one_version": "in `make test`, run on the reference version of Spark or Airflow only",
}
#: What most users have, or will; the other versions follow.
REFERENCE = ("spark-3.5", "airflow-3.3")
SETS = ("all", "default")
#: The variable by which tests know the engine of compactions (`--engine`), and what of a run of another one than
#: Spark's the default set has: a unit of each writer, which has all common columns.
ENGINE, OF_ANOTHER_ENGINE = "LAKEKEEPER_TEST_ENGINE", "all types"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lakekeeper")
    group.addoption("--test-set", choices=SETS, default="all", help="default: what `make test` runs")
    group.addoption(
        "--engine", choices=("spark", "arrow"), default="spark", help="the engine of all compactions"
    )
    group.addoption("--left-out", metavar="FILE", help="write the ids of the tests that the set leaves out")


def pytest_configure(config: pytest.Config) -> None:
    os.environ[ENGINE] = config.getoption("--engine")
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


# Last, so that what `-k` and `-m` have taken away is not called left out.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = [item for item in items if _is_left_out(item, config.getoption("--test-set"))]
    if left:
        kept = set(items) - set(left)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item in kept]
    if file := config.getoption("--left-out"):
        Path(file).write_text("".join(f"{item.nodeid}\n" for item in left))


def _is_left_out(item: pytest.Item, chosen: str) -> bool:
    if chosen == "all":
        return False
    if os.environ[ENGINE] != "spark" and OF_ANOTHER_ENGINE not in item.name:
        return True
    other_version = item.get_closest_marker("one_version") and not on_reference()
    return bool(item.get_closest_marker("full") or other_version)


def on_reference() -> bool:
    """Return whether this Python belongs to a reference version."""
    return Path(sys.prefix).name.startswith(REFERENCE)

"""The setting of docs/guides/monitoring.md by which OpenLineage's listener reports tables and no hidden directories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spark_jobs.core.values import layout
from spark_jobs.core.values.layout import Home

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "monitoring.md"
RUN, ATTEMPT, STAMP = "nightly-9f2c41aa", "f57bb209fe10", "1795573897"


def reported(path: str) -> str:
    """What the listener reports of a path: without the group `remove` of the pattern."""
    (pattern,) = re.findall(r"removePath\.pattern +(\S+)", GUIDE.read_text())
    found = re.fullmatch(pattern.replace("(?<remove>", "(?P<remove>"), path)
    return path[: found.start("remove")] + path[found.end("remove") :] if found else path


def below(table: str, unit: str, folder: str, *, joint: bool = False) -> str:
    """A path below the run's folder, as the jobs make it."""
    home = Home.of(table, unit)
    return f"{home.run_directory(RUN, ATTEMPT)}/{folder}" + ("" if joint else f"/{home.relative(unit)}")


@pytest.mark.parametrize(
    "folder", [layout.tmp_directory(STAMP), layout.old_directory(STAMP), layout.aside_directory(STAMP)]
)
@pytest.mark.parametrize("unit", ["/w/sales.db/events", "/w/sales.db/events/d=1/h=2"])
def test_a_hidden_directory_of_a_unit_is_reported_as_its_own(unit, folder):
    assert reported(below("/w/sales.db/events", unit, folder)) == unit


def test_the_staging_directory_of_a_joint_write_is_reported_as_the_table():
    folder = layout.staging_directory(STAMP, 12)
    path = below("/w/sales.db/events", "/w/sales.db/events/d=1", folder, joint=True)
    assert reported(path) == "/w/sales.db/events"


def test_other_paths_are_reported_as_they_are():
    for path in ("/w/sales.db/events", "/w/sales.db/events/d=1", "/w/.lakekeeper-of-mine/x"):
        assert reported(path) == path

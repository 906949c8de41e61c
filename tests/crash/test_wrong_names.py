"""A name that does not exist: the message has the one that was probably meant."""

from __future__ import annotations

import pytest

from tests.crash.flat_table import only
from tests.crash.scenario import build, run


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sales.flta", "sales.flat"),
        ("salse.flat", "sales"),
        ("sales.nothing_like_it", None),
        ("SALES.EVENT", "sales.events"),
    ],
)
def test_of_a_table(name: str, meant: str | None) -> None:
    reason = only(run(build().client(), "analyze", "--table", name))["reason"]
    assert f"table {name.lower()} does not exist in the metastore" in reason
    assert ("did you mean" in reason) == bool(meant)
    assert meant is None or f"did you mean '{meant}'?" in reason


def test_of_a_database() -> None:
    report = run(build().client(), "analyze", "--database", "salse")
    assert report["error"] == "database 'salse' does not exist in the metastore; did you mean 'sales'?"

"""Every value and every physical type: identical after a compaction, or the unit was refused. Nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import pytest

from demo.services import environments
from tests.fidelity import elsewhere
from tests.fidelity.matrix import BY_ARROW, CELLS, COUNTS, Cell, Matrix, Outcome
from tests.spark.toolbox import Jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def played(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[Cell, Outcome]]:
    """Only the cells that are asked for: `-k` chooses."""
    items = [item for item in request.session.items if getattr(item, "callspec", None)]
    cells = [item.callspec.params["cell"] for item in items if "cell" in item.callspec.params]
    cells = [cell for cell in cells if not unwritten(cell, spark)]
    root = tmp_path_factory.mktemp("matrix")
    spark.sql(f"CREATE DATABASE fidelity LOCATION '{(root / 'db').as_uri()}'")
    yield Matrix(spark, Jobs(spark, root), "fidelity", root).play(cells)
    spark.sql("DROP DATABASE fidelity CASCADE")


def unwritten(cell: Cell, spark: SparkSession) -> str | None:
    """Why nobody here writes the files of a cell: the machine cannot run the other Spark (the suite says so too)."""
    other = elsewhere.other_than(spark.version)
    lacks = _lacks(other) if cell.writer.startswith("other") else None
    return lacks and f"{other} needs {lacks}"


#: It starts Java, and nothing that it looks at changes while the tests run.
_lacks = cache(environments.lacks)


PARAMETERS = [
    pytest.param(cell, id=str(cell), marks=() if cell.by_version else (pytest.mark.one_version,))
    for cell in CELLS
]


@pytest.mark.parametrize("cell", PARAMETERS)
def test_identical_or_refused(played: dict[Cell, Outcome], cell: Cell, spark: SparkSession) -> None:
    if why := unwritten(cell, spark):
        pytest.skip(why)
    outcome = played[cell]
    same = outcome.before == outcome.after
    refused = outcome.unit["outcome"] == "skipped"
    COUNTS[outcome.unit["code"] if refused else "identical" if same else "different"] += 1
    BY_ARROW[outcome.unit.get("engine_reason") or outcome.unit.get("engine") or "spark"] += not refused
    print(cell, outcome.unit["outcome"], outcome.unit["code"], outcome.unit["reason"])
    assert same
    if outcome.unit.get("engine") == "arrow":
        # Originals of other writers may hide rows of a condition by dictionaries of their own: then more are found.
        fewer = {each: now for each, now in outcome.found_after.items() if now < outcome.found[each]}
        assert fewer == {}
        assert outcome.found or cell.column != "all types"
    assert (outcome.unit["outcome"], outcome.untouched) in (("compacted", False), ("skipped", True))
    assert outcome.foreseen["code"] == outcome.unit["code"]

"""A table of very many partitions: all are looked at and reported, and only those that need it are compacted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.hadoop.metastore import Metastore
from tests.cluster.registered import Registered
from tests.cluster.superuser import Superuser
from tests.spark.toolbox import Jobs, many, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: So many are registered at once. The least that is tried needs more than one call.
BATCH = 1000


@dataclass(frozen=True)
class Wide:
    """A table of so many partitions: some hold three small files each, some a single one, the others none at all."""

    name: str
    partitions: int

    @property
    def small(self) -> tuple[int, ...]:
        return 0, BATCH - 1, self.partitions // 2, self.partitions - 1

    @property
    def single(self) -> tuple[int, ...]:
        return 1, self.partitions * 3 // 5


def _name(number: int) -> str:
    return f"{number:05}"


@pytest.fixture
def wide(request: pytest.FixtureRequest, spark: SparkSession, folder: str) -> Wide:
    """The metastore makes the directories that it misses, as it registers their partitions."""
    table = f"t_{folder.rsplit('/', 1)[1]}"
    found = Wide(table, request.param)
    for numbers, count in ((found.small, 3), (found.single, 1)):
        for number in numbers:
            many(spark, f"{folder}/wide/p={_name(number)}", f"SELECT {number}L AS id FROM range(30)", count)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{folder}/wide'"
    )
    for start in range(0, found.partitions, BATCH):
        batch = range(start, min(start + BATCH, found.partitions))
        clauses = " ".join(f"PARTITION (p='{_name(n)}')" for n in batch)
        spark.sql(f"ALTER TABLE {table} ADD {clauses}")
    return found


def _listings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables whose partitions the jobs list from here on, one entry for each time."""
    listed: list[str] = []
    partitions = Metastore.partitions

    def listing(self: Metastore, facts: Any) -> Any:
        listed.append(facts.name)
        return partitions(self, facts)

    monkeypatch.setattr(Metastore, "partitions", listing)
    return listed


@pytest.mark.parametrize(
    "wide",
    [pytest.param(1200, id="1,200"), pytest.param(5000, id="5,000", marks=pytest.mark.full)],
    indirect=True,
)
def test_of_very_many_partitions_all_are_reported_and_the_small_ones_compacted(
    spark: SparkSession,
    jobs: Jobs,
    superuser: Superuser,
    folder: str,
    wide: Wide,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered, name = Registered(spark), f"default.{wide.name}"
    before, partitions = rows(spark, wide.name), registered.partitions(wide.name)
    small, names = {_name(number) for number in wide.small}, {_name(n) for n in range(wide.partitions)}
    originals = {key: superuser.tree(f"{folder}/wide/p={key}") for key in small}

    listed = _listings(monkeypatch)
    units = only(jobs("analyze", "--table", name))["units"]
    assert listed == [name]
    assert len(units) == wide.partitions
    assert {unit["unit"]["p"] for unit in units} == names
    assert {unit["unit"]["p"] for unit in units if unit["outcome"] == "flagged"} == small
    assert Counter((unit["outcome"], unit["files"]) for unit in units) == {
        ("flagged", 3): len(wide.small),
        ("healthy", 1): len(wide.single),
        ("healthy", 0): wide.partitions - len(wide.small) - len(wide.single),
    }

    report = only(jobs("compact", "--table", name))
    assert {unit["unit"]["p"] for unit in report["units"] if unit["outcome"] == "compacted"} == small
    assert Counter(outcomes({"tables": [report]})) == {"compacted": 4, "healthy": wide.partitions - 4}
    assert report["warnings"] == []
    assert rows(spark, wide.name) == before
    assert registered.partitions(wide.name) == partitions
    assert registered.names(report["backup_table"].split(".")[1]) == [f"p={key}" for key in sorted(small)]

    (entry,) = only(jobs("history", "--table", name))["history"]
    assert (entry["units"], entry["rows"]) == (4, 120)
    assert (entry["before"]["files"], entry["after"]["files"]) == (12, 4)

    assert sorted(outcomes(jobs("rollback", "--table", name))) == ["restored"] * 4
    assert rows(spark, wide.name) == before
    assert registered.partitions(wide.name) == partitions
    assert {key: superuser.tree(f"{folder}/wide/p={key}") for key in small} == originals

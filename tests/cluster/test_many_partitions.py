"""A table of 5,000 partitions: all are looked at and reported, and only those that need it are compacted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.shell.hadoop.metastore import Metastore
from tests.cluster.registered import Registered
from tests.cluster.superuser import Superuser
from tests.spark.toolbox import Jobs, many, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS, BATCH = 5000, 1000
#: Three small files each; these have a single one; the others none at all.
SMALL, SINGLE = (0, 999, 2500, 4999), (1, 3000)


def _name(number: int) -> str:
    return f"{number:05}"


@pytest.fixture
def wide(spark: SparkSession, folder: str) -> str:
    """The metastore makes the directories that it misses, as it registers their partitions."""
    table = f"t_{folder.rsplit('/', 1)[1]}"
    for numbers, count in ((SMALL, 3), (SINGLE, 1)):
        for number in numbers:
            many(spark, f"{folder}/wide/p={_name(number)}", f"SELECT {number}L AS id FROM range(30)", count)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{folder}/wide'"
    )
    for start in range(0, PARTITIONS, BATCH):
        clauses = " ".join(f"PARTITION (p='{_name(n)}')" for n in range(start, start + BATCH))
        spark.sql(f"ALTER TABLE {table} ADD {clauses}")
    return table


def _listings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables whose partitions the jobs list from here on, one entry for each time."""
    listed: list[str] = []
    partitions = Metastore.partitions

    def listing(self: Metastore, facts: Any) -> Any:
        listed.append(facts.name)
        return partitions(self, facts)

    monkeypatch.setattr(Metastore, "partitions", listing)
    return listed


def test_of_5000_partitions_all_are_reported_and_the_small_ones_compacted(
    spark: SparkSession,
    jobs: Jobs,
    superuser: Superuser,
    folder: str,
    wide: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered, name = Registered(spark), f"default.{wide}"
    before, partitions = rows(spark, wide), registered.partitions(wide)
    small, names = {_name(number) for number in SMALL}, {_name(n) for n in range(PARTITIONS)}
    originals = {key: superuser.tree(f"{folder}/wide/p={key}") for key in small}

    listed = _listings(monkeypatch)
    units = only(jobs("analyze", "--table", name))["units"]
    assert listed == [name]
    assert len(units) == PARTITIONS
    assert {unit["unit"]["p"] for unit in units} == names
    assert {unit["unit"]["p"] for unit in units if unit["outcome"] == "flagged"} == small
    assert Counter((unit["outcome"], unit["files"]) for unit in units) == {
        ("flagged", 3): len(SMALL),
        ("healthy", 1): len(SINGLE),
        ("healthy", 0): PARTITIONS - len(SMALL) - len(SINGLE),
    }

    report = only(jobs("compact", "--table", name))
    assert {unit["unit"]["p"] for unit in report["units"] if unit["outcome"] == "compacted"} == small
    assert Counter(outcomes({"tables": [report]})) == {"compacted": 4, "healthy": PARTITIONS - 4}
    assert report["warnings"] == []
    assert rows(spark, wide) == before
    assert registered.partitions(wide) == partitions
    assert registered.names(report["backup_table"].split(".")[1]) == [f"p={key}" for key in sorted(small)]

    (entry,) = only(jobs("history", "--table", name))["history"]
    assert (entry["units"], entry["rows"]) == (4, 120)
    assert (entry["before"]["files"], entry["after"]["files"]) == (12, 4)

    assert sorted(outcomes(jobs("rollback", "--table", name))) == ["restored"] * 4
    assert rows(spark, wide) == before
    assert registered.partitions(wide) == partitions
    assert {key: superuser.tree(f"{folder}/wide/p={key}") for key in small} == originals

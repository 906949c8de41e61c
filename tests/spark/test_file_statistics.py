"""Statistics in a real metastore: a compaction sets two figures and nothing else, and a rollback puts all back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.hadoop.metastore_parameters import MetastoreParameters
from spark_jobs.core.records.statistics import ALL_STATISTICS, FILE_STATISTICS
from tests.harness.fixtures import Database
from tests.spark.metastore_client import metastore_client
from tests.spark.toolbox import ODD_VALUES, Jobs, changed, many, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: As Hive leaves them after ANALYZE ... FOR COLUMNS, and two figures that are those of no files.
TOLD = {
    "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"id":"true"}}',
    "numFiles": "99",
    "totalSize": "9999",
    "numRows": "20",
    "rawDataSize": "40",
    "note": "a person's",
}
#: By the values of a partition: all of the entry but its parameters, and the parameters.
Entries = dict[tuple[str, ...], tuple[str, dict[str, str]]]


class Registered:
    """What the metastore has of a table, by a client of its own."""

    def __init__(self, spark: SparkSession, table: str) -> None:
        self._spark = spark
        self._name = table.split(".")

    def entries(self) -> Entries:
        with self._listed() as (_, found):
            return {_values(each): _entry(each) for each in found}

    def places(self) -> dict[tuple[str, ...], Path]:
        """The directory of each partition. The metastore's locations are texts, and no encoded URIs."""
        with self._listed() as (_, found):
            locations = {_values(each): str(each.getSd().getLocation()) for each in found}
        return {values: Path("/" + text.partition(":")[2].lstrip("/")) for values, text in locations.items()}

    def tell(self, **values: str) -> None:
        """Set parameters of each partition, or of the table, as they are."""
        with self._listed() as (client, found):
            for each in found:
                for key, value in values.items():
                    each.putToParameters(key, value)
            context = self._spark._jvm.org.apache.hadoop.hive.metastore.api.EnvironmentContext()
            context.putToProperties("DO_NOT_UPDATE_STATS", "true")
            if isinstance(found, list):
                client.alter_table_with_environmentContext(*self._name, found[0], context)
            else:
                client.alter_partitions(*self._name, found, context)

    @contextmanager
    def _listed(self) -> Iterator[tuple[Any, Any]]:
        """A client, and the partitions as a list of Java's; of a table without partitions a list with the table."""
        with metastore_client(self._spark) as client:
            table = client.getTable(*self._name)
            partitioned = table.getPartitionKeys().size() > 0
            yield client, client.listPartitions(*self._name, -1) if partitioned else [table]


def _values(entry: Any) -> tuple[str, ...]:
    is_table = str(entry.getClass().getSimpleName()) == "Table"
    return () if is_table else tuple(entry.getValues())


def _entry(entry: Any) -> tuple[str, dict[str, str]]:
    parameters = {str(key): str(value) for key, value in entry.getParameters().items()}
    entry.unsetParameters()
    return str(entry.toString()), parameters


def counted(folder: Path) -> dict[str, str]:
    files = [each for each in folder.iterdir() if not each.name.startswith((".", "_"))]
    return {"numFiles": str(len(files)), "totalSize": str(sum(each.stat().st_size for each in files))}


def flat(spark: SparkSession, database: Database) -> str:
    many(spark, database.location("flat"), "SELECT id FROM range(20)", 8)
    table = f"{database}.flat"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{database.location('flat')}'"
    )
    return table


def odd(spark: SparkSession, database: Database) -> str:
    """Partitions whose names are escaped in more than one way, of two files each."""
    from pyspark.sql import functions as F

    table = f"{database}.odd"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING, n INT) STORED AS PARQUET"
        f" LOCATION '{database.location('odd')}'"
    )
    rows = json.dumps([{"k": k} for k in [*ODD_VALUES, None]])
    values = F.explode(F.from_json(F.lit(rows), "array<struct<k:string>>")).alias("row")
    setting = {"hive.exec.dynamic.partition.mode": "nonstrict"}
    with changed(lambda name: spark.conf.get(name, None), spark.conf.set, spark.conf.unset, setting):
        for start in (0, 10):
            frame = spark.range(start, start + 10).select("id", values, F.lit(7).alias("n"))
            frame.select("id", "row.k", "n").coalesce(1).write.insertInto(table)
    return table


def without(entries: Entries, *names: str) -> Entries:
    return {
        values: (text, {key: value for key, value in parameters.items() if key not in names})
        for values, (text, parameters) in entries.items()
    }


@pytest.mark.parametrize("make", [flat, odd])
def test_two_figures_are_set_and_all_else_stays_and_a_rollback_puts_them_back(
    spark: SparkSession, jobs: Jobs, database: Database, make: Callable[..., str]
) -> None:
    table = make(spark, database)
    registered = Registered(spark, table)
    registered.tell(**TOLD)
    before = registered.entries()
    assert all(parameters.items() >= TOLD.items() for _, parameters in before.values())

    report = only(jobs("compact", "--table", table, "--file-stats"))
    assert (set(outcomes({"tables": [report]})), report["warnings"]) == ({"compacted"}, [])
    after = registered.entries()
    assert without(after, *FILE_STATISTICS) == without(before, *FILE_STATISTICS)
    for values, place in registered.places().items():
        assert {name: after[values][1][name] for name in FILE_STATISTICS} == counted(place)

    report = only(jobs("rollback", "--table", table))
    assert (set(outcomes({"tables": [report]})), report["warnings"]) == ({"restored"}, [])
    assert registered.entries() == before


@pytest.mark.one_version
@pytest.mark.parametrize("make", [flat, odd])
def test_statistics_stay_by_default(
    spark: SparkSession, jobs: Jobs, database: Database, make: Callable[..., str]
) -> None:
    table = make(spark, database)
    registered = Registered(spark, table)
    registered.tell(**TOLD)
    before = registered.entries()
    jobs("compact", "--table", table)
    assert registered.entries() == before


@pytest.mark.parametrize("words", [("--analyze-stats",), ("--analyze-stats", "--file-stats")])
def test_a_rollback_puts_back_what_an_analysis_has_changed(
    spark: SparkSession, jobs: Jobs, database: Database, words: tuple[str, ...]
) -> None:
    table = flat(spark, database)
    registered = Registered(spark, table)
    registered.tell(**TOLD)
    before = registered.entries()
    jobs("compact", "--table", table, *words)
    assert registered.entries()[()][1]["numFiles"] == "1"
    report = only(jobs("rollback", "--table", table))
    assert report["warnings"] == []
    found, known = registered.entries()[()][1], before[()][1]
    assert {name: found.get(name) for name in ALL_STATISTICS} == {
        name: known.get(name) for name in ALL_STATISTICS
    }


def test_a_partition_that_somebody_changes_meanwhile_is_left_alone(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = odd(spark, database)
    registered = Registered(spark, table)
    registered.tell(**TOLD)
    write = MetastoreParameters.write

    def meanwhile(self: MetastoreParameters, *args: Any) -> Any:
        registered.tell(note="another")
        return write(self, *args)

    monkeypatch.setattr(MetastoreParameters, "write", meanwhile)
    report = only(jobs("compact", "--table", table, "--file-stats"))
    assert [text.partition(":")[0] for text in report["warnings"]] == ["STATISTICS_NOT_UPDATED"]
    assert all(
        parameters.items() >= {**TOLD, "note": "another"}.items()
        for _, parameters in registered.entries().values()
    )

"""Tables of a Hive Metastore 3.1 on a real HDFS: unusual values and locations, and concurrent changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.protocol.ports import RewriteRequest
from tests.cluster.registered import Registered
from tests.cluster.superuser import Superuser
from tests.spark.meanwhile import after_rewrites
from tests.spark.toolbox import ODD_VALUES, Jobs, many, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What NULL is called in the metastore.
NULL = "__HIVE_DEFAULT_PARTITION__"
#: Below the test's folder: inside the root, outside of it, under the name of another partition, and hard to spell.
PLACES = {
    "in": "table/k=in",
    "out": "elsewhere/lot49",
    "lie": "table/k=out",
    "spaced": "other place/50% off/a%20b",
}


def name_in(folder: str) -> str:
    """A table name that no other test has."""
    return f"t_{folder.rsplit('/', 1)[1]}"


def files(superuser: Superuser, folder: str) -> dict[str, tuple[int, int, int]]:
    """path -> (fileId, length, mtime) of the visible files, and the fileIds of the directories that hold them."""
    tree = superuser.tree(folder)
    data = {path: seen for path, seen in tree.items() if path.endswith(".parquet")}
    parents = {path.rsplit("/", 1)[0] for path in data}
    return {**data, **{path: (tree[path][0], 0, 0) for path in parents if path in tree}}


class Round:
    """A table goes through analysis, compaction, MSCK REPAIR TABLE and rollback; the test says what is special."""

    def __init__(self, spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str) -> None:
        self._spark, self._jobs, self._superuser, self._folder = spark, jobs, superuser, folder
        self.table = name_in(folder)
        self.registered = Registered(spark)

    def trip(self, units: int) -> dict[str, Any]:
        """Returns the table's part of the compaction's report."""
        self._remember()
        assert outcomes(self._jobs("analyze", "--table", self._name)) == ["flagged"] * units
        report = only(self._jobs("compact", "--table", self._name))
        assert (self._outcomes(report), report["warnings"]) == (["compacted"] * units, [])
        assert rows(self._spark, report["backup_table"]).total() == self._rows.total()
        self._is_as_it_was()
        assert self.registered.table(self.table) == self._table
        self._spark.sql(f"MSCK REPAIR TABLE {self.table}")
        self._is_as_it_was()
        assert outcomes(self._jobs("rollback", "--table", self._name)) == ["restored"] * units
        self._is_as_it_was()
        assert files(self._superuser, self._folder) == self._files
        return report

    @property
    def _name(self) -> str:
        return f"default.{self.table}"

    def _remember(self) -> None:
        self._rows = rows(self._spark, self.table)
        self._files = files(self._superuser, self._folder)
        self._table = self.registered.table(self.table)
        self._partitions = self.registered.partitions(self.table)

    def _is_as_it_was(self) -> None:
        """To readers, and in the metastore."""
        assert rows(self._spark, self.table) == self._rows
        assert self.registered.partitions(self.table) == self._partitions

    @staticmethod
    def _outcomes(report: dict[str, Any]) -> list[str]:
        return [unit["outcome"] for unit in report["units"]]


@pytest.fixture
def round_(spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str) -> Round:
    return Round(spark, jobs, superuser, folder)


def _odd(spark: SparkSession, table: str, location: str) -> None:
    """Two files in each partition, by Hive's own way of naming directories."""
    from pyspark.sql import functions as F

    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING, n INT) STORED AS PARQUET"
        f" LOCATION '{location}'"
    )
    values = F.from_json(
        F.lit(json.dumps([{"k": k} for k in [*ODD_VALUES, None]])), "array<struct<k:string>>"
    )
    with _setting(spark, "hive.exec.dynamic.partition.mode", "nonstrict"):
        for start in (0, 10):
            frame = spark.range(start, start + 10).select(
                "id", F.explode(values).alias("row"), F.lit(7).alias("n")
            )
            frame.select("id", "row.k", "n").coalesce(1).write.insertInto(table)


@contextmanager
def _setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    """The session is everybody's: what it has not been told before, it forgets afterwards."""
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name)


def test_odd_values_go_through_a_whole_round(spark: SparkSession, round_: Round, folder: str) -> None:
    _odd(spark, round_.table, f"{folder}/odd")
    assert {values for values, _ in round_.registered.locations(round_.table)} == {*ODD_VALUES, NULL}
    report = round_.trip(units=len(ODD_VALUES) + 1)
    assert {unit["unit"]["k"] for unit in report["units"]} == {*ODD_VALUES, None}
    assert {unit["rows"] for unit in report["units"]} == {20}


def test_01_beside_1_and_null_under_an_integer_key_are_three_partitions(
    spark: SparkSession, jobs: Jobs, round_: Round, folder: str
) -> None:
    table, counts = round_.table, {"1": 30, "01": 60, NULL: 10}
    for value, count in counts.items():
        many(spark, f"{folder}/padded/p={value}", f"SELECT id FROM range({count})", 3)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (p INT) STORED AS PARQUET"
        f" LOCATION '{folder}/padded'"
    )
    for value in counts:
        round_.registered.append(table, f"p={value}")
    report = round_.trip(units=3)
    assert {unit["unit"]["p"]: unit["rows"] for unit in report["units"]} == {"1": 30, "01": 60, None: 10}

    alone = only(jobs("compact", "--table", f"default.{table}", "--partitions", '[{"p": "01"}]'))
    assert [(unit["unit"], unit["rows"]) for unit in alone["units"]] == [({"p": "01"}, 60)]
    backup = alone["backup_table"].split(".")[1]
    assert round_.registered.names(backup) == ["p=01"]


def test_partitions_in_places_of_their_own_go_through_a_whole_round(
    spark: SparkSession, superuser: Superuser, round_: Round, folder: str
) -> None:
    spark.sql(
        f"CREATE EXTERNAL TABLE {round_.table} (id BIGINT) PARTITIONED BY (k STRING) STORED AS PARQUET"
        f" LOCATION '{folder}/table'"
    )
    for number, (key, place) in enumerate(PLACES.items()):
        # Spark would take a percent sign in the path of `save` for its own; a rename does not.
        many(spark, f"{folder}/made", f"SELECT id FROM range({number}00, {number}20)", 3)
        target = superuser.path(f"{folder}/{place}")
        superuser.fs.mkdirs(target.getParent())
        assert superuser.fs.rename(superuser.path(f"{folder}/made"), target)
        spark.sql(f"ALTER TABLE {round_.table} ADD PARTITION (k='{key}') LOCATION '{folder}/{place}'")
    places = {(key,): f"{folder}/{place}" for key, place in PLACES.items()}
    assert round_.registered.locations(round_.table) == places
    round_.trip(units=4)
    assert round_.registered.locations(round_.table) == places


def _meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Somebody else acts once, between a unit's rewrite and its swap."""
    acts = [act]

    def once(plan: RewriteRequest) -> None:
        if plan.files[0].rsplit("/", 2)[1] == "p=a" and acts:
            acts.pop()()

    after_rewrites(monkeypatch, once)


def _count(spark: SparkSession, folder: str) -> int:
    return spark.read.parquet(folder).count()


@pytest.mark.one_version
def test_a_partition_dropped_meanwhile_stays_dropped_and_its_files_stay(
    spark: SparkSession, jobs: Jobs, folder: str, pair: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _meanwhile(monkeypatch, lambda: spark.sql(f"ALTER TABLE {pair} DROP PARTITION (p='a')"))
    report = only(jobs("compact", "--table", f"default.{pair}"))
    assert Registered(spark).names(pair) == ["p=b"]
    assert any("p=a: the metastore has no such partition any more" in text for text in report["warnings"])
    assert _count(spark, f"{folder}/pair/p=a") == 20
    assert rows(spark, pair).total() == 20
    spark.sql(f"MSCK REPAIR TABLE {pair}")
    assert rows(spark, pair).total() == 40


@pytest.mark.one_version
def test_a_partition_whose_files_were_purged_meanwhile_does_not_come_back(
    spark: SparkSession,
    jobs: Jobs,
    superuser: Superuser,
    folder: str,
    pair: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def purge() -> None:
        spark.sql(f"ALTER TABLE {pair} DROP PARTITION (p='a')")
        superuser.fs.delete(superuser.path(f"{folder}/pair/p=a"), True)

    _meanwhile(monkeypatch, purge)
    report = jobs("compact", "--table", f"default.{pair}")
    assert sorted(outcomes(report)) == ["changed", "compacted"]
    spark.sql(f"MSCK REPAIR TABLE {pair}")
    assert Registered(spark).names(pair) == ["p=b"]
    assert rows(spark, pair).total() == 20


@pytest.mark.one_version
def test_a_partition_pointed_elsewhere_meanwhile_stays_there(
    spark: SparkSession,
    jobs: Jobs,
    superuser: Superuser,
    folder: str,
    pair: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The directory that it had is compacted as planned; the one that it has now is not ours to touch."""
    other = f"{folder}/fresh/p=a"
    many(spark, other, "SELECT id FROM range(100, 107)", 3)
    before = files(superuser, f"{folder}/fresh")
    point = f"ALTER TABLE {pair} PARTITION (p='a') SET LOCATION '{other}'"
    _meanwhile(monkeypatch, lambda: spark.sql(point))
    report = jobs("compact", "--table", f"default.{pair}", "--run-id", "r1")
    assert (outcomes(report), len(files(superuser, f"{folder}/pair/p=a"))) == (["compacted"] * 2, 1)
    places = {("a",): other, ("b",): f"{folder}/pair/p=b"}
    assert Registered(spark).locations(pair) == places
    assert files(superuser, f"{folder}/fresh") == before
    assert rows(spark, pair).total() == 27
    assert _count(spark, f"{folder}/pair/p=a") == 20

    jobs("rollback", "--table", f"default.{pair}", "--run-id", "r1")
    assert Registered(spark).locations(pair) == places
    assert files(superuser, f"{folder}/fresh") == before
    assert rows(spark, pair).total() == 27
    assert _count(spark, f"{folder}/pair/p=a") == 20


def test_a_table_dropped_meanwhile_stays_dropped_and_its_files_stay(
    spark: SparkSession, jobs: Jobs, folder: str, pair: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _meanwhile(monkeypatch, lambda: spark.sql(f"DROP TABLE {pair}"))
    assert set(outcomes(jobs("compact", "--table", f"default.{pair}"))) <= {"compacted", "changed"}
    assert not spark.catalog.tableExists(f"default.{pair}")
    assert _count(spark, f"{folder}/pair/p=a") == _count(spark, f"{folder}/pair/p=b") == 20
    again = jobs("compact", "--table", f"default.{pair}")
    assert (only(again)["code"], again["exit_code"]) == ("NOT_FOUND", 1)

"""The figures of each column in the footers: a faulty rewrite shows in them, and a faithful one never does."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.core.formats.leaf_statistics import FileStatistics, LeafStatistics, check_statistics, of_files
from tests.fidelity import reading
from tests.harness.fixtures import Database
from tests.harness.sampling import sampled
from tests.spark.toolbox import Jobs, data_files, listed, many, only

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = "id BIGINT, a INT, b INT, x STRING, y STRING, s ARRAY<INT>"
ROWS = (
    "SELECT id, CAST(id AS INT) AS a, CAST(id + 900 AS INT) AS b, concat('left ', id) AS x,"
    " concat('right ', id) AS y, array(CAST(id AS INT), 5) AS s FROM range(40)"
)
#: What a faulty rewrite makes of the columns, and the column that is named.
FAULTS = {
    "a column of nulls": (["id", "CAST(NULL AS INT) AS a", "b", "x", "y", "s"], "'a'"),
    "text of nulls": (["id", "a", "b", "CAST(NULL AS STRING) AS x", "y", "s"], "'x'"),
    "one value that is null": (["id", "IF(id = 7, NULL, a) AS a", "b", "x", "y", "s"], "'a'"),
    "exchanged numbers": (["id", "b AS a", "a AS b", "x", "y", "s"], "'a'"),
    "exchanged texts": (["id", "a", "b", "y AS x", "x AS y", "s"], "'x'"),
    "elements that are null": (
        ["id", "a", "b", "x", "y", "transform(s, e -> CAST(NULL AS INT)) AS s"],
        "'s.",
    ),
    "elements that are missing": (["id", "a", "b", "x", "y", "slice(s, 1, 1) AS s"], "'s."),
}


@pytest.mark.one_version
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_rewrite_fails_the_unit_and_names_the_column(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    file_format: str,
) -> None:
    """Rows and types are right, so that only the figures of the columns tell."""
    from spark_jobs.adapters.spark import spreading

    columns, named = FAULTS[fault]
    many(spark, database.location("t"), ROWS, 4, file_format)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t ({COLUMNS}) STORED AS {file_format}"
        f" LOCATION '{database.location('t')}'"
    )
    before, honest = data_files(database.path / "t"), spreading._sorted

    def faulty(frame: DataFrame, *rest: Any) -> DataFrame:
        return honest(frame, *rest).selectExpr(*columns)

    monkeypatch.setattr(spreading, "_sorted", faulty)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], data_files(database.path / "t")) == ("failed", before), unit
    assert f"column {named}" in unit["reason"]


def test_files_with_wrong_statistics_are_compacted_where_all_values_are_compared(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spark_jobs.core.formats import parquet_json

    honest = parquet_json.file_statistics

    def wrong(leaves: Any, blocks: Any, by: str) -> dict[str, LeafStatistics]:
        """In each of the four originals, which have a row group each, a value is said to be null."""
        found = honest(leaves, blocks, by)
        return found if len(blocks) == 1 else {**found, "v": found["v"]._replace(non_null=40 - len(blocks))}

    monkeypatch.setattr(parquet_json, "file_statistics", wrong)
    many(spark, database.location("t"), "SELECT id, id AS v FROM range(40)", 4)
    table = f"{database}.t"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{database.location('t')}'"
    )
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "WRONG_STATISTICS"), unit
    assert "column 'v': values that are not null 36 in the originals, and 40 in" in unit["reason"]
    (unit,) = only(jobs("compact", "--table", table, "--verify", "hash"))["units"]
    assert unit["outcome"] == "compacted", unit


#: Queries of the files of one unit, and options of their writer. What is written again has other statistics.
HONEST = {
    "int96": (["SELECT id, TIMESTAMP'2024-03-31 02:30:00' AS v FROM range(9)"] * 2, {}),
    "not a number": (
        [f"SELECT id, IF(id = {n}, DOUBLE('NaN'), id / 3 - 1) AS v FROM range(9)" for n in (0, 4, 99)],
        {},
    ),
    "signs of zero": (["SELECT id, -0.0D AS v FROM range(3)", "SELECT id, 0.0D AS v FROM range(3)"], {}),
    "cut texts": (
        [f"SELECT id, concat('Grüße aus ', id * {n}, ' \U0010ffff') AS v FROM range(9)" for n in (1, 7)],
        {"parquet.statistics.truncate.length": "4"},
    ),
    "texts too long for statistics": (
        [f"SELECT id, repeat('a', {size}) AS v FROM range(3)" for size in (5000, 1500, 1)],
        {},
    ),
    "nothing but nulls": (["SELECT id, CAST(NULL AS INT) AS v FROM range(9)"] * 2, {}),
    "nulls in one file": (
        ["SELECT id, CAST(NULL AS INT) AS v FROM range(9)", "SELECT id, CAST(id AS INT) AS v FROM range(9)"],
        {},
    ),
    "a column that some files lack": (
        ["SELECT id FROM range(9)", "SELECT id, id AS v, array(id) AS w FROM range(9)"],
        {},
    ),
    "files without rows": (
        [
            "SELECT id, id AS v FROM range(0)",
            "SELECT id, id AS v FROM range(9)",
            "SELECT id, id AS v FROM range(5)",
        ],
        {},
    ),
    "files without indexes": (["SELECT id, id AS v FROM range(9)"] * 2, {"orc.create.index": "false"}),
    "empty collections": (
        ["SELECT id, IF(id % 2 = 0, array(), array(id, NULL)) AS v, map('k', id) AS m FROM range(9)"] * 2,
        {},
    ),
    "large sums": (["SELECT id, 9223372036854775807 - id AS v FROM range(9)"] * 2, {}),
    "a name with a dot and a comma": (["SELECT id, id AS `a.b`, -id AS `a, c` FROM range(9)"] * 2, {}),
}


@pytest.mark.one_version
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("case", HONEST)
def test_a_faithful_rewrite_raises_no_alarm(
    spark: SparkSession, jobs: Jobs, database: Database, case: str, file_format: str
) -> None:
    queries, options = HONEST[case]
    kind = "INT96" if case == "int96" else "TIMESTAMP_MICROS"
    spark.conf.set("spark.sql.parquet.outputTimestampType", kind)
    try:
        for query in queries:
            write = spark.sql(query).coalesce(1).write.format(file_format).mode("append").options(**options)
            write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").save(
                database.location("t")
            )
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    table, folder = f"{database}.t", database.path / "t"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS {file_format} LOCATION '{database.location('t')}'"
    )
    before = _rows(folder)
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["reason"], _rows(folder)) == ("compacted", None, before)


def _rows(folder: Path) -> Counter[str]:
    """A column that a file lacks has no value in its rows. Not by ORC's Java reader, to which all zeros are one."""
    found = [row for path in reading.data(folder) for row in reading.table(path)]
    columns = dict.fromkeys(sorted({name for row in found for name in row}))
    return Counter(repr(columns | row) for row in found)


#: Columns of all kinds, of which each value may be null, NaN, a zero of either sign, ancient or long.
_MIXED = {
    "i": "INT",
    "l": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "s": "STRING",
    "b": "BINARY",
    "o": "BOOLEAN",
    "t": "DATE",
    "n": "DECIMAL(9,2)",
    "m": "DECIMAL(30,4)",
    "a": "ARRAY<INT>",
    "r": "STRUCT<x: INT, y: ARRAY<STRING>>",
}


def _mixed(count: int, seed: int) -> list[str]:
    """Rows as SQL."""
    chance = random.Random(seed)
    return [", ".join(_value(chance, name, kind) for name, kind in _MIXED.items()) for _ in range(count)]


def _value(chance: random.Random, name: str, kind: str) -> str:
    number, text = chance.randrange(-50, 50), chance.choice("abzé😀") * chance.choice([0, 1, 3, 1200])
    values = {
        "f": f"'{chance.choice(['NaN', '-0.0', '0.0', '-Infinity', number / 3])}'",
        "d": f"'{chance.choice(['NaN', '-0.0', '0.0', number / 7])}'",
        "s": f"'{text}'",
        "b": f"'{text}'",
        "o": str(number > 0).lower(),
        "t": f"date_add(DATE'{chance.choice(['2024-02-29', '1583-03-01', '9999-01-01'])}', {number})",
        "a": chance.choice(["array()", "array(NULL)", f"array({number}, NULL, 7)"]),
        "r": f"named_struct('x', IF({number} > 0, {number}, NULL), 'y', array('{text}'))",
    }
    value = "NULL" if chance.random() < 0.2 else values.get(name, str(number))
    return f"CAST({value} AS {kind}) AS {name}"


def _figures(spark: SparkSession, folder: Path, file_format: str) -> FileStatistics:
    from spark_jobs.adapters.spark.formats.registry import spark_formats

    (footers,) = spark_formats(spark)[file_format].read([listed(folder)])
    return of_files([footer.statistics for footer in footers])


@pytest.mark.one_version
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("seed", sampled(range(3), 0))
def test_figures_are_the_same_however_rows_are_split(
    spark: SparkSession, tmp_path: Path, file_format: str, seed: int
) -> None:
    """The rows of each file are others, and stand in another order."""
    frame = spark.sql(" UNION ALL ".join(f"SELECT {row}" for row in _mixed(60, seed))).cache()
    splits = {
        "seven": frame.repartition(7),
        "sorted": frame.coalesce(1).sort("s", "i"),
        "one": frame.coalesce(1),
    }
    for name, split in splits.items():
        write = split.write.format(file_format).option("parquet.block.size", "4096")
        write.option("parquet.statistics.truncate.length", "2" if name == "one" else "9999").save(
            (tmp_path / name).as_uri()
        )
    seven, one, by_text = (
        _figures(spark, tmp_path / name, file_format) for name in ("seven", "one", "sorted")
    )
    check_statistics(seven, one)
    check_statistics(one, by_text)
    assert {path for path, leaf in one.items() if leaf.non_null is None} == set()
    assert {"i", "l", "t", "n"} <= {path for path, leaf in one.items() if leaf.bounds}

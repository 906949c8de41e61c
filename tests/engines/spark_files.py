"""What Spark writes: files only, which Hive declares as tables. `python -m tests.engines.spark_files JOBS` is for the
other Spark: JOBS is a JSON file with a list of the fields of `Job`."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demo.services import paths
from demo.services.java import DRIVER_OPTIONS
from demo.services.processes import own_environ
from tests.engines.tables import SPARK, SPARK_4, Table, by_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The columns, their types in Hive, and what Spark writes for row `id`.
_COLUMNS = {
    "id": ("bigint", "id"),
    "i": ("int", "CAST(id AS INT)"),
    "d30": ("decimal(30,6)", "CAST((id - 10) * 1.25 AS DECIMAL(30,6))"),
    "f": (
        "float",
        "CAST(CASE id % 6 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0.0' WHEN 2 THEN '0.0' WHEN 3 THEN '-Infinity'"
        " ELSE CAST(id / 4 AS STRING) END AS FLOAT)",
    ),
    "d": (
        "double",
        "CAST(CASE id % 7 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0.0' WHEN 2 THEN '0.0' WHEN 3 THEN 'Infinity' WHEN 4"
        " THEN '-1.5' ELSE CAST(id / 4 AS STRING) END AS DOUBLE)",
    ),
    "b": ("boolean", "IF(id % 5 = 0, NULL, id % 2 = 0)"),
    "s": (
        "string",
        "CASE id % 8 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'zz' WHEN 3 THEN ' pad ' WHEN 4 THEN 'é中'"
        " ELSE concat('s', lpad(CAST(id AS STRING), 4, '0')) END",
    ),
    "dt": (
        "date",
        "CASE id % 6 WHEN 0 THEN NULL WHEN 1 THEN DATE'1600-01-01' WHEN 2 THEN DATE'9999-12-31'"
        " WHEN 3 THEN DATE'2020-02-29' ELSE date_add(DATE'2021-01-01', CAST(id AS INT)) END",
    ),
    "ts": (
        "timestamp",
        "CASE id % 6 WHEN 0 THEN NULL WHEN 1 THEN TIMESTAMP'1901-01-01 00:00:00.000001'"
        " WHEN 2 THEN TIMESTAMP'2200-12-31 23:59:59.999999' WHEN 3 THEN TIMESTAMP'2020-02-29 12:34:56.123456'"
        " ELSE TIMESTAMP'2021-10-31 00:00:00.5' + make_interval(0, 0, 0, 0, CAST(id AS INT), 0, 0) END",
    ),
    "bin": ("binary", "CASE id % 9 WHEN 0 THEN NULL WHEN 1 THEN CAST('' AS BINARY) ELSE unhex(hex(id)) END"),
    "arr": (
        "array<int>",
        "CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN CAST(array() AS ARRAY<INT>)"
        " WHEN 2 THEN array(CAST(NULL AS INT), 1) ELSE array(CAST(id AS INT)) END",
    ),
    "m": (
        "map<string,int>",
        "CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN CAST(map() AS MAP<STRING,INT>)"
        " WHEN 2 THEN map('k', CAST(NULL AS INT)) ELSE map('a', CAST(id AS INT), 'b', 2) END",
    ),
    "st": (
        "struct<x:int,y:string>",
        "CASE id % 3 WHEN 0 THEN NULL WHEN 1 THEN named_struct('x', CAST(NULL AS INT), 'y', CAST(NULL AS STRING))"
        " ELSE named_struct('x', CAST(id AS INT), 'y', concat('y', CAST(id AS STRING))) END",
    ),
    "nest": (
        "array<struct<k:string,v:array<int>>>",
        "CASE id % 3 WHEN 0 THEN NULL WHEN 1 THEN CAST(array() AS ARRAY<STRUCT<k:STRING,v:ARRAY<INT>>>)"
        " ELSE array(named_struct('k', concat('k', CAST(id AS STRING)), 'v', CAST(array() AS ARRAY<INT>)),"
        " named_struct('k', '', 'v', array(CAST(id AS INT)))) END",
    ),
}
_SQL = ", ".join(f"{sql} AS {name}" for name, (_, sql) in _COLUMNS.items())
_TYPES = {name: kind for name, (kind, _) in _COLUMNS.items()}
#: What Arrow writes: no timestamps of 96 bits, and no NaN.
_PLAIN = {
    **{name: column for name, column in _COLUMNS.items() if name != "ts"},
    "f": ("float", "CAST(id / 4 + 0.5 AS FLOAT)"),
    "d": ("double", "IF(id % 7 = 0, NULL, id / 8 - 2.3)"),
}
_DECIMALS = {"id": "bigint", "d9": "decimal(9,2)", "d18": "decimal(18,4)", "d38": "decimal(38,10)"}
_DECIMALS_SQL = (
    "id, CAST(id + 0.25 AS DECIMAL(9,2)) AS d9, CAST(id * 1.5 AS DECIMAL(18,4)) AS d18,"
    " CAST((id - 10) * 1.25 AS DECIMAL(38,10)) AS d38"
)
_TIMES = {"id": "bigint", "dt": "date", "ts": "timestamp"}
_TIMES_SQL = f"id, {_COLUMNS['dt'][1]} AS dt, {_COLUMNS['ts'][1]} AS ts"
#: From the year 1 on, in steps of 40 years.
_ANCIENT_SQL = (
    "id, date_add(DATE'0001-01-01', CAST(id % 50 * 14600 AS INT)) AS dt,"
    " CAST(date_add(DATE'0001-01-01', CAST(id % 50 * 14600 AS INT)) AS TIMESTAMP) AS ts"
)
_INDEXED = {"id": "bigint", "s": "string", "n": "int"}
_INDEXED_SQL = "id, concat('s', lpad(CAST(id AS STRING), 5, '0')) AS s, CAST(id % 50 AS INT) AS n"
_AB = {"id": "bigint", "a": "string", "b": "string"}
_WIDE = {"id": "bigint", "f": "double", "de": "decimal(18,2)"}
_P = {"p": "string"}
#: The first row of each file and the one after its last: one large file, and three small ones.
_RANGES = ((1000, 1500), (0, 20), (20, 40), (40, 60))


@dataclass(frozen=True)
class Job:
    """One file: of a folder, with the rows of a query."""

    folder: str
    sql: str
    file_format: str
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Written:
    """A table, and the queries of its files; `{}` is the range of ids.

    Attributes:
        others: queries with ranges of their own, each the last file of its schema.
    """

    table: Table
    sql: str = _SQL
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    ranges: Sequence[tuple[int, int]] = _RANGES
    others: Sequence[tuple[str, int, int]] = ()

    def jobs(self, root: Path) -> Iterator[Job]:
        """Yield its files; those of a partitioned table are in each of two partitions."""
        folder = self.table.folder(root)
        queries = [(self.sql, *ids) for ids in self.ranges]
        for target in (folder / "p=a", folder / "p=b") if self.table.keys else (folder,):
            for sql, start, end in (*queries, *self.others):
                query = f"SELECT {sql} FROM range({start}, {end})"
                yield Job(f"file://{target}", query, self.table.stored.lower(), self.settings, self.options)


def _rebase(mode: str) -> dict[str, str]:
    names = ("datetimeRebaseModeInWrite", "int96RebaseModeInWrite")
    return {f"spark.sql.parquet.{name}": mode for name in names}


_BY_NAME = {"lakekeeper.readers": "by-name"}
_A, _B = "id, concat('a', CAST(id AS STRING)) AS a", "concat('b', CAST(id AS STRING)) AS b"
_SWAPPED = "id, concat('b', CAST(id AS STRING)) AS b, concat('a', CAST(id AS STRING)) AS a"
_COL = "id AS _col0, concat('s', CAST(id AS STRING)) AS _col1"
_NAMED = "id, concat('s', CAST(id AS STRING)) AS s"
_EVOLVED = ((_A, 20, 40), (f"{_A}, {_B}", 40, 60), (f"{_A}, {_B}", 60, 80))
_REORDERED = ((f"{_A}, {_B}", 40, 60), (_SWAPPED, 60, 80), (f"id, {_B}", 80, 100), (f"id, {_B}", 100, 120))
_WIDE_OTHERS = tuple(
    ("id + 3000000000 AS id, id / 4 AS f, CAST(id * 1.1 AS DECIMAL(18,2)) AS de", start, start + 10)
    for start in (20, 30)
)
_FILES = (
    _Written(Table("s_parquet", SPARK, "PARQUET", _TYPES, "all types; INT96", keys=_P, default=True)),
    _Written(
        Table(
            "s_parquet_plain",
            SPARK,
            "PARQUET",
            {name: kind for name, (kind, _) in _PLAIN.items()},
            "all types without INT96 and NaN",
            keys=_P,
        ),
        ", ".join(f"{sql} AS {name}" for name, (_, sql) in _PLAIN.items()),
    ),
    _Written(Table("s_orc", SPARK, "ORC", _TYPES, "all types; NaN", keys=_P, default=True)),
    _Written(
        Table("s_parquet_evolved", SPARK, "PARQUET", _AB, "columns added", default=True), _A, others=_EVOLVED
    ),
    _Written(Table("s_orc_evolved", SPARK, "ORC", _AB, "columns added", default=True), _A, others=_EVOLVED),
    _Written(Table("s_parquet_reordered", SPARK, "PARQUET", _AB, "columns reordered"), _A, others=_REORDERED),
    _Written(Table("s_orc_reordered", SPARK, "ORC", _AB, "columns reordered"), _A, others=_REORDERED),
    _Written(
        Table(
            "s_orc_by_name",
            SPARK,
            "ORC",
            _AB,
            "columns reordered, declared as read by name",
            properties=_BY_NAME,
        ),
        _A,
        others=_REORDERED,
    ),
    _Written(
        Table("s_parquet_decimals", SPARK, "PARQUET", _DECIMALS, "decimals of 4, 8 and 16 bytes"),
        _DECIMALS_SQL,
    ),
    _Written(
        Table("s_parquet_legacy", SPARK, "PARQUET", {**_TYPES, **_DECIMALS}, "the legacy format"),
        f"{_SQL}, {_DECIMALS_SQL.partition(', ')[2]}",
        {"spark.sql.parquet.writeLegacyFormat": "true"},
    ),
    _Written(
        Table("s_parquet_micros", SPARK, "PARQUET", _TIMES, "timestamps as INT64"),
        _TIMES_SQL,
        {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"},
    ),
    _Written(
        Table("s_parquet_julian", SPARK, "PARQUET", _TIMES, "dates before 1582, Julian calendar"),
        _ANCIENT_SQL,
        _rebase("LEGACY"),
    ),
    _Written(
        Table("s_parquet_gregorian", SPARK, "PARQUET", _TIMES, "dates before 1582, Gregorian calendar"),
        _ANCIENT_SQL,
        _rebase("CORRECTED"),
    ),
    _Written(Table("s_orc_ancient", SPARK, "ORC", _TIMES, "dates before 1582"), _ANCIENT_SQL),
    _Written(
        Table("s_parquet_bloom", SPARK, "PARQUET", _INDEXED, "Bloom filters"),
        _INDEXED_SQL,
        options={"parquet.bloom.filter.enabled#s": "true", "parquet.bloom.filter.expected.ndv#s": "100"},
    ),
    _Written(
        Table("s_parquet_pages", SPARK, "PARQUET", _INDEXED, "many row groups and pages, sorted"),
        _INDEXED_SQL,
        options={"parquet.block.size": "65536", "parquet.page.size": "1024"},
        ranges=((10_000, 14_000), (0, 500), (500, 1000), (1000, 1500)),
    ),
    _Written(
        Table("s_parquet_widened", SPARK, "PARQUET", _WIDE, "columns widened"),
        "CAST(id AS INT) AS id, CAST(id / 4 AS FLOAT) AS f, CAST(id * 1.1 AS DECIMAL(9,2)) AS de",
        others=_WIDE_OTHERS,
    ),
    _Written(
        Table("s_orc_col", SPARK, "ORC", {"id": "bigint", "s": "string"}, "columns without names"), _COL
    ),
    _Written(
        Table(
            "s_orc_col_mixed", SPARK, "ORC", {"id": "bigint", "s": "string"}, "columns with and without names"
        ),
        _COL,
        others=((_NAMED, 60, 80), (f"{_NAMED}, 1 AS x", 80, 100)),
    ),
    _Written(Table("s4_parquet", SPARK_4, "PARQUET", _TYPES, "all types", keys=_P)),
    _Written(Table("s4_orc", SPARK_4, "ORC", _TYPES, "all types; NaN", keys=_P)),
)
TABLES = by_name([each.table for each in _FILES])


def jobs(root: Path, names: Sequence[str], writer: str) -> list[Job]:
    """Return the files of these tables that a version of Spark writes."""
    chosen = [each for each in _FILES if each.table.name in names and each.table.writer == writer]
    return [job for each in chosen for job in each.jobs(root)]


def write(spark: SparkSession, wanted: Iterable[Job]) -> None:
    """Write the files; equal settings share a session."""
    sessions: dict[str, SparkSession] = {}
    for job in wanted:
        key = repr(sorted(job.settings.items()))
        session = sessions.get(key) or sessions.setdefault(key, _session(spark, job.settings))
        writer = session.sql(job.sql).coalesce(1).write.mode("append").format(job.file_format)
        for name, value in job.options.items():
            writer = writer.option(name, value)
        writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").save(job.folder)


def _session(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    session = spark.newSession()
    fixed = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
    }
    for name, value in {**fixed, **settings}.items():
        session.conf.set(name, value)
    return session


def write_elsewhere(env: str, wanted: Sequence[Job], scratch: Path) -> None:
    """Write the files in a process of another environment; raises where it fails."""
    if not wanted:
        return
    scratch.mkdir(parents=True, exist_ok=True)
    listed = scratch / "jobs.json"
    listed.write_text(json.dumps([dataclasses.asdict(job) for job in wanted]))
    command = [paths.env_python(env), "-m", "tests.engines.spark_files", str(listed)]
    environ = {**own_environ(), "SPARK_LOCAL_DIRS": str(scratch), "SPARK_SUBMIT_OPTS": DRIVER_OPTIONS}
    subprocess.run(command, cwd=paths.ROOT, env=environ, check=True)


def main(listed: str) -> None:
    """Write the files of the list."""
    from pyspark.sql import SparkSession

    spark: Any = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    write(spark, [Job(**job) for job in json.loads(Path(listed).read_text())])
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])

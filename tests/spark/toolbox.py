"""What the Spark tests share: tables made for the purpose, jobs run in this process, and listings of their own."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from spark_jobs import __version__
from spark_jobs.adapters.composition import spark_services
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.values.model import FileEntry, FileListing
from spark_jobs.core.wire.report import Report
from spark_jobs.verbs import runner
from tests.harness.fixtures import Database
from tests.harness.selection import ENGINE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: Partition values that file systems, URIs and SQL text each write differently.
ODD_VALUES = [
    "a:b",
    "a/b",
    "100%",
    "it's",
    'say "hi"',
    "two words",
    "été 東京",
    "a=b",
    "%3A",
    "back\\slash",
    "1",
    "01",
]


@dataclass
class Jobs:
    """Runs the jobs in a session that stands already, and returns their reports as the wire has them."""

    spark: SparkSession
    folder: Path
    request: dict[str, Any] | None = None

    def __call__(self, verb: str, *argv: str, request: dict[str, Any] | None = None) -> dict[str, Any]:
        words = [str(word) for word in argv]
        if by_arrow() and verb == "compact" and "--engine" not in words:
            words += ["--engine", "arrow"]
        if request is not None:
            path = self.folder / "request.json"
            path.write_text(json.dumps(request))
            words += ["--request", path.as_uri()]
        report = Report(verb, __version__)
        runner.run(spark_services(self.spark), parse(verb, words, ""), report)
        return {**report.to_json(), "exit_code": report.exit_code}


def by_arrow() -> bool:
    """Tell whether the tests run over Arrow (`pytest --engine arrow`)."""
    return os.environ.get(ENGINE) == "arrow"


def local(uri: str) -> Path:
    """The path behind a `file:` URI as the metastore has it."""
    return Path(unquote(urlparse(uri).path)) if "%" not in uri else Path(uri.split(":", 1)[1])


def listed(folder: Path) -> tuple[str, FileListing]:
    """Return the URI of a directory, and its visible files that are not empty, as the readers of footers take them."""
    found = ((name, (folder / name).stat().st_size) for name in data_files(folder))
    return f"file:{folder}", FileListing.of(FileEntry(name, size, 0) for name, size in found if size)


def data_files(folder: Path) -> dict[str, tuple[int, int]]:
    """name -> (size, mtime in ns) of the visible files of one directory, by the operating system's own listing."""
    found = {}
    for entry in os.scandir(folder):
        if entry.is_file() and not entry.name.startswith((".", "_")):
            stat = entry.stat()
            found[entry.name] = (stat.st_size, stat.st_mtime_ns)
    return found


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """The same for every visible directory below a folder, by relative path."""
    found = {}
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith((".", "_")):
                stat = Path(path, name).stat()
                found[str(Path(path, name).relative_to(folder))] = (stat.st_size, stat.st_mtime_ns)
    return found


def rows(spark: SparkSession, table: str) -> Counter[str]:
    """Every row of a table as text, counted: equal multisets mean equal tables."""
    spark.catalog.refreshTable(table)
    return Counter(str(row) for row in spark.table(table).collect())


def ids(spark: SparkSession, table: str) -> set[int]:
    """The distinct values of the column `id`."""
    spark.catalog.refreshTable(table)
    return {row.id for row in spark.table(table).collect()}


def outcomes(report: dict[str, Any]) -> list[str]:
    return [unit["outcome"] for table in report["tables"] for unit in table["units"]]


def only(report: dict[str, Any]) -> dict[str, Any]:
    """The one table of a report."""
    assert len(report["tables"]) == 1, report
    return report["tables"][0]


def write_files(
    spark: SparkSession, folder: str, queries: Sequence[str], file_format: str = "parquet"
) -> None:
    """One file for each query, appended to a directory."""
    for query in queries:
        spark.sql(query).coalesce(1).write.mode("append").format(file_format).option(
            "mapreduce.fileoutputcommitter.marksuccessfuljobs", "false"
        ).save(folder)


def cluster_settings(spark: SparkSession, settings: Mapping[str, str]) -> AbstractContextManager[None]:
    """The cluster's Hadoop configuration has these settings until the end of the block."""
    conf = spark._jsc.hadoopConfiguration()
    return changed(conf.getRaw, conf.set, conf.unset, settings)


def spark_defaults(spark: SparkSession, settings: Mapping[str, str]) -> AbstractContextManager[None]:
    """New sessions begin with these settings, as with those of `spark-defaults.conf`."""
    conf: Any = spark._jsc.sc().conf()
    return changed(lambda name: conf.get(name, None), conf.set, conf.remove, settings)


@contextmanager
def changed(
    get: Callable[[str], str | None],
    put: Callable[[str, str], object],
    remove: Callable[[str], object],
    settings: Mapping[str, str],
) -> Iterator[None]:
    """Settings of any configuration until the end of the block."""
    before: dict[str, str | None] = {}
    try:
        for name, value in settings.items():
            found = get(name)
            put(name, value)
            before[name] = found  # what cannot be set cannot be removed either
        yield
    finally:
        for name, found in before.items():
            remove(name) if found is None else put(name, found)


def empty_table(
    spark: SparkSession, database: Database, name: str, stored: str = "STORED AS TEXTFILE", keys: str = ""
) -> str:
    """Create an external table in a directory of its database, and return its name."""
    (database.path / name).mkdir(parents=True)
    location = database.location(name)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.{name} (id BIGINT, v STRING) {keys} {stored} LOCATION '{location}'"
    )
    return f"{database}.{name}"


def many(spark: SparkSession, folder: str, query: str, files: int, file_format: str = "parquet") -> None:
    """The rows of a query in exactly so many files."""
    write = spark.sql(query).repartition(files).write.mode("append").format(file_format)
    write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").save(folder)


def of_ids(
    spark: SparkSession, database: Database, name: str, files: Mapping[str, int], ids: int = 40
) -> str:
    """A table of the column `id`, with so many files in each partition `k`, and the same ids in all of them."""
    table, location = f"{database}.{name}", database.location(name)
    for key, number in files.items():
        many(spark, f"{location}/k={key}", f"SELECT id FROM range({ids})", number)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING) STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    return table


def literal(text: str) -> str:
    """A text in an SQL statement of a test."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

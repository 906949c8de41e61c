"""How many calls to the JVM it takes to look into many files, and what is built for tables that need it only."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.java_gateway import GatewayClient

from spark_jobs.adapters.composition import spark_services
from spark_jobs.adapters.spark.byte_copies import ByteCopies
from spark_jobs.adapters.spark.formats import text
from spark_jobs.adapters.spark.formats.codecs import Codecs, codec_factory
from spark_jobs.adapters.spark.formats.registry import spark_formats
from spark_jobs.adapters.spark.hashing import Hashing
from spark_jobs.adapters.spark.text_bytes import TextBytes
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONTENT = b"one\ntwo\nthree"


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The calls to the JVM, as long as this is open. Objects are released by another thread, at any time."""
    calls: list[str] = []
    send = GatewayClient.send_command

    def spy(client: Any, command: str, *args: Any, **options: Any) -> Any:
        if not command.startswith("m\n"):
            calls.append(command)
        return send(client, command, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(GatewayClient, "send_command", spy)
        yield calls


def _sizes(spark: SparkSession) -> Callable[[list[str]], object]:
    found = TextBytes(spark, spark_formats(spark))
    return found._sizes


def _ends(spark: SparkSession) -> Callable[[list[str]], object]:
    found = TextBytes(spark, spark_formats(spark))
    return lambda paths: found._unended(dict.fromkeys(paths, len(CONTENT)))


def _comparison(spark: SparkSession) -> Callable[[list[str]], object]:
    copies = ByteCopies(spark, NameNodeCalls())
    # A local disk has no checksums; to be told so takes a call for each file.
    copies._same_checksum = lambda *_: False  # type: ignore[method-assign]

    def differing(paths: list[str]) -> object:
        folder = paths[0].rpartition("/")[0]
        return copies.differing(folder, {path.rpartition("/")[2]: path for path in paths})

    return differing


@pytest.mark.one_version
@pytest.mark.parametrize(
    "prepare",
    [_sizes, pytest.param(_ends, marks=pytest.mark.full), pytest.param(_comparison, marks=pytest.mark.full)],
)
def test_the_calls_grow_neither_with_the_files_nor_with_the_units(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prepare: Callable[[SparkSession], Callable[[list[str]], object]],
) -> None:
    look, costs = prepare(spark), []
    for number, count in enumerate((3, 3, 30)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for file in range(count):
            (folder / f"{file}.gz").write_bytes(gzip.compress(CONTENT))
        paths = [f"file:{folder}/{file}.gz" for file in range(count)]
        with counted(monkeypatch) as calls:
            look(paths)
        costs.append(len(calls))
    assert costs[1] == costs[2], costs
    # Hundreds, if the expressions were made for each unit.
    assert costs[1] < 30, costs


@pytest.mark.one_version
def test_codecs_are_looked_up_for_tables_of_text_only_and_once(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Codecs] = []

    def factory(jvm: Any, conf: Any) -> Codecs:
        built.append(codec_factory(jvm, conf))
        return built[-1]

    monkeypatch.setattr(text, "codec_factory", factory)
    spark_services(spark)
    for kind, expected in (("parquet", 0), ("textfile", 1)):
        location = database.location(kind)
        spark.sql(
            f"CREATE EXTERNAL TABLE {database}.{kind} (v STRING) STORED AS {kind} LOCATION '{location}'"
        )
        for _ in range(3):
            spark.sql(f"INSERT INTO {database}.{kind} VALUES ('one'), ('two')")
        done = only(jobs("compact", "--table", f"{database}.{kind}"))
        assert done["units"][0]["outcome"] == "compacted", done
        assert len(built) == expected


@pytest.mark.one_version
def test_the_aggregates_of_a_fingerprint_are_made_once_for_the_units_of_a_table(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashing = Hashing(spark)
    narrow, wide = spark.range(3), spark.range(3).selectExpr("id", "id AS more")
    one, two = (hashing.fingerprint(frame, frame.schema) for frame in (narrow, wide))
    assert one.rows == two.rows == 3
    assert one != two
    with counted(monkeypatch) as calls:
        assert hashing.aggregates(wide.schema)
    assert calls == []
    assert hashing.fingerprint(narrow, narrow.schema) == one

"""How often the JVM is asked for a class, counted at the connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from py4j.java_gateway import GatewayClient, JavaPackage
from py4j.protocol import REFL_GET_UNKNOWN_SUB_COMMAND_NAME, REFLECTION_COMMAND_NAME

from spark_jobs.adapters import composition
from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.verbs.main import main
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.smoke
LOOK_UP = REFLECTION_COMMAND_NAME + REFL_GET_UNKNOWN_SUB_COMMAND_NAME


@contextmanager
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names that the JVM is asked for, as long as this is open."""
    names: list[str] = []
    send = GatewayClient.send_command

    def spy(client: Any, command: str, *args: Any, **options: Any) -> Any:
        if command.startswith(LOOK_UP):
            names.append(command.removeprefix(LOOK_UP).partition("\n")[0])
        return send(client, command, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(GatewayClient, "send_command", spy)
        yield names


def test_a_class_is_looked_up_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    jvm: Any = spark._jvm
    assert str(jvm.org.apache.hadoop.fs.Path("/a", "b").toString()) == "/a/b"
    with asked(monkeypatch) as names:
        assert str(jvm.org.apache.hadoop.fs.Path("/c", "d").toString()) == "/c/d"
    assert names == []


def test_a_class_that_is_not_there_is_looked_up_again_for_it_may_come_with_a_jar(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    jvm: Any = spark._jvm
    with asked(monkeypatch) as names:
        for _ in range(2):
            assert isinstance(jvm.org.apache.hadoop.fs.Missing, JavaPackage)
    assert names == ["org.apache.hadoop.fs.Missing"] * 2


def test_a_static_field_has_the_value_that_it_has_now(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    system, before = jvm.java.lang.System, jvm.java.lang.System.out
    other = jvm.java.io.PrintStream(jvm.java.io.ByteArrayOutputStream())
    system.setOut(other)
    try:
        assert jvm.java.lang.System.out.equals(other)
    finally:
        system.setOut(before)
    assert jvm.java.lang.System.out.equals(before)


def test_what_java_raises_is_told_apart_without_a_look_up(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs = HadoopFileSystem(spark)
    assert fs.status("file:/no/such/file") is None
    with asked(monkeypatch) as names:
        assert fs.status("file:/no/such/file") is None
    assert names == []
    with pytest.raises(Exception, match="no_such_table") as error:
        spark.sql("SELECT * FROM no_such_table")
    assert type(error.value).__name__ == "AnalysisException"


def test_a_second_run_looks_up_no_class_for_any_unit_or_file(
    spark: SparkSession, jobs: Jobs, database: Database, events: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert jobs("compact", "--table", events, "--run-id", "first")["exit_code"] == 0
    for day in "34":
        folder = f"{database.location('events')}/date=2026-02-2{day}/ref=A"
        many(spark, folder, "SELECT id, 'late' AS v FROM range(50)", 5)
    with asked(monkeypatch) as names:
        report = jobs("compact", "--table", events, "--run-id", "second")
    assert [unit["outcome"] for unit in report["tables"][0]["units"]].count("compacted") == 2
    assert names == []


def test_a_job_remembers_classes(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its own main function, on a JVM of which nobody has been told."""
    jvm: Any = spark.sparkContext._gateway.new_jvm_view()  # type: ignore[union-attr]
    session = Mock(wraps=spark, _jvm=jvm, _jsc=spark._jsc, sparkContext=spark.sparkContext)
    session.stop = Mock()
    builder = Mock()
    builder.appName().enableHiveSupport().getOrCreate.return_value = session
    monkeypatch.setattr(composition.SparkSession, "builder", builder)

    assert main("analyze", ["--table", "default.no_such_table"], "") == 1

    assert jvm.org.apache.hadoop.fs.Path is jvm.org.apache.hadoop.fs.Path
    session.stop.assert_called_once()


@pytest.fixture
def file_format() -> str:
    return "parquet"

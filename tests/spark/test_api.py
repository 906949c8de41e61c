"""The Python API in a live Spark session, as a notebook has it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs import api
from tests.harness.fixtures import Database, fresh_database
from tests.spark.toolbox import Jobs, data_files, local, many, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What differs between two tables that are the same, and two runs of the same work.
_OWN = {
    *("run_id", "started", "ended", "phases", "seconds", "at", "backup_table", "table", "location"),
    *("fingerprint", "bytes_after", "before", "after"),
    *("namenode_calls", "namenode_calls_per_second", "small_file_writers", "files_per_day"),
    *("held_since", "left"),
}


@pytest.fixture(scope="module")
def database(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with fresh_database(spark, tmp_path_factory.mktemp("api")) as database:
        for name in ("one", "two"):
            location = database.location(name)
            for day in (1, 2):
                many(spark, f"{location}/day={day}", f"SELECT id FROM range({50 * day})", 5)
            spark.sql(
                f"CREATE EXTERNAL TABLE {database}.{name} (id BIGINT) PARTITIONED BY (day INT)"
                f" STORED AS PARQUET LOCATION '{location}'"
            )
            spark.sql(f"MSCK REPAIR TABLE {database}.{name}")
        yield database


def same(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: same(each) for key, each in value.items() if key not in _OWN}
    return [same(each) for each in value] if isinstance(value, (list, tuple)) else value


@pytest.fixture
def own_session(spark: SparkSession, database: Database) -> Iterator[None]:
    """What a caller may have set, and what the other tests must not find: a database, a setting, a view."""
    spark.sql(f"USE {database}")
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    spark.sql("SELECT 1 AS mine").createOrReplaceTempView("one")  # a view that hides the table of this name
    yield
    spark.catalog.dropTempView("one")
    spark.conf.unset("spark.sql.shuffle.partitions")
    spark.sql("USE default")


def _forget_sizes(*reports: dict[str, Any]) -> None:
    for report in reports:
        for unit in report["tables"][0]["units"]:
            unit.pop("bytes")


@pytest.mark.one_version
def test_the_reports_are_those_of_the_jobs_and_the_callers_session_stays_as_it_is(
    spark: SparkSession,
    database: Database,
    own_session: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The whole story on one table by the API, on another one by the jobs."""
    settings = dict(spark.sparkContext.getConf().getAll())
    before = rows(spark, f"{database}.two")
    originals = {day: data_files(local(database.location("one")) / f"day={day}") for day in (1, 2)}
    jobs = Jobs(spark, tmp_path)
    story: list[tuple[str, dict[str, Any], list[str]]] = [
        ("analyze", {}, []),
        ("plan", {"max_units": 1, "order": "files-desc"}, ["--max-units", "1", "--order", "files-desc"]),
        ("compact", {"where": "day >= 1", "verify": "hash"}, ["--where", "day >= 1", "--verify", "hash"]),
        ("history", {"units": True}, ["--units"]),
        ("check", {"read_data": True}, ["--read-data"]),
        ("rollback", {}, []),
    ]
    for name, options, words in story:
        capsys.readouterr()
        mine = getattr(api, name)(spark, table=f"{database}.one", **options).to_json()
        assert capsys.readouterr().out == ""
        theirs = jobs(name, "--table", f"{database}.two", *words)
        theirs.pop("exit_code")
        if (
            name == "rollback"
        ):  # the size of rewritten files depends on the order in which tasks read the rows
            _forget_sizes(mine, theirs)
        assert same(mine) == same(theirs), name
    assert rows(spark, f"{database}.two") == before
    assert {day: data_files(local(database.location("one")) / f"day={day}") for day in (1, 2)} == originals
    assert spark.catalog.currentDatabase() == str(database)
    assert spark.conf.get("spark.sql.shuffle.partitions") == "7"
    assert dict(spark.sparkContext.getConf().getAll()) == settings
    assert spark.table("one").columns == ["mine"]


def _units(report: api.Report, outcome: str) -> list[tuple[str, dict[str, str | None]]]:
    return [(table.table, u.unit) for table in report.tables for u in table.units if u.outcome == outcome]


@pytest.mark.one_version
@pytest.mark.parametrize("as_report", [False, True])
def test_a_plan_is_executed_as_a_file_or_as_it_was_returned(
    spark: SparkSession, database: Database, tmp_path: Path, as_report: bool
) -> None:
    path = tmp_path / "plan.json"
    plan = api.plan(spark, database=str(database), max_units=3)
    path.write_text(json.dumps(plan.to_json()))
    done = api.compact(spark, plan=plan if as_report else str(path), run_id=f"by-plan-{as_report}")
    assert done.run_id == f"by-plan-{as_report}"
    planned, compacted = _units(plan, "flagged"), _units(done, "compacted")
    assert planned == compacted
    assert len(planned) == 3
    api.rollback(spark, database=str(database), run_id=done.run_id)


@pytest.mark.one_version
def test_a_wrong_condition_is_a_value_error_and_a_missing_table_a_runtime_error(
    spark: SparkSession, database: Database
) -> None:
    with pytest.raises(ValueError, match="id"):
        api.compact(spark, table=f"{database}.one", where="id = 1")
    with pytest.raises(api.JobFailed, match="missing"):
        api.compact(spark, tables=[f"{database}.missing"])


@pytest.mark.one_version
def test_what_is_no_session_with_a_driver_is_refused(database: Database) -> None:
    with pytest.raises(ValueError, match="Spark Connect is not supported"):
        api.analyze(object(), table=f"{database}.one")  # type: ignore[arg-type]


#: Examples that differ from another one in a value only.
OTHERS = ("idle for days", "idle for minutes", "any order", "the complete program: old partitions")
#: The calls of the examples of Paimon's design, in its order, and the partitions that each of them compacts.
EXAMPLES: list[tuple[str, Callable[[api.CompactBuilder], api.CompactBuilder], str]] = [
    ("everything", lambda builder: builder.with_strategy("full"), "a1 a13 b1 b13 c1 c13"),
    ("the default", lambda builder: builder, "a1 a13 b1 b13 c1 c13"),
    ("minor", lambda builder: builder.with_strategy("minor"), "a1 a13 b1 b13 c1 c13"),
    (
        "named partitions",
        lambda builder: builder.with_partitions([{"dt": "2024-01-01"}, {"dt": "2024-01-03"}]),
        "a1 a13 c1 c13",
    ),
    (
        "a condition",
        lambda builder: builder.with_where("dt > '2024-01-01' and hour < 12").with_strategy("full"),
        "b1 c1",
    ),
    ("idle for days", lambda builder: builder.with_partition_idle_time("7d").with_strategy("full"), "a1 a13"),
    ("idle for hours", lambda builder: builder.with_partition_idle_time("168h"), "a1 a13"),
    ("idle for minutes", lambda builder: builder.with_partition_idle_time("10080m"), "a1 a13"),
    (
        "options",
        lambda builder: (
            builder.with_strategy("full")
            .with_partitions([{"dt": "2024-01-01"}])
            .with_options(
                {"sink.parallelism": "8", "compaction.min.file-num": "3", "target-file-size": "512mb"}
            )
        ),
        "a1 a13",
    ),
    (
        "any order",
        lambda builder: (
            builder.with_options({"sink.parallelism": "4"})
            .with_strategy("minor")
            .with_where("dt >= '2024-01-01'")
        ),
        "a1 a13 b1 b13 c1 c13",
    ),
    (
        "seven days, of which three are there",
        lambda builder: builder.with_partitions(
            [{"dt": f"2024-01-{day:02}"} for day in range(1, 8)]
        ).with_options({"sink.parallelism": "4"}),
        "a1 a13 b1 b13 c1 c13",
    ),
    (
        "the worked case: a range of days",
        lambda builder: (
            builder.with_where("dt >= '2024-01-01' and dt <= '2024-01-07'")
            .with_strategy("full")
            .with_options({"sink.parallelism": "8"})
        ),
        "a1 a13 b1 b13 c1 c13",
    ),
    (
        "the complete program: recent partitions",
        lambda builder: (
            builder.with_partitions([{"dt": "2024-01-03"}, {"dt": "2024-01-02"}])
            .with_strategy("minor")
            .with_options({"sink.parallelism": "4"})
        ),
        "b1 b13 c1 c13",
    ),
    (
        "the complete program: old partitions",
        lambda builder: (
            builder.with_partition_idle_time("7d")
            .with_strategy("full")
            .with_options({"sink.parallelism": "8", "target-file-size": "512mb"})
        ),
        "a1 a13",
    ),
]


@pytest.fixture(scope="module")
def user_events(spark: SparkSession, database: Database) -> str:
    """Three days (a, b, c) of two hours, of three files each; the files of the first day are old."""
    location = database.location("user_events")
    for day in (1, 2, 3):
        for hour in (1, 13):
            folder = f"{location}/dt=2024-01-{day:02}/hour={hour}"
            many(spark, folder, "SELECT id FROM range(30)", 3)
            for file in local(folder).iterdir():
                if day == 1:
                    os.utime(file, (0, 1_700_000_000))
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.user_events (id BIGINT) PARTITIONED BY (dt STRING, hour INT)"
        f" STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.user_events")
    return f"{database}.user_events"


@pytest.mark.one_version
@pytest.mark.parametrize(
    ("calls", "compacted"),
    [
        pytest.param(*each[1:], id=each[0], marks=pytest.mark.full if each[0] in OTHERS else ())
        for each in EXAMPLES
    ],
)
def test_the_examples_of_paimons_design_run(
    spark: SparkSession,
    user_events: str,
    calls: Callable[[api.CompactBuilder], api.CompactBuilder],
    compacted: str,
) -> None:
    builder = calls(api.CompactBuilder(spark, user_events))
    before = rows(spark, user_events)
    planned, result = builder.plan(), builder.build()
    done = [unit for _, unit in _units(result.report, "compacted")]
    assert [unit for _, unit in _units(planned, "flagged")] == done
    assert sorted(f"{' abc'[int(str(unit['dt'])[-1])]}{unit['hour']}" for unit in done) == compacted.split()
    assert result.is_successful()
    assert (result.files_compacted, result.new_files_count) == (3 * len(done), len(done))
    assert rows(spark, user_events) == before
    api.rollback(spark, table=user_events, run_id=result.report.run_id)

"""The footers of many files, read and grouped by a job: nothing else than the driver finds out file by file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import functions as F

from spark_jobs.adapters.spark.formats import driver_footers, executor_footers, parquet_footers
from spark_jobs.adapters.spark.formats.parquet_footers import ParquetFooters
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.messages.errors import Refusal, Unreadable
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from tests.harness.waiting import wait_for
from tests.spark.toolbox import changed, listed, many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.one_version

Directories = Sequence[tuple[str, FileListing]]
Read = Callable[[Directories], list[list[Footer]]]

PUBLIC_FILES = sorted((Path(__file__).parents[1] / "fidelity" / "parquet_testing").glob("*.parquet"))

_CALENDAR = {"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED"}
#: By name: the columns of 40 rows with the number `id`, in four files.
COLUMNS = {
    "integers": "id, CAST(id AS TINYINT) AS t, id * 230584300921369395 AS large, -id AS negative",
    "decimals": "CAST(id AS DECIMAL(9, 2)) AS d, CAST(id / 1e8 AS DECIMAL(18, 10)) AS small,"
    " CAST(-id AS DECIMAL(38, 18)) AS wide",
    "floats": "CAST(id AS DOUBLE) * 1e200 AS d, CAST(id AS FLOAT) / 3e8 AS f, -0.0D AS zero",
    "infinity": "IF(id = 7, DOUBLE('Infinity'), -id) AS d, IF(id = 9, DOUBLE('-Infinity'), id) AS e",
    "not a number": "IF(id = 7, DOUBLE('NaN'), id) AS d, IF(id = 7, FLOAT('NaN'), id) AS f",
    "days": "DATE'2026-01-01' + CAST(id AS INT) AS d, IF(id = 3, DATE'0001-01-01', DATE'9999-12-31') AS far",
    "moments": "TIMESTAMP'2026-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id) AS t",
    "texts": "CAST(id AS STRING) AS s, IF(id < 10, '', repeat('x', 200)) AS long, 'été 東京 😀' AS other",
    "texts as bounds": "concat('a, max: ', id) AS s, concat('min: ', id, ', num_nulls: 3') AS n, 'a\\nb' AS line",
    "texts that are none": "CAST(X'FF41' AS STRING) AS s, concat('\\uFFFD', id) AS replaced,"
    " CAST(CAST(id AS STRING) AS BINARY) AS b",
    "words": "id % 2 = 0 AS b, true AS always, false AS never",
    "nulls": "IF(id % 2 = 0, id, NULL) AS i, CAST(NULL AS STRING) AS s, IF(id > 35, 'x', NULL) AS last",
    "nested": "array(id, NULL) AS a, map('k', id) AS m, named_struct('x', id, 'y', array('z')) AS s,"
    " filter(array(id), x -> false) AS none",
    "names": "id AS `a.b`, id AS `A`, id AS `été`, named_struct('c d', id) AS `[e, f]`",
}


@pytest.fixture
def by_driver(spark: SparkSession) -> Read:
    return ParquetFooters(spark, SparkTypes(spark), NameNodeCalls()).read


@pytest.fixture
def by_executors(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Read:
    """A reader which has executors, of seven files in a task; the driver reads only what it is told to."""
    monkeypatch.setattr(parquet_footers, "has_executors", lambda _: True)
    monkeypatch.setattr(parquet_footers, "_WORTH_A_JOB", 1)
    monkeypatch.setattr(executor_footers, "_BATCH", 7)
    return ParquetFooters(spark, SparkTypes(spark), NameNodeCalls()).read


@pytest.fixture
def not_by_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the driver has read a batch")

    monkeypatch.setattr(driver_footers.DriverFooters, "_read_batch", refuse)


def written(spark: SparkSession, folder: Path, columns: str, **options: str) -> None:
    spark.range(0, 40, 1, 4).createOrReplaceTempView("forty_rows")
    with changed(lambda name: spark.conf.get(name, None), spark.conf.set, spark.conf.unset, _CALENDAR):
        spark.sql(f"SELECT {columns} FROM forty_rows").write.options(**options).parquet(f"file:{folder}")


def assert_the_same(directories: Directories, left: list[list[Footer]], right: list[list[Footer]]) -> None:
    for (place, _), ours, theirs in zip(directories, left, right, strict=True):
        assert ours == theirs, place


def test_the_executors_find_what_the_driver_finds(
    spark: SparkSession, tmp_path: Path, by_driver: Read, by_executors: Read, request: pytest.FixtureRequest
) -> None:
    for name, columns in COLUMNS.items():
        written(spark, tmp_path / name, columns)
    written(spark, tmp_path / "row groups", "id, uuid() AS s", **{"parquet.block.size": "100"})
    blooms = {"parquet.bloom.filter.enabled#s": "true", "compression": "zstd"}
    written(spark, tmp_path / "blooms", "id, CAST(id AS STRING) AS s", **blooms)
    many(spark, f"{tmp_path}/empty", "SELECT id FROM range(10) WHERE id > 100", 1)
    mixed = [tmp_path / "integers", tmp_path / "blooms", tmp_path / "empty", tmp_path / "row groups"]
    (tmp_path / "mixed").mkdir()
    for number, source in enumerate(mixed):
        for path in source.glob("*.parquet"):
            shutil.copy(path, tmp_path / "mixed" / f"{number}-{path.name}")
    directories = [listed(path) for path in sorted(tmp_path.iterdir())]
    # As the small files of a directory and its large ones are asked for: both parts have one kind of files.
    written(spark, tmp_path / "parts", "id")
    place, files = listed(tmp_path / "parts")
    directories += [(place, FileListing(files.files[:2])), (place, FileListing(files.files[2:]))]
    expected = by_driver(directories)
    request.getfixturevalue("not_by_driver")
    assert_the_same(directories, by_executors(directories), expected)


@pytest.mark.full
def test_the_executors_find_the_same_in_the_files_of_all_writers(
    tmp_path: Path, by_driver: Read, by_executors: Read
) -> None:
    compared = 0
    for path in PUBLIC_FILES:
        (tmp_path / path.stem).mkdir()
        for copy in ("a", "b"):
            shutil.copy(path, tmp_path / path.stem / f"{copy}.parquet")
        directories = [listed(tmp_path / path.stem)]
        assert _answer(by_executors, directories) == _answer(by_driver, directories), path
        compared += 1
    assert compared == len(PUBLIC_FILES) > 50


def _answer(read: Read, directories: Directories) -> object:
    """What is read, or why nothing is."""
    try:
        return read(directories)
    except (Refusal, Unreadable) as error:
        return type(error), str(error)


def test_a_file_that_cannot_be_read_is_named(spark: SparkSession, tmp_path: Path, by_executors: Read) -> None:
    many(spark, f"{tmp_path}/d", "SELECT id FROM range(100)", 20)
    damaged = sorted((tmp_path / "d").glob("*.parquet"))[13]
    damaged.write_bytes(damaged.read_bytes()[:-6] + b"broken")
    for path in (tmp_path / "d").glob(".*.crc"):
        path.unlink()
    with pytest.raises(Unreadable, match=damaged.name):
        by_executors([listed(tmp_path / "d")])


def test_a_file_that_is_gone_is_named(spark: SparkSession, tmp_path: Path, by_executors: Read) -> None:
    many(spark, f"{tmp_path}/d", "SELECT id FROM range(100)", 20)
    directory = listed(tmp_path / "d")
    gone = sorted((tmp_path / "d").glob("*.parquet"))[13]
    gone.unlink()
    with pytest.raises(FileNotFoundError, match=gone.name):
        by_executors([directory])


def test_a_job_that_fails_leaves_it_to_the_driver(
    spark: SparkSession, tmp_path: Path, by_driver: Read, by_executors: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_footers, "_READER", "org.apache.hadoop.fs.Path")
    many(spark, f"{tmp_path}/d", "SELECT id FROM range(100)", 20)
    directories = [listed(tmp_path / "d")]
    assert_the_same(directories, by_executors(directories), by_driver(directories))


@contextmanager
def busy(spark: SparkSession) -> Iterator[Any]:
    """All slots are taken by tasks of another job. Yield its number."""
    context, group = spark.sparkContext, "busy"
    tracker, slots = context.statusTracker(), context.defaultParallelism

    def sleep() -> None:
        context.setJobGroup(group, "tasks that take all slots", interruptOnCancel=True)
        slept = F.expr("reflect('java.lang.Thread', 'sleep', 3600000L)")
        spark.range(0, slots, 1, slots).select(slept).collect()

    def at_work() -> bool:
        jobs = [tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(group)]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        return sum(stage.numActiveTasks for stage in stages if stage) >= slots

    with ThreadPoolExecutor(1) as pool:
        sleeping = pool.submit(sleep)
        try:
            wait_for("tasks that take all slots", at_work)
            yield list(tracker.getJobIdsForGroup(group))
        finally:
            context.cancelJobGroup(group)
            sleeping.exception()


@pytest.mark.full
def test_a_job_for_which_there_is_no_executor_leaves_it_to_the_driver(
    spark: SparkSession,
    tmp_path: Path,
    by_driver: Read,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(executor_footers, "_PATIENCE", 1.0)
    by_executors: Read = request.getfixturevalue("by_executors")
    many(spark, f"{tmp_path}/d", "SELECT id FROM range(100)", 20)
    directories = [listed(tmp_path / "d")]
    expected = by_driver(directories)
    with busy(spark) as others:
        assert_the_same(directories, by_executors(directories), expected)
        # Nothing is left of the job that has waited, and the other one goes on.
        active = spark.sparkContext.statusTracker().getActiveJobsIds
        wait_for("the end of the cancelled job", lambda: list(active()) == others)
    assert "no executor has run a task" in caplog.text
    # The next job is not in the group that was cancelled.
    monkeypatch.setattr(executor_footers, "_PATIENCE", 600.0)
    request.getfixturevalue("not_by_driver")
    again = ParquetFooters(spark, SparkTypes(spark), NameNodeCalls())
    assert_the_same(directories, again.read(directories), expected)


@pytest.mark.full
def test_files_of_too_many_kinds_are_left_to_the_driver(
    spark: SparkSession, tmp_path: Path, by_driver: Read, by_executors: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind has rows of its own in the answer, whose length is bounded."""
    many(spark, f"{tmp_path}/alike", "SELECT id, id AS other FROM range(100)", 14)
    for number in range(7):
        many(spark, f"{tmp_path}/made", f"SELECT id AS c{number}, id AS d{number} FROM range(100)", 1)
        (file,) = (tmp_path / "made").glob("*.parquet")
        (tmp_path / "different").mkdir(exist_ok=True)
        shutil.move(file, tmp_path / "different" / f"{number}.parquet")
    directories = [listed(tmp_path / name) for name in ("alike", "different")]
    expected = by_driver(directories)
    seen: list[str] = []
    read_batch = driver_footers.DriverFooters._read_batch

    def spy(driver: Any, files: Any) -> Any:
        seen.extend(file.place.rpartition("/")[2] for file in files)
        return read_batch(driver, files)

    monkeypatch.setattr(driver_footers.DriverFooters, "_read_batch", spy)
    assert_the_same(directories, by_executors(directories), expected)
    assert seen == []
    # Three tasks: one row of a column has some hundred characters.
    monkeypatch.setattr(executor_footers, "_MOST_TEXT", 3 * 4000)
    assert_the_same(directories, by_executors(directories), expected)
    assert seen == ["different"] * 7


@pytest.mark.full
def test_very_wide_files_are_left_to_the_driver(
    spark: SparkSession, tmp_path: Path, by_driver: Read, by_executors: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task has room for a few of them, and its answer is as long as their footers."""

    def refuse(*_: Any) -> None:
        raise AssertionError("a job was started")

    monkeypatch.setattr(executor_footers._Job, "groups", refuse)
    columns = ", ".join(f"id AS c{number}" for number in range(3000))
    many(spark, f"{tmp_path}/d", f"SELECT {columns} FROM range(2)", 2)
    directories = [listed(tmp_path / "d")]
    assert_the_same(directories, by_executors(directories), by_driver(directories))


def _varint(content: bytes, place: int) -> bool:
    """Whether a positive number of one to five bytes is at this place, as it is in a footer."""
    for number in range(place, min(place + 5, len(content))):
        if content[number] < 128:
            return content[place] % 2 == 0
    return False


@pytest.mark.full
def test_the_executors_find_the_same_if_a_count_in_a_footer_is_negative(
    tmp_path: Path, by_driver: Read, by_executors: Read
) -> None:
    """Each field of 64 bits in turn: rows, values, sizes and places."""
    table = pa.table({"id": range(100), "s": [None, "x"] * 50, "l": [[1, 2]] * 100})
    pyarrow.parquet.write_table(table, tmp_path / "good.parquet", row_group_size=60)
    content = (tmp_path / "good.parquet").read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    places = [n + 1 for n in range(start, len(content) - 8) if content[n] == 0x16 and _varint(content, n + 1)]
    refused = 0
    for place in places:
        folder = tmp_path / str(place)
        folder.mkdir()
        for name in ("a", "c"):
            shutil.copy(tmp_path / "good.parquet", folder / f"{name}.parquet")
        # The lowest bit is the sign.
        (folder / "b.parquet").write_bytes(
            content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        )
        directories = [listed(folder)]
        found = _answer(by_driver, directories)
        assert _answer(by_executors, directories) == found, place
        refused += isinstance(found, tuple)
    assert len(places) > 20
    assert refused > 4

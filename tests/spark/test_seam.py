"""The seam to the real world, call by call: what the model of the crash tests takes for granted of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.metastore import Metastore, MetastoreError
from spark_jobs.adapters.spark.rewriter import Rewriter
from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.rules.eligibility import check_place
from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.ports import RewriteRequest, RewriteResult
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, local, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def fs(spark: SparkSession) -> HadoopFileSystem:
    return HadoopFileSystem(spark)


@pytest.fixture
def catalog(spark: SparkSession, fs: HadoopFileSystem) -> Metastore:
    return Metastore(spark, fs)


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A folder that holds the directories `a` and `b`, each with a file of its own name."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text(name)
    return tmp_path.as_uri()


@pytest.mark.parametrize("by_hadoop", [True, False])
@pytest.mark.parametrize("empty", [True, False])
def test_a_rename_never_goes_into_or_over_a_directory(
    fs: HadoopFileSystem, place: str, empty: bool, by_hadoop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_hadoop:
        monkeypatch.setattr("spark_jobs.adapters.hadoop.local_renames._RENAME", None)
    if empty:
        (local(place) / "b" / "b").unlink()
    identity = fs.identity(f"{place}/a")
    with pytest.raises(FileExistsError):
        fs.rename(f"{place}/a", f"{place}/b")
    assert fs.identity(f"{place}/a") == identity
    fs.rename(f"{place}/a", f"{place}/c")
    assert fs.identity(f"{place}/c") == identity
    for source, target in (("c", "missing/c"), ("missing", "d")):
        with pytest.raises(FileNotFoundError):
            fs.rename(f"{place}/{source}", f"{place}/{target}")


@pytest.mark.parametrize("by_hadoop", [True, False])
def test_a_file_moves_with_its_checksums_and_never_over_another(
    fs: HadoopFileSystem, place: str, by_hadoop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_hadoop:
        monkeypatch.setattr("spark_jobs.adapters.hadoop.local_renames._RENAME", None)
    fs.create(f"{place}/a/part-0", b"rows")
    fs.create(f"{place}/b/part-0", b"others")
    with pytest.raises(FileExistsError):
        fs.rename(f"{place}/a/part-0", f"{place}/b/part-0")
    fs.rename(f"{place}/a/part-0", f"{place}/b/part-1")
    assert [fs.read(f"{place}/b/part-{number}") for number in range(2)] == [b"others", b"rows"]
    names = [sorted(path.name for path in (local(place) / folder).iterdir()) for folder in "ab"]
    assert names == [["a"], [".part-0.crc", ".part-1.crc", "b", "part-0", "part-1"]]


@pytest.mark.parametrize("obstacle", [False, True])
def test_checksums_of_a_file_that_is_gone_do_not_stay_with_the_next_one(
    fs: HadoopFileSystem, place: str, obstacle: bool
) -> None:
    """With wrong checksums the file could not be read. Whatever becomes of them, the rename was executed."""
    target, checksums = local(place) / "b" / "part-0", local(place) / "b" / ".part-0.crc"
    fs.create(f"{place}/b/part-0", b"older")
    target.unlink()
    if obstacle:
        checksums.unlink()
        checksums.mkdir()
    (local(place) / "a" / "part-0").write_bytes(b"rows without checksums")
    fs.rename(f"{place}/a/part-0", f"{place}/b/part-0")
    assert target.read_bytes() == b"rows without checksums"
    if not obstacle:
        assert fs.read(f"{place}/b/part-0") == b"rows without checksums"


def test_a_new_file_is_never_written_over_another(fs: HadoopFileSystem, place: str) -> None:
    fs.create(f"{place}/lease-1", b"mine")
    with pytest.raises(FileExistsError):
        fs.create(f"{place}/lease-1", b"yours")
    assert fs.read(f"{place}/lease-1") == b"mine"


def test_a_new_file_does_not_bring_its_folder_back(fs: HadoopFileSystem, place: str) -> None:
    """A folder that was renamed away from a fenced attempt must stay away."""
    with pytest.raises(FileNotFoundError):
        fs.create(f"{place}/r1.0/journal/000002.json", b"{}")
    assert fs.status(f"{place}/r1.0") is None


def test_a_file_system_without_identities_is_refused(
    fs: HadoopFileSystem, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = fs.status(f"{place}/a")
    monkeypatch.setattr(fs, "status", lambda _: status)
    with pytest.raises(LakekeeperError, match="no identity"):
        fs.identity("ofs://cluster/a")


def test_the_metastore_fails_closed(spark: SparkSession, catalog: Metastore, database: Database) -> None:
    """A table that cannot be listed is not one without partitions."""
    table = f"{database}.dropped"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING) STORED AS PARQUET"
        f" LOCATION '{database.location('dropped')}'"
    )
    facts = catalog.table(TableName.parse(table))
    spark.sql(f"DROP TABLE {table}")
    with pytest.raises(MetastoreError):
        catalog.partitions(facts)
    with pytest.raises(MetastoreError):
        catalog.tables("no_such_database")


def test_only_the_backup_of_exactly_this_run_is_dropped_and_its_files_stay(
    spark: SparkSession, catalog: Metastore, database: Database, place: str
) -> None:
    spark.sql(f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS PARQUET LOCATION '{place}/a'")
    facts, backup = catalog.table(TableName.parse(f"{database}.t")), TableName(database.name, "backup")
    catalog.create_backup(backup, facts, "r1", f"{place}/b", [])
    assert "DO_NOT_UPDATE_STATS" not in catalog.properties(backup)
    for name, run_id, source in [
        (backup, "r2", facts.name),
        (backup, "r1", "x.t"),
        (TableName.parse(facts.name), "r1", facts.name),
    ]:
        with pytest.raises(MetastoreError):
            catalog.drop_backup(name, run_id, source)
    assert catalog.drop_backup(backup, "r1", facts.name)
    assert (local(place) / "b" / "b").exists()
    assert catalog.table_exists(TableName.parse(facts.name))


@pytest.mark.parametrize("verify", ["count", "hash"])
def test_a_page_that_cannot_be_read_keeps_the_unit_as_it_is(
    spark: SparkSession, jobs: Jobs, database: Database, verify: str
) -> None:
    """The footer is whole, so that only the rows themselves tell."""
    many(spark, database.location("t"), "SELECT id, rand() AS r FROM range(4000)", 4)
    broken = next((database.path / "t").glob("part-*"))
    broken.write_bytes(b"PAR1" + bytes(2000) + broken.read_bytes()[2004:])
    (broken.parent / f".{broken.name}.crc").unlink()
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, r DOUBLE) STORED AS PARQUET"
        f" LOCATION '{database.location('t')}'"
    )
    before = data_files(database.path / "t")
    (unit,) = only(jobs("compact", "--table", f"{database}.t", "--verify", verify))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "UNREADABLE"), unit
    assert unit["reason"].startswith(f"{broken.name} cannot be read: ")
    assert data_files(database.path / "t") == before


def test_ancient_dates_of_two_calendars_are_left_alone(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """Hive knows one calendar for each file: a file of both would hold other days for it."""
    for calendar in ("LEGACY", "CORRECTED"):
        spark.conf.set("spark.sql.parquet.datetimeRebaseModeInWrite", calendar)
        try:
            many(spark, database.location("t"), "SELECT id, DATE'1500-01-01' AS d FROM range(40)", 4)
        finally:
            spark.conf.unset("spark.sql.parquet.datetimeRebaseModeInWrite")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, d DATE) STORED AS PARQUET LOCATION '{database.location('t')}'"
    )
    before = data_files(database.path / "t")
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "CALENDAR")
    assert data_files(database.path / "t") == before


def test_two_partitions_whose_values_are_the_same_number_stay_two(
    spark: SparkSession, catalog: Metastore, database: Database
) -> None:
    """`01` beside `1` under an INT key, as another engine may have written it: SQL text takes one for the other."""
    location = database.location("t")
    for value in ("1", "01"):
        many(spark, f"{location}/p={value}", "SELECT id FROM range(4)", 1)
    table = f"{database}.t"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (p STRING) STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    facts = catalog.table(TableName.parse(table))
    found = {unit.spec[0][1]: unit.location for unit, _ in catalog.units(facts)}
    assert {value: place.rsplit("/", 1)[1] for value, place in found.items()} == {"1": "p=1", "01": "p=01"}
    backup = TableName(database.name, "backup")
    catalog.create_backup(
        backup,
        replace(facts, partition_types=("int",)),
        "r1",
        location,
        [(u, u.location) for u, _ in catalog.units(facts)],
    )
    kept = {unit.spec[0][1]: unit.location for unit, _ in catalog.units(catalog.table(backup))}
    assert kept == found


class OldServer:
    """A NameNode that does not know the question: its own exception arrives wrapped, as `ipc.RemoteException`."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm

    def getQuotaUsage(self, _: Any) -> Any:
        hadoop = self._jvm.org.apache.hadoop.ipc
        error = hadoop.RemoteException("org.apache.hadoop.ipc.RpcNoSuchMethodException", "Unknown method")
        return self._jvm.java.util.concurrent.CompletableFuture.failedFuture(error).getNow(None)


def test_a_server_that_knows_of_no_quotas_has_none(spark: SparkSession) -> None:
    from spark_jobs.adapters.hadoop.hdfs_directories import HdfsDirectories

    path = spark._jvm.org.apache.hadoop.fs.Path("hdfs://old/table")
    assert HdfsDirectories(spark._jvm).quota(OldServer(spark._jvm), path) is None


@pytest.fixture
def eager_committer(spark: SparkSession) -> Iterator[None]:
    """A cluster whose tasks put their files in place as they end."""
    conf: Any = spark._jsc.hadoopConfiguration()
    name = "mapreduce.fileoutputcommitter.algorithm.version"
    before = conf.get(name)
    conf.set(name, "2")
    yield
    conf.set(name, before) if before else conf.unset(name)


def half_readable(spark: SparkSession, folder: Path) -> None:
    """Small files that can be read, and a large one whose last pages cannot."""
    folder.mkdir()
    for name, rows in (*((f"small{number}", 10) for number in range(8)), ("large", 400_000)):
        frame = spark.range(rows).selectExpr("id", "uuid() AS text").coalesce(1)
        frame.write.option("parquet.block.size", "262144").parquet(f"{folder}.parts/{name}")
        (file,) = data_files(Path(f"{folder}.parts/{name}"))
        Path(f"{folder}.parts/{name}", file).rename(folder / f"{name}.parquet")
    large = folder / "large.parquet"
    content = bytearray(large.read_bytes())
    content[-2_000_000:-1_000_000] = bytes(1_000_000)
    large.write_bytes(content)


def test_a_write_that_fails_leaves_no_file_of_the_tasks_that_ended(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    eager_committer: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else such a file could come after the verification, and so into the table."""
    folder = database.path / "half"
    half_readable(spark, folder)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.half (id BIGINT, text STRING) STORED AS PARQUET LOCATION '{folder}'"
    )
    left: list[list[str]] = []
    write = Rewriter.write

    def noted(self: Rewriter, plan: RewriteRequest) -> RewriteResult:
        try:
            return write(self, plan)
        finally:
            left.append(
                [path.name for path in local(plan.target).rglob("part-*") if "_temporary" not in path.parts]
            )

    monkeypatch.setattr(Rewriter, "write", noted)
    report = jobs(
        "compact",
        *("--table", f"{database}.half", "--strategy", "full", "--ratio-threshold", "1"),
        *("--target-file-size", "8mb"),
    )
    assert [unit["code"] for unit in only(report)["units"]] == ["UNREADABLE"]
    assert left == [[]]


@pytest.fixture
def viewfs(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """One with two mounts, each in a folder of its own."""
    conf: Any = spark._jsc.hadoopConfiguration()
    names = {f"fs.viewfs.mounttable.{tmp_path.name.lower()}.link./{mount}": mount for mount in ("one", "two")}
    for name, mount in names.items():
        (tmp_path / mount / "t").mkdir(parents=True)
        conf.set(name, (tmp_path / mount).as_uri())
    yield f"viewfs://{tmp_path.name.lower()}"
    for name in names:
        conf.unset(name)


@pytest.mark.parametrize("path", ["one", "one/t", "two/t", "two/t/gone", "one/gone/d=1/r=a b"])
def test_a_path_of_a_viewfs_is_where_its_mounts_lead(
    fs: HadoopFileSystem, viewfs: str, tmp_path: Path, path: str
) -> None:
    """There files that are open, encryption zones and quotas can be asked for, and directories have identities."""
    assert fs.qualify(f"{viewfs}/{path}") == f"file:{tmp_path}/{path}"


def test_a_path_below_no_mount_stays_what_it_is(fs: HadoopFileSystem, viewfs: str) -> None:
    found = fs.qualify(f"{viewfs}/three/t")
    with pytest.raises(Refusal, match="below no mount"):
        check_place(found)

"""Encryption zones, snapshots, quotas, sticky folders and the trash"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.cluster.superuser import Superuser, acting_as
from tests.cluster.tables import FILES, SmallFiles
from tests.spark.meanwhile import around_rewrites
from tests.spark.toolbox import Jobs, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOM = 10_000_000_000


@pytest.fixture
def table(spark: SparkSession, superuser: Superuser, folder: str) -> SmallFiles:
    return SmallFiles(spark, superuser, f"{folder}/events")


@pytest.fixture
def flat(spark: SparkSession, superuser: Superuser, folder: str) -> SmallFiles:
    return SmallFiles(spark, superuser, f"{folder}/flat", flat=True)


def goes_round(jobs: Jobs, table: SmallFiles, **arguments: Any) -> None:
    """Compacted, and undone again: the very same files are back."""
    before, rows = table.tree(), table.rows()
    request = {"arguments": arguments}
    assert outcomes(jobs("compact", "--table", table.name, request=request)) == ["compacted"] * len(
        table.units
    )
    assert (table.rows(), len(table.files())) == (rows, 1)
    assert outcomes(jobs("rollback", "--table", table.name)) == ["restored"] * len(table.units)
    assert (table.rows(), table.tree()) == (rows, before)


def refused(jobs: Jobs, table: SmallFiles, code: str, **arguments: Any) -> str:
    """By an analysis as by a compaction, with nothing touched; returns the reason."""
    before = table.tree()
    for verb in ("analyze", "compact"):
        report = only(jobs(verb, "--table", table.name, request={"arguments": arguments}))
        # A table without partitions is refused as a whole.
        found = report["units"][0] if table.is_partitioned else report
        assert (found["outcome"], found["code"]) == ("skipped" if table.is_partitioned else "refused", code)
        # The partition beside it is compacted, where it may be.
        assert {path: seen for path, seen in table.tree().items() if path.startswith(table.units[0])} == {
            path: seen for path, seen in before.items() if path.startswith(table.units[0])
        }
    return str(found["reason"])


def test_the_originals_come_back_as_the_very_same_inodes(jobs: Jobs, table: SmallFiles) -> None:
    goes_round(jobs, table)


def test_a_table_in_an_encryption_zone_stays_encrypted(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str
) -> None:
    superuser.make(f"{folder}/secret")
    superuser.encrypt(f"{folder}/secret")
    table = SmallFiles(spark, superuser, f"{folder}/secret/events")
    goes_round(jobs, table)
    jobs("compact", "--table", table.name)
    assert {superuser.zone(name) for name in table.files()} == {superuser.zone(f"{folder}/secret")}
    assert superuser.is_encrypted(table.files()[0])


def test_a_partitioned_table_may_be_the_root_of_an_encryption_zone(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str
) -> None:
    superuser.make(f"{folder}/zone")
    superuser.encrypt(f"{folder}/zone")
    goes_round(jobs, SmallFiles(spark, superuser, f"{folder}/zone"))


def test_a_table_without_partitions_that_is_the_root_of_an_encryption_zone_is_refused(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str
) -> None:
    """A directory without encryption would replace it."""
    superuser.make(f"{folder}/zone")
    superuser.encrypt(f"{folder}/zone")
    reason = refused(jobs, SmallFiles(spark, superuser, f"{folder}/zone", flat=True), "ENCRYPTION_ZONE_ROOT")
    assert f"the encryption zone {folder}/zone, and the directory above it in no encryption zone" in reason


def test_a_table_of_which_a_snapshot_was_taken_is_compacted_and_the_snapshot_keeps_the_originals(
    jobs: Jobs, superuser: Superuser, table: SmallFiles
) -> None:
    superuser.fs.allowSnapshot(superuser.path(table.root))
    superuser.fs.createSnapshot(superuser.path(table.root), "before")
    goes_round(jobs, table)
    jobs("compact", "--table", table.name)
    assert len(superuser.files(f"{table.root}/.snapshot/before/p=1")) == FILES
    assert outcomes(jobs("cleanup", "--table", table.name)) == ["cleaned"] * 2
    assert len(superuser.files(f"{table.root}/.snapshot/before/p=1")) == FILES


@pytest.mark.parametrize("user", [pytest.param("hdfs", marks=pytest.mark.full), "etl"])
def test_a_partition_that_may_have_snapshots_of_its_own_is_refused(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, table: SmallFiles, user: str
) -> None:
    superuser.fs.allowSnapshot(superuser.path(table.units[0]))
    with acting_as(spark, user):
        refused(jobs, table, "SNAPSHOTTABLE")


@pytest.mark.parametrize("user", [pytest.param("hdfs", marks=pytest.mark.full), "etl"])
def test_a_partition_with_a_quota_of_its_own_is_refused(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, table: SmallFiles, user: str
) -> None:
    superuser.set_quota(table.units[0], names=ROOM)
    with acting_as(spark, user):
        refused(jobs, table, "QUOTA")


@pytest.mark.parametrize("kind", ["names", "space"])
def test_a_quota_that_has_no_room_is_named_with_what_is_missing_and_that_much_is_enough(
    jobs: Jobs, superuser: Superuser, folder: str, flat: SmallFiles, kind: str
) -> None:
    """Enough for the compaction, and for the rollback after it."""
    used = superuser.used(folder)[kind == "space"]
    superuser.set_quota(folder, **{kind: used + 1})
    reason = refused(jobs, flat, "QUOTA", quota_folders=[folder])
    assert f"{folder} is {used + 1} " in reason
    missing = int(reason.split(" are missing")[0].rsplit(" ", 1)[1])
    # The home that a refused compaction has made is there to stay.
    used = superuser.used(folder)[kind == "space"]
    superuser.set_quota(folder, **{kind: used + 1 + missing})
    goes_round(jobs, flat, quota_folders=[folder])


@pytest.mark.parametrize("kind", ["names", "space"])
def test_a_quota_that_is_used_up_while_files_are_written_loses_nothing(
    jobs: Jobs,
    superuser: Superuser,
    folder: str,
    flat: SmallFiles,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = flat.tree()

    @contextmanager
    def full(_: object) -> Iterator[None]:
        superuser.set_quota(folder, **{kind: superuser.used(folder)[kind == "space"] + 1})
        try:
            yield
        finally:
            superuser.set_quota(folder)

    around_rewrites(monkeypatch, full)
    unit = only(jobs("compact", "--table", flat.name))["units"][0]
    assert unit["outcome"] == "failed"
    assert "quota" in unit["reason"].lower()
    assert "is exceeded" in unit["reason"]
    assert flat.tree() == before
    monkeypatch.undo()
    goes_round(jobs, flat)


def test_in_a_sticky_folder_somebody_elses_directory_cannot_be_moved_and_stays_as_it_is(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, table: SmallFiles
) -> None:
    superuser.chmod(table.root, "1777")
    superuser.chown(table.root, "loader", "analysts")
    before = table.tree()
    with acting_as(spark, "etl"):
        report = jobs("compact", "--table", table.name, request={"arguments": {"attributes": "warn"}})
    assert [unit["outcome"] for unit in only(report)["units"]] == ["failed", "failed"]
    assert "sticky bit" in only(report)["units"][0]["reason"]
    assert table.tree() == before


def test_in_a_sticky_folder_ones_own_directories_are_compacted(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, table: SmallFiles
) -> None:
    superuser.chmod(table.root, "1777")
    for unit in table.units:
        superuser.chown(unit, "etl", "analysts")
        for name in superuser.files(unit):
            superuser.chown(name, "etl", "analysts")
    with acting_as(spark, "etl"):
        goes_round(jobs, table)


def test_a_user_who_may_not_write_beside_the_table_is_refused(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, table: SmallFiles
) -> None:
    superuser.chmod(table.root, "755")
    before = table.tree()
    with acting_as(spark, "etl"):
        report = only(jobs("compact", "--table", table.name))
    assert (report["outcome"], report["code"]) == ("refused", "NOT_WRITABLE")
    assert "Permission denied: user=etl" in report["reason"]
    assert table.tree() == before


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "in an encryption zone"])
def test_a_cleanup_moves_the_originals_to_the_trash_of_their_file_system(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str, encrypted: bool
) -> None:
    superuser.make(f"{folder}/place", "777")
    if encrypted:
        superuser.encrypt(f"{folder}/place")
    table = SmallFiles(spark, superuser, f"{folder}/place/events", flat=True)
    before = {found[0] for found in table.tree().values()}
    jobs("compact", "--table", table.name)
    report = jobs("cleanup", "--table", table.name)
    assert outcomes(report) == ["cleaned"]
    trash = f"{folder}/place/.Trash/hdfs" if encrypted else f"{superuser.root}/user/hdfs/.Trash"
    assert before <= {found[0] for found in superuser.tree(trash, hidden=True).values()}


def test_a_cleanup_that_skips_the_trash_deletes_the_originals_for_good(
    jobs: Jobs, superuser: Superuser, folder: str, flat: SmallFiles
) -> None:
    originals = {found[0] for found in flat.tree().values()}
    jobs("compact", "--table", flat.name)
    assert originals <= {found[0] for found in superuser.tree(folder, hidden=True).values()}
    assert outcomes(jobs("cleanup", "--table", flat.name, "--skip-trash")) == ["cleaned"]
    left = {found[0] for top in (folder, "/user") for found in superuser.tree(top, hidden=True).values()}
    assert not originals & left

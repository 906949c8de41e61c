"""Whose journals are trusted on a real HDFS, which reports owners and modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cluster.superuser import Superuser
from tests.cluster.tables import SmallFiles
from tests.spark.toolbox import Jobs, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def table(spark: SparkSession, superuser: Superuser, folder: str) -> SmallFiles:
    return SmallFiles(spark, superuser, f"{folder}/events")


def own(superuser: Superuser, table: SmallFiles, ends: str) -> str:
    """A path below the table's home that ends so."""
    found = superuser.fs.listFiles(superuser.path(f"{table.root}/.lakekeeper"), True)
    while found.hasNext():
        path = str(found.next().getPath().toString())
        if path.endswith(ends):
            return path
    raise AssertionError(f"nothing ends in {ends}")


@pytest.fixture
def record(jobs: Jobs, table: SmallFiles, superuser: Superuser) -> str:
    """The second record of a compaction that is done."""
    assert jobs("compact", "--table", table.name)["exit_code"] == 0
    return own(superuser, table, "/journal/000002.json")


@pytest.mark.parametrize("verb", ["rollback", "compact", "analyze"])
def test_a_record_of_another_account_is_refused_until_it_is_trusted(
    jobs: Jobs, table: SmallFiles, superuser: Superuser, record: str, verb: str
) -> None:
    before = table.tree()
    superuser.chown(record, "mallory", "users")
    report = only(jobs(verb, "--table", table.name))
    assert (report["outcome"], report["code"]) == ("refused", "UNTRUSTED_OWNER")
    assert "mallory" in report["reason"]
    assert table.tree() == before
    report = jobs("rollback", "--table", table.name, "--trusted-owners", "mallory")
    assert set(outcomes(report)) == {"restored"}


@pytest.mark.parametrize("mode", ["775", pytest.param("757", marks=pytest.mark.full)])
def test_a_run_in_a_folder_that_others_may_write_to_is_refused(
    jobs: Jobs, table: SmallFiles, superuser: Superuser, record: str, mode: str
) -> None:
    folder = record.rsplit("/", 2)[0]
    superuser.chmod(folder, mode)
    report = only(jobs("rollback", "--table", table.name))
    assert (report["outcome"], report["code"]) == ("refused", "UNTRUSTED_OWNER")
    superuser.chmod(folder, "755")
    assert set(outcomes(jobs("rollback", "--table", table.name))) == {"restored"}


def test_a_run_s_folder_is_closed_although_a_default_acl_opens_all_others(
    jobs: Jobs, table: SmallFiles, superuser: Superuser
) -> None:
    """As it is recommended for pipelines that write beside the jobs."""
    superuser.set_acl(
        table.root,
        "user::rwx,group::rwx,other::rwx,default:user::rwx,default:user:etl:rwx,default:group::rwx,default:mask::rwx,"
        "default:other::r-x",
    )
    assert jobs("compact", "--table", table.name)["exit_code"] == 0
    assert set(outcomes(jobs("rollback", "--table", table.name))) == {"restored"}

"""Owner, group, mode, ACL, extended attributes, storage policy and replication: kept by the server's own account."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from tests.cluster.superuser import Look, Superuser, acting_as
from tests.spark.meanwhile import after_rewrites, driven_clock
from tests.spark.toolbox import Jobs, many, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_ACL = "user::rw-,user:impala:r--,user:etl:r--,group::r--,mask::r--,other::---"
FOLDER_ACL = (
    "user::rwx,user:impala:r-x,user:etl:rwx,group::rwx,mask::rwx,other::---,"
    "default:user::rwx,default:user:hive:rwx,default:group::r-x,default:mask::rwx,default:other::---"
)


class Dressed:
    """A table of one partition that has about every attribute there is."""

    def __init__(self, spark: SparkSession, superuser: Superuser, folder: str) -> None:
        self.superuser = superuser
        self.root = f"{folder}/events"
        self.unit = f"{self.root}/p=1"
        self.table = f"default.t_{folder.rsplit('/', 1)[1]}"
        many(spark, self.unit, "SELECT id FROM range(50)", 5)
        spark.sql(
            f"CREATE EXTERNAL TABLE {self.table} (id BIGINT) PARTITIONED BY (p STRING) STORED AS PARQUET"
            f" LOCATION '{self.root}'"
        )
        spark.sql(f"MSCK REPAIR TABLE {self.table}")
        superuser.chmod(self.root, "777")

    def belongs_to(self, owner: str, group: str) -> None:
        root = self.superuser
        for name in root.files(self.unit):
            root.chmod(name, "640")
            root.set_acl(name, FILE_ACL)
            root.fs.setReplication(root.path(name), 2)
            root.chown(name, owner, group)
        root.chmod(self.unit, "770")
        root.set_acl(self.unit, FOLDER_ACL)
        root.fs.setXAttr(root.path(self.unit), "user.lineage", bytearray(b"abc"))
        root.fs.setStoragePolicy(root.path(self.unit), "COLD")
        root.chown(self.unit, owner, group)

    def look(self) -> tuple[Look, set[Look]]:
        """The directory, and its files: one set of attributes is all that they should have."""
        return self.superuser.look(self.unit), {
            self.superuser.look(name) for name in self.superuser.files(self.unit)
        }


@pytest.fixture
def dressed(spark: SparkSession, superuser: Superuser, folder: str) -> Dressed:
    return Dressed(spark, superuser, folder)


@pytest.mark.parametrize(
    ("user", "owner"),
    [pytest.param("hdfs", "loader", id="superuser"), pytest.param("etl", "etl", id="owner")],
)
def test_directory_and_files_are_dressed_as_the_originals(
    spark: SparkSession, jobs: Jobs, dressed: Dressed, user: str, owner: str
) -> None:
    dressed.belongs_to(owner, "analysts")
    before = dressed.look()
    with acting_as(spark, user):
        report = jobs("compact", "--table", dressed.table)
    assert (outcomes(report), only(report)["warnings"]) == (["compacted"], [])
    assert len(dressed.superuser.files(dressed.unit)) == 1
    assert dressed.look() == before
    with acting_as(spark, user):
        assert outcomes(jobs("rollback", "--table", dressed.table)) == ["restored"]
    assert dressed.look() == before
    assert len(dressed.superuser.files(dressed.unit)) == 5


@pytest.mark.parametrize("what", ["mode", "ACL", "group", "files"])
def test_what_is_closed_while_it_is_compacted_stays_closed(
    jobs: Jobs, dressed: Dressed, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    root = dressed.superuser
    close: dict[str, Callable[[], None]] = {
        "mode": lambda: root.chmod(dressed.unit, "700"),
        "ACL": lambda: root.set_acl(dressed.unit, FOLDER_ACL),
        "group": lambda: root.chown(dressed.unit, "hdfs", "analysts"),
        "files": lambda: root.chmod(root.files(dressed.unit)[2], "600"),
    }
    after_rewrites(monkeypatch, lambda _: close[what]())
    open_, tree = dressed.look(), root.tree(dressed.root)
    report = jobs("compact", "--table", dressed.table)
    assert (report["exit_code"], outcomes(report)) == (0, ["changed"])
    assert "changed while it was compacted" in only(report)["units"][0]["reason"]
    assert dressed.look() != open_
    assert root.tree(dressed.root) == tree


def test_a_rollback_says_where_the_originals_are_open_to_others_than_the_table_was(
    jobs: Jobs, dressed: Dressed
) -> None:
    jobs("compact", "--table", dressed.table)
    dressed.superuser.chmod(dressed.unit, "700")
    (unit,) = only(jobs("rollback", "--table", dressed.table))["units"]
    assert unit["outcome"] == "restored"
    expected = "restored with the attributes from before the compaction (changed since: mode"
    assert unit["reason"].startswith(expected)


def test_somebody_elses_data_keeps_all_but_its_owner(
    spark: SparkSession, jobs: Jobs, dressed: Dressed
) -> None:
    dressed.belongs_to("loader", "analysts")
    folder, files = dressed.look()
    with acting_as(spark, "etl"):
        report = jobs("compact", "--table", dressed.table)
    warnings = only(report)["warnings"]
    assert (outcomes(report), len(warnings)) == (["compacted"], 2)
    assert all(warning.startswith("ATTRIBUTE_NOT_KEPT: the owner of ") for warning in warnings)
    assert dressed.look() == (_owned(folder), {_owned(file) for file in files})


def _owned(look: Look) -> Look:
    return replace(look, owner="etl", acl=look.acl.replace("owner: loader", "owner: etl"))


@pytest.mark.parametrize(
    ("policy", "group", "lack"),
    [("require", "analysts", "owner"), (None, "loaders", "group")],
    ids=["the owner where all is required", "a group that the user is not in"],
)
def test_what_may_not_be_given_is_refused_before_anything_is_written(
    spark: SparkSession, jobs: Jobs, dressed: Dressed, policy: str | None, group: str, lack: str
) -> None:
    dressed.belongs_to("loader", group)
    before, tree = dressed.look(), dressed.superuser.tree(dressed.root)
    request = {"arguments": {"attributes": policy}} if policy else None
    with acting_as(spark, "etl"):
        report = jobs("compact", "--table", dressed.table, request=request)
    (unit,) = only(report)["units"]
    assert unit["code"] == "ATTRIBUTES"
    assert f"the {lack} of {dressed.unit}" in unit["reason"]
    assert (dressed.look(), dressed.superuser.tree(dressed.root)) == (before, tree)


def test_with_warn_a_foreign_group_is_left_behind_and_said(
    spark: SparkSession, jobs: Jobs, dressed: Dressed
) -> None:
    dressed.belongs_to("loader", "loaders")
    with acting_as(spark, "etl"):
        report = jobs("compact", "--table", dressed.table, request={"arguments": {"attributes": "warn"}})
    assert outcomes(report) == ["compacted"]
    text = " ".join(only(report)["warnings"])
    assert f"the group of {dressed.unit} is not kept" in text
    assert f"the owner of {dressed.unit} is not kept" in text


def test_files_that_may_not_be_read_are_refused_with_their_name(
    spark: SparkSession, jobs: Jobs, dressed: Dressed
) -> None:
    dressed.belongs_to("loader", "loaders")
    (first, *_) = dressed.superuser.files(dressed.unit)
    dressed.superuser.set_acl(first, "user::rw-,group::r--,other::---")
    before = dressed.superuser.tree(dressed.root)
    with acting_as(spark, "etl"):
        report = jobs("compact", "--table", dressed.table, request={"arguments": {"attributes": "warn"}})
    (unit,) = only(report)["units"]
    assert (unit["outcome"], unit["code"], report["exit_code"]) == ("skipped", "NOT_READABLE", 0)
    assert "Permission denied: user=etl, access=READ" in unit["reason"]
    assert first.rsplit("/", 1)[1] in unit["reason"]
    assert dressed.superuser.tree(dressed.root) == before


def test_files_are_as_closed_as_they_were_where_new_ones_would_not_be(jobs: Jobs, dressed: Dressed) -> None:
    """The directory's default ACL would let its group write into every new file."""
    root = dressed.superuser
    for name in root.files(dressed.unit):
        root.chmod(name, "640")
    root.set_acl(
        dressed.unit,
        "user::rwx,group::r-x,other::---,default:user::rwx,default:group::rwx,default:other::r-x",
    )
    before = dressed.look()
    assert outcomes(jobs("compact", "--table", dressed.table)) == ["compacted"]
    assert dressed.look() == before


@pytest.mark.parametrize(("policy", "code"), [(None, "ATTRIBUTES"), ("warn", None)])
def test_files_that_few_may_read_do_not_become_part_of_one_that_many_may(
    jobs: Jobs, dressed: Dressed, policy: str | None, code: str | None
) -> None:
    root = dressed.superuser
    hidden = root.files(dressed.unit)[1]
    root.chmod(hidden, "600")
    request = {"arguments": {"attributes": policy}} if policy else None
    report = only(jobs("compact", "--table", dressed.table, request=request))
    assert report["units"][0]["code"] == code
    if policy == "warn":
        (only_file,) = root.files(dressed.unit)
        assert root.look(only_file).mode == "rw-------"
        assert any("the mode of the files of" in warning for warning in report["warnings"])


def test_who_may_not_pass_a_folder_may_not_read_what_lay_below_it(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str
) -> None:
    """Neither the originals, nor what is rewritten: only a folder above them is closed."""
    root, table = f"{folder}/closed", f"default.c_{folder.rsplit('/', 1)[1]}"
    many(spark, f"{root}/d=1/r=A", "SELECT id FROM range(50)", 5)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (d STRING, r STRING) STORED AS PARQUET"
        f" LOCATION '{root}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    superuser.chmod(root, "755")
    superuser.chmod(f"{root}/d=1", "700")
    assert outcomes(jobs("compact", "--table", table)) == ["compacted"]
    closed = [path for path in superuser.folders(root) if path.endswith("/d=1")]
    assert {superuser.look(path).mode for path in closed} == {"rwx------"}
    assert any("/.lakekeeper/" in path for path in closed)


def test_no_place_of_a_run_is_open_to_more_accounts_than_the_folder_above_the_partition(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither between the renames, where a writer makes the partition again, nor in a rollback or a cleanup."""
    root, table = f"{folder}/passed", f"default.p_{folder.rsplit('/', 1)[1]}"
    closed, unit = f"{root}/d=1", f"{root}/d=1/r=A"
    many(spark, unit, "SELECT id FROM range(50)", 5)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (d STRING, r STRING) STORED AS PARQUET"
        f" LOCATION '{root}' TBLPROPERTIES ('lakekeeper.writers'='append')"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    superuser.chmod(root, "755")
    superuser.chown(closed, "loader", "analysts")
    superuser.set_acl(closed, "user::rwx,user:impala:r-x,group::---,mask::r-x,other::---")
    looks: dict[str, set[Look]] = {}
    rename = HadoopFileSystem.rename

    def renaming(self: HadoopFileSystem, source: str, target: str) -> None:
        rename(self, source, target)
        kind = re.search(r"/__(\w+)_\d+/d=1/", target)
        if kind is not None:
            looks.setdefault(kind[1], set()).add(superuser.look(f"{target.split('/d=1/')[0]}/d=1"))
        if source == unit and "/__originals_" in target:
            superuser.make(unit, "777")
            (first, *_), added = superuser.files(target), f"{unit}/part-9.parquet"
            stream = superuser.fs.create(superuser.path(added))
            stream.write(superuser.read(first))
            stream.close()
            superuser.chown(added, superuser.look(first).owner, superuser.look(first).group)

    monkeypatch.setattr(HadoopFileSystem, "rename", renaming)
    driven_clock(monkeypatch)
    for words in (("compact",), ("rollback",), ("compact",), ("cleanup", "--older-than", "0s")):
        assert jobs(words[0], "--table", table, *words[1:])["exit_code"] == 0, words
    assert set(looks) == {"originals", "conflict", "aside", "claimed"}
    assert set.union(*looks.values()) == {superuser.look(closed)}


def test_a_policy_is_asked_for_by_name_once(spark: SparkSession, superuser: Superuser, folder: str) -> None:
    policies = {"a": None, "b": "COLD", "c": None, "d": "COLD", "e": "WARM"}
    for name, policy in policies.items():
        superuser.make(f"{folder}/{name}", "755")
        if policy:
            superuser.fs.setStoragePolicy(superuser.path(f"{folder}/{name}"), policy)
    calls = NameNodeCalls()
    fs, found, made = HadoopFileSystem(spark, calls), [], []
    for name in policies:
        before = calls.made
        found.append(fs.attributes(f"{folder}/{name}").storage_policy)
        made.append(calls.made - before)
    assert found == ["HOT", "COLD", "HOT", "COLD", "WARM"]
    # The status and the extended attributes of each; besides, each policy once, and once that there is no other one.
    assert made == [4, 3, 2, 2, 3]

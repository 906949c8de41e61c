"""Whether the files of a unit may be the buckets of its table, by their number and by their names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.rules.bucket_files import (
    bucket_warnings,
    check_buckets_of_partition,
    check_left,
    check_no_bucket_files,
)
from spark_jobs.core.rules.eligibility import Storage, TableFacts

_UUID = "0c9f5f1e-6a3b-4f0e-9d57-3f2f5a9d1c11"
#: Names of files of which the table may have four buckets.
BUCKETS = [
    [f"00000{n}_0" for n in range(3)],
    [f"00000{n}_0{copy}" for n in range(4) for copy in ("", "_copy_1")],
    [f"00000{n}_0_20260224_010000_00042_abcde" for n in range(4)] * 2,
    [f"0000{n}_0_part-0000{n}-{_UUID}.c000.snappy.parquet" for n in range(3)],
    [f"20260224_010000_00042_abcde_bucket-0000{n}" for n in range(3)],
    [f"bucket_0000{n}" for n in range(3)],
    [f"part-00000-{_UUID}_0000{n}.c000.snappy.parquet" for n in range(3)],
    # Loaded by Hive, and appended to by something that knows nothing of buckets: the buckets are still there.
    ["000000_0", "000001_0", "000002_0", "000003_0", f"part-00000-{_UUID}-c000.snappy.parquet"],
    # Loaded twice by Hive, which cuts off what it has added to the names before it counts them.
    [f"part-0000{n}{copy}" for n in range(4) for copy in ("", "_copy_1")],
    # Of a partition that was written when the table had more of them.
    [f"{n:06}_0" for n in range(16)],
    ["000000_0", "000001_0", "20260223_101500.parquet"],
    # As many as there are buckets: engines take the first one for the first bucket.
    [f"part-0000{n}-{_UUID}-c000.snappy.parquet" for n in range(4)],
]
#: And those of which it has none.
NO_BUCKETS = [
    [f"part-{n:05}-{_UUID}-c000.snappy.parquet" for n in range(500)],
    [f"part-{n:05}-{_UUID}.c000" for n in range(5)],
    [f"part-w{n:04}-lk0-{_UUID}.parquet" for n in range(3)],
    [f"events.{n}.1700000000000" for n in range(5)],
    ["data.parquet"],
]


def facts(buckets: int = 4) -> TableFacts:
    storage = Storage("hdfs://nn/t", None, None)
    return TableFacts("db.t", "EXTERNAL", storage, "hive", {}, (), (), bucketed=True, buckets=buckets)


@pytest.mark.parametrize("names", BUCKETS)
def test_files_that_may_be_buckets_are_refused(names: list[str]) -> None:
    with pytest.raises(Refusal, match="may be its 4 buckets") as refusal:
        check_no_bucket_files(facts(), "refuse", names)
    assert refusal.value.code == "BUCKETED"
    check_no_bucket_files(facts(), "ignore", names)
    check_no_bucket_files(facts(buckets=0), "refuse", names)


@pytest.mark.parametrize("names", NO_BUCKETS)
def test_files_that_cannot_be_buckets_are_not(names: list[str]) -> None:
    check_no_bucket_files(facts(), "refuse", names)


def test_a_partition_with_another_number_of_buckets_is_refused() -> None:
    """Engines match the files of a partition to the buckets that it has itself."""
    table = replace(facts(), partition_keys=("day",))
    for buckets in (0, 4):
        check_buckets_of_partition(
            table, "refuse", replace(table.storage, buckets=buckets), "partition day=1"
        )
    for other in (5, None):
        storage = replace(table.storage, buckets=other)
        with pytest.raises(Refusal, match="partition day=1 is declared with") as refusal:
            check_buckets_of_partition(table, "refuse", storage, "partition day=1")
        assert refusal.value.code == "BUCKETED"
        check_buckets_of_partition(table, "ignore", storage, "partition day=1")
        check_buckets_of_partition(facts(), "refuse", storage, "table db.t")


def test_no_compaction_leaves_as_many_files_as_there_are_buckets() -> None:
    with pytest.raises(Refusal, match="engines would take as many files for them"):
        check_left(facts(), "refuse", 4)
    for left in (3, 5):
        check_left(facts(), "refuse", left)
    check_left(facts(), "ignore", 4)
    check_left(facts(buckets=0), "refuse", 0)


def test_a_person_is_told_that_the_declaration_is_not_true() -> None:
    (text,) = bucket_warnings(facts(), "refuse")
    assert text.startswith("BUCKETS_NOT_TRUE: db.t is declared with 4 buckets")
    assert bucket_warnings(facts(), "ignore") == bucket_warnings(facts(0), "refuse") == []

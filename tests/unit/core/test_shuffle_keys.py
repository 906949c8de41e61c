"""Keys that Spark sends to partitions of their own. `tests/spark/test_shared_writes.py` asks Spark."""

from __future__ import annotations

import pytest

from spark_jobs.core.planning.shuffle_keys import hash_int, partition_keys

#: SELECT hash(CAST(value AS INT)), in Spark 3.5.
SPARK = {0: 933211791, 1: -559580957, 2: 1765031574, 41: -1080649125, 1000: -14577491, 2**31 - 1: 133916647}


@pytest.mark.parametrize("value", SPARK)
def test_hashes_are_those_of_spark(value: int) -> None:
    assert hash_int(value) == SPARK[value]


@pytest.mark.parametrize("partitions", [1, 2, 3, 7, 64, 200, 256])
def test_each_partition_has_a_key_of_its_own(partitions: int) -> None:
    keys = partition_keys(partitions)
    assert [hash_int(key) % partitions for key in keys] == list(range(partitions))
    assert len(set(keys)) == partitions

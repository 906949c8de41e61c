"""NaNs have bits of their own. Writers replace them by Java's NaN, which `verify=hash` must see."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from tests.harness.fixtures import Database
from tests.harness.sampling import sampled
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The bits of a missing value in R, of a float NaN with a payload, and of Java's own NaNs.
R_MISSING, PAYLOAD, JAVA, JAVA_FLOAT = 0x7FF00000000007A2, 0x7FA00001, 0x7FF8000000000000, 0x7FC00000


def _doubles(*bits: int) -> pa.Array:
    return pa.Array.from_buffers(
        pa.float64(), len(bits), [None, pa.py_buffer(struct.pack(f"<{len(bits)}Q", *bits))]
    )


def _floats(*bits: int) -> pa.Array:
    return pa.Array.from_buffers(
        pa.float32(), len(bits), [None, pa.py_buffer(struct.pack(f"<{len(bits)}I", *bits))]
    )


#: By name: the values of three rows, and their type in Hive.
CHANGED = {
    "double": (_doubles(R_MISSING, JAVA, 0), "DOUBLE"),
    "float": (_floats(PAYLOAD, JAVA_FLOAT, 0), "FLOAT"),
    "in a list": (pa.ListArray.from_arrays([0, 1, 2, 3], _doubles(R_MISSING, JAVA, 0)), "ARRAY<DOUBLE>"),
    "in a struct": (pa.StructArray.from_arrays([_doubles(R_MISSING, JAVA, 0)], ["x"]), "STRUCT<x:DOUBLE>"),
}
SAME = {
    "double": (_doubles(JAVA, JAVA, 1 << 63), "DOUBLE"),
    "float": (_floats(JAVA_FLOAT, 1 << 31, 0), "FLOAT"),
}


def _table(spark: SparkSession, database: Database, stored: str, values: pa.Array, kind: str) -> Path:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    table = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "v": values})
    for number in range(4):
        path = folder / f"{number}.{stored.lower()}"
        if stored == "ORC":
            pa.orc.write_table(table, path)
        else:
            pa.parquet.write_table(table, path)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, v {kind}) STORED AS {stored} LOCATION '{folder.as_uri()}'"
    )
    return folder


@pytest.mark.one_version
@pytest.mark.parametrize("stored", ["PARQUET", "ORC"])
@pytest.mark.parametrize("case", sampled(CHANGED, "in a list"))
def test_a_nan_whose_bits_the_writer_changes_is_refused_where_all_values_are_compared(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str, case: str
) -> None:
    folder = _table(spark, database, stored, *CHANGED[case])
    before = data_files(folder)
    (unit,) = only(jobs("compact", "--table", f"{database}.t", "--verify", "hash"))["units"]
    if unit["outcome"] == "compacted":
        # A merge of stripes changes no value.
        (name,) = data_files(folder)
        bits = struct.pack("<I", PAYLOAD) if case == "float" else struct.pack("<Q", R_MISSING)
        assert (stored, bits in (folder / name).read_bytes()) == ("ORC", True), unit
        return
    assert (unit["outcome"], unit["code"]) == ("skipped", "NAN"), unit
    assert data_files(folder) == before
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert unit["outcome"] == "compacted", unit
    assert only(jobs("check", "--table", f"{database}.t", "--read-data"))["outcome"] == "done"


@pytest.mark.one_version
@pytest.mark.parametrize("stored", ["PARQUET", "ORC"])
def test_a_canary_whose_nans_become_those_of_java_is_compacted(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str
) -> None:
    """All values of a canary are compared; which NaN is kept, the options say."""
    folder = _table(spark, database, stored, *CHANGED["in a list"])
    (unit,) = only(jobs("compact", "--table", f"{database}.t", "--canary", "1"))["units"]
    assert unit["outcome"] == "compacted", unit
    assert len(data_files(folder)) == 1


@pytest.mark.parametrize("stored", ["PARQUET", "ORC"])
@pytest.mark.parametrize("case", sampled(SAME, "double"))
def test_the_nan_of_java_is_not(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str, case: str
) -> None:
    folder = _table(spark, database, stored, *SAME[case])
    (unit,) = only(jobs("compact", "--table", f"{database}.t", "--verify", "hash"))["units"]
    assert unit["outcome"] == "compacted", unit
    assert len(data_files(folder)) == 1

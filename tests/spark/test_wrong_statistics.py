"""Files whose footers tell other figures of a column than its values have: refused by a code, and not asked each night.

A value was damaged in a page without a checksum, or a writer has written wrong statistics: nobody can tell which.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.spark.rewriter import Rewriter
from tests.harness.fixtures import Database
from tests.spark.test_unreadable_units import Nights, age, found, reasons
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.one_version


def _table(
    spark: SparkSession, database: Database, name: str, damaged: bool = True, options: str = ""
) -> Path:
    """A table of four files. In the first one, a value of a page is another one than the footer says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = database.path / name
    folder.mkdir(parents=True)
    for number in range(4):
        ids = pa.table({"id": pa.array(range(number * 100, number * 100 + 100), pa.int64())})
        pq.write_table(ids, folder / f"{number}.parquet", compression="none", use_dictionary=False)
    if damaged:
        content = (folder / "0.parquet").read_bytes()
        value = struct.pack("<q", 0) + struct.pack("<q", 1)
        assert value in content
        changed = struct.pack("<q", -77) + struct.pack("<q", 1)
        (folder / "0.parquet").write_bytes(content.replace(value, changed, 1))
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.{name} (id BIGINT) STORED AS PARQUET LOCATION 'file:{folder}' {options}"
    )
    age(folder)
    return folder


@pytest.mark.parametrize("argv", [(), ("--canary", "1")], ids=["count", "canary"])
def test_two_nights_of_a_changed_value(
    spark: SparkSession, jobs: Jobs, database: Database, argv: tuple[str, ...]
) -> None:
    folder = _table(spark, database, "t")
    _table(spark, database, "sound", damaged=False)
    before, nights = data_files(folder), Nights(jobs, database)
    analysis = nights.analyze()
    night = jobs("compact", "--database", str(database), "--min-input-files", "2", *argv)
    assert (found(analysis)["t"], night["exit_code"]) == (("flagged", None), 0)
    assert found(night) == {"t": ("skipped", "WRONG_STATISTICS"), "sound": ("compacted", None)}
    (reason,) = reasons(night, "WRONG_STATISTICS")
    assert "column 'id': minimum 0 in the originals, and -77 in the rewritten files" in reason
    assert "set verify=hash" in reason
    assert data_files(folder) == before
    assert found(nights.analyze())["t"] == ("skipped", "WRONG_STATISTICS")


def test_where_values_are_compared_instead_the_unit_is_compacted_with_a_warning(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    _table(spark, database, "t")
    nights = Nights(jobs, database)
    assert found(nights.compact(nights.analyze()))["t"] == ("skipped", "WRONG_STATISTICS")
    spark.sql(f"ALTER TABLE {database}.t SET TBLPROPERTIES ('lakekeeper.verify'='hash')")
    night = nights.compact(nights.analyze())
    assert found(night)["t"] == ("compacted", None)
    (table,) = night["tables"]
    assert any("STATISTICS_DIFFER: column 'id': minimum 0" in text for text in table["warnings"]), table


def test_values_that_the_writer_has_changed_fail_the_unit(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as F

    folder = _table(spark, database, "t", damaged=False)
    save, before = Rewriter._save, data_files(folder)
    changed = F.when(F.col("id") == 0, F.lit(-77)).otherwise(F.col("id"))
    monkeypatch.setattr(
        Rewriter, "_save", lambda self, frame, request: save(self, frame.withColumn("id", changed), request)
    )
    report = jobs("compact", "--table", f"{database}.t")
    (unit,) = only(report)["units"]
    assert (report["exit_code"], unit["outcome"], unit["code"]) == (1, "failed", None), unit
    assert "minimum 0 in the originals, and -77" in unit["reason"]
    assert data_files(folder) == before

"""Files whose footers tell other figures of a column than its values have: refused by a code, and not asked each night.

A value was damaged in a page without a checksum, or a writer has written wrong statistics: nobody can tell which.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.spark.hashing import Fingerprint
from spark_jobs.adapters.spark.rewriter import Rewriter
from tests.harness.fixtures import Database
from tests.spark.test_unreadable_units import Nights, age, found, reasons
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.one_version


def _table(
    spark: SparkSession,
    database: Database,
    name: str,
    damaged: bool = True,
    more: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """A table of four files. In the first one, a value of a page is another one than the footer says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = database.path / name
    folder.mkdir(parents=True)
    for number in range(4):
        ids = range(number * 100, number * 100 + 100)
        columns = {"id": pa.array(ids, pa.int64())}
        columns.update({name: pa.array(ids, pa.type_for_alias(kind)) for name, kind in more.items()})
        pq.write_table(
            pa.table(columns), folder / f"{number}.parquet", compression="none", use_dictionary=False
        )
    if damaged:
        content = (folder / "0.parquet").read_bytes()
        value = struct.pack("<q", 0) + struct.pack("<q", 1)
        assert value in content
        changed = struct.pack("<q", -77) + struct.pack("<q", 1)
        (folder / "0.parquet").write_bytes(content.replace(value, changed, 1))
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.{name} (id BIGINT) STORED AS PARQUET LOCATION 'file:{folder}'"
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
    assert "set lakekeeper.verify=hash on the table" in reason
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


def test_where_spark_cannot_read_the_values_the_unit_is_refused_too(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """Of a time of day in a file: records are copied without decoding them."""
    folder = _table(spark, database, "t", more={"at": "time64[us]"})
    before, nights = data_files(folder), Nights(jobs, database)
    night = nights.compact(nights.analyze())
    assert found(night) == {"t": ("skipped", "WRONG_STATISTICS")}
    assert "Spark cannot read the values" in reasons(night, "WRONG_STATISTICS")[0]
    assert data_files(folder) == before
    assert found(nights.analyze()) == {"t": ("skipped", "WRONG_STATISTICS")}


def test_a_canary_that_is_read_in_two_ways_fails_the_unit(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without NaNs that differ in their bits, only the reading can have been unsteady."""
    folder = _table(spark, database, "t", damaged=False)
    honest, before, numbers = Fingerprint.of, data_files(folder), itertools.count()

    def unsteady(row: Any) -> Fingerprint:
        found = honest(row)
        return replace(found, upper=(found.upper or 0) + 1) if next(numbers) in (0, 2) else found

    monkeypatch.setattr(Fingerprint, "of", unsteady)
    (unit,) = only(jobs("compact", "--table", f"{database}.t", "--canary", "1"))["units"]
    assert (unit["outcome"], unit["code"]) == ("failed", None), unit
    assert data_files(folder) == before

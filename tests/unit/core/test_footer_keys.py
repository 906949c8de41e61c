"""Keys in footers: those that say how values are meant, and those that readers may miss."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from spark_jobs.core.formats.footer_keys import has_interpretation_keys, unkept, warning

DATE, TIMES, OLD_TIMES = {"d": "int32 (DATE)"}, {"t": "int64 (TIMESTAMP(MILLIS,true))"}, {"t": "int96"}
HIVE_3 = {"writer.time.zone": "Europe/Paris"}
HIVE_4 = {**HIVE_3, "writer.date.proleptic": "false", "writer.zone.conversion.legacy": "false"}
SPARK = {"org.apache.spark.version": "3.5.9"}


@pytest.mark.parametrize(
    ("leaves", "writer", "expected"),
    [
        # Without INT96, Hive does not read the time zone; without the calendar it takes the one that it noted.
        ({**DATE, **TIMES}, HIVE_3, False),
        ({**DATE, **TIMES}, HIVE_4, False),
        (DATE, {**HIVE_4, "writer.date.proleptic": "true"}, True),
        (TIMES, {"writer.date.proleptic": "TRUE"}, True),
        (OLD_TIMES, HIVE_3, True),
        ({"l": "repeated int96"}, {"writer.zone.conversion.legacy": "true"}, True),
        (DATE, SPARK, True),
        ({"n": "int64"}, {**SPARK, **HIVE_4}, False),
        (DATE, {"parquet.avro.schema": "{}"}, False),
    ],
)
def test_a_copy_without_the_note_is_read_as_before(
    leaves: Mapping[str, str], writer: Mapping[str, str], expected: bool
) -> None:
    assert has_interpretation_keys(leaves, writer) is expected


def test_keys_that_no_reader_needs_are_not_named() -> None:
    quiet = {**SPARK, **HIVE_4, "pandas": "", "ARROW:schema": "", "writer.model.name": "avro"}
    loud = {"thrift.descriptor": "", "parquet.proto.class": "", "geo": ""}
    assert unkept([quiet, {**quiet, **loud}]) == ("geo", "parquet.proto.class", "thrift.descriptor")


def test_a_warning_names_ten_keys_at_most() -> None:
    text = warning(f"key-{number:02}" for number in range(12))
    assert "key-09 and 2 more" in text
    assert "key-10" not in text

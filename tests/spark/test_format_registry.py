"""Each format of the core has an adapter. No Spark is started."""

from __future__ import annotations

from spark_jobs.adapters.spark.formats.registry import _CLASSES
from spark_jobs.adapters.spark.rewriter import RECORD_WRITERS
from spark_jobs.core.formats.registry import FORMATS


def test_each_format_has_an_adapter() -> None:
    assert set(_CLASSES) == set(FORMATS)


def test_a_format_whose_files_do_not_count_their_rows_has_a_writer_that_compares_its_records() -> None:
    assert set(RECORD_WRITERS) == {name for name, spec in FORMATS.items() if not spec.read_by_spark}

"""Each format of the core has an adapter. No Spark is started."""

from __future__ import annotations

from spark_jobs.adapters.spark.formats.registry import _CLASSES
from spark_jobs.core.formats.registry import FORMATS


def test_each_format_has_an_adapter() -> None:
    assert set(_CLASSES) == set(FORMATS)

"""Readers that leave out files silently are refused, however Spark's property is spelled. No Spark is started."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from spark_jobs.adapters.spark.formats.headers import RecordFormat
from spark_jobs.core.errors import Refusal
from spark_jobs.core.formats.encoding import Engine


def _format(value: str) -> SimpleNamespace:
    conf = {"spark.files.ignoreMissingFiles": value}
    context = SimpleNamespace(getConf=lambda: conf)
    return SimpleNamespace(_spark=SimpleNamespace(sparkContext=context))


@pytest.mark.parametrize("value", ["true", "TRUE", "True", " true "])
def test_a_lenient_reader_is_refused(value: str) -> None:
    with pytest.raises(Refusal, match="ignoreMissingFiles is true") as refusal:
        RecordFormat.encoding(_format(value), SimpleNamespace(schemas=["a"]))
    assert refusal.value.code == "LENIENT"


@pytest.mark.parametrize("value", ["false", "FALSE"])
def test_a_strict_reader_is_not(value: str) -> None:
    encoding = RecordFormat.encoding(_format(value), SimpleNamespace(schemas=["a"]))
    assert encoding.engine is Engine.COPY

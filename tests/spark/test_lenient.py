"""Readers that leave out files silently are refused, however Spark's property is spelled. No Spark is started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.adapters.spark.formats.headers import RecordFormat
from spark_jobs.core.formats import footers
from spark_jobs.core.formats.encoding import Engine
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.messages.errors import Refusal

PROFILE = footers.profile([Footer("a", None, {"none": 1}, {}, {}, "text")], None, "sequencefile")


class _Records(RecordFormat):
    def __init__(self, value: str) -> None:
        conf = {"spark.files.ignoreMissingFiles": value}
        self._spark = SimpleNamespace(sparkContext=SimpleNamespace(getConf=lambda: conf))

    def _header(self, path: Any, size: int) -> Footer:
        raise NotImplementedError


@pytest.mark.parametrize("value", ["true", "TRUE", "True", " true "])
def test_a_lenient_reader_is_refused(value: str) -> None:
    with pytest.raises(Refusal, match="ignoreMissingFiles is true") as refusal:
        _Records(value).encoding(PROFILE)
    assert refusal.value.code == "LENIENT"


@pytest.mark.parametrize("value", ["false", "FALSE"])
def test_a_strict_reader_is_not(value: str) -> None:
    assert _Records(value).encoding(PROFILE).engine is Engine.COPY

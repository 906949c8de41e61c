"""The codes about which nobody can do anything are those whose remedy says so."""

from __future__ import annotations

from lakekeeper_provider.report.overview import CANNOT_BE_COMPACTED, NOT_TO_COMPACT
from spark_jobs.core.messages.refusals import RefusalCode


def test_they_are_those_without_a_remedy() -> None:
    without = {code.name for code in RefusalCode if code.remedy.startswith("None")}
    assert without - set(NOT_TO_COMPACT) == set(CANNOT_BE_COMPACTED)
    assert not set(CANNOT_BE_COMPACTED) & set(NOT_TO_COMPACT)

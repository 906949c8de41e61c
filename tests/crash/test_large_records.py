"""A run of so many files that its record could not be read any more: nothing is swapped, as nobody could undo it."""

from __future__ import annotations

import pytest

from spark_jobs.core.records import record_files
from tests.crash.flat_table import compact, only, outcomes
from tests.crash.oracle import check
from tests.crash.test_joint_writes import DAYS, days


def test_a_record_that_nobody_could_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = days(12)
    with monkeypatch.context() as smaller:
        smaller.setattr(record_files, "MOST_BYTES", 6_000)
        report = compact(sim.client(), DAYS)
    assert (only(report)["outcome"], report["exit_code"]) == ("failed", 1)
    assert (
        "because it has more than 6000 bytes. A directory has too many files for one job"
        in only(report)["reason"]
    )
    assert check(sim) == []
    assert outcomes(compact(sim.client(), DAYS, "r2")) == ["compacted"] * 12
    assert check(sim) == []

"""How far the work is, as the log shows it."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from spark_jobs.core.messages.readable import duration, human
from spark_jobs.core.values.amount import Amount
from spark_jobs.protocol.measuring.progress import INTERVAL, Progress, with_progress

MB = 1024 * 1024


def test_a_line_has_units_files_bytes_rate_and_rest():
    progress = Progress(Amount(200, 4_000, 400 * MB), now=100)
    progress.add(Amount(50, 1_000, 100 * MB), now=150)

    assert progress.text(150) == (
        "50 of 200 units, 1,000 of 4,000 files, 100.0 MB of 400.0 MB, 2.0 MB/s, about 2 min 30 s left"
    )


def test_the_first_half_minute_foretells_nothing():
    """The first unit is the slowest one: Spark has just started."""
    progress = Progress(Amount(6), now=0)
    progress.add(Amount(1), now=20)

    assert progress.text(20) == "1 of 6 units"


def test_without_known_bytes_the_rest_is_measured_in_units():
    progress = Progress(Amount(10), now=0)
    progress.add(Amount(4, 80, 5), now=60)

    assert progress.text(60) == "4 of 10 units, about 1 min 30 s left"


def test_nothing_is_foretold_before_anything_is_done():
    assert (
        Progress(Amount(10, 100, MB), now=0).text(0) == "0 of 10 units, 0 of 100 files, 0 B of 1.0 MB, 0 B/s"
    )


def test_a_line_is_due_now_and_then_and_not_at_the_end():
    progress = Progress(Amount(4), now=0)

    assert progress.add(Amount(), now=INTERVAL - 1) is None
    assert progress.add(Amount(), now=INTERVAL) is not None
    assert progress.add(Amount(), now=INTERVAL + 1) is None
    assert progress.add(Amount(), now=3 * INTERVAL) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (7500, "2 h 5 min"),
        (-1, "0 s"),
    ],
)
def test_durations_have_their_two_largest_units(seconds, text):
    assert duration(seconds) == text


def test_sizes_have_a_readable_unit():
    assert [human(size) for size in (0, 1023, 5 * 1024**3, 2 * 1024**5)] == [
        "0 B",
        "1.0 KB",
        "5.0 GB",
        "2048.0 TB",
    ]


def test_a_long_step_logs_how_far_it_is(caplog):
    caplog.set_level(logging.INFO, "lakekeeper")
    clock = SimpleNamespace(monotonic=iter([0, 5, 40, 41]).__next__)

    assert list(with_progress(clock, "listed", Amount(300), [100, 100, 100], Amount)) == [100, 100, 100]

    assert [record.message for record in caplog.records] == [
        "progress: listed 200 of 300 units, about 20 s left"
    ]

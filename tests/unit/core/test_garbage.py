"""Garbage is collected rarely while values are decoded, and as before afterwards."""

from __future__ import annotations

import contextlib
import gc

from spark_jobs.core.values.garbage import rarely_collected


def test_the_limit_is_higher_until_the_last_block_ends() -> None:
    before = gc.get_threshold()
    with rarely_collected():
        with contextlib.suppress(ValueError), rarely_collected():
            raise ValueError("broken")
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before

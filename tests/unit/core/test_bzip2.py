"""The end of a bzip2 stream, wherever in a byte it begins."""

from __future__ import annotations

import bz2
import random

import pytest

from spark_jobs.core.formats.bzip2 import TAIL, is_complete


def _packed(seed: int) -> bytes:
    return bz2.compress(random.Random(seed).randbytes(seed * 7), 1)


@pytest.mark.parametrize("seed", range(40))
def test_a_whole_file_has_an_end_and_a_part_of_it_has_none(seed: int) -> None:
    whole = _packed(seed)
    assert is_complete(whole[-TAIL:])
    assert is_complete((whole + b"\n more" * 9)[-TAIL:])
    for length in range(len(whole) - 10):
        assert not is_complete(whole[:length][-TAIL:])


@pytest.mark.parametrize("behind", [1, 2, 3, 4, 9, 40, 90, 200])
def test_the_end_of_an_earlier_stream_is_none(behind: int) -> None:
    """Equal lines make blocks of a hundred bytes."""
    first, second = bz2.compress(b"x\n"), bz2.compress(b"equal\n" * 120_000, 1)
    assert len(second) > behind + 100
    assert is_complete((first + second)[-TAIL:])
    assert not is_complete((first + second[:behind])[-TAIL:])

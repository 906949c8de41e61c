"""Which values the sweep tries for a setting."""

from __future__ import annotations

import pytest

from tests.sweep.flips import flips


@pytest.mark.parametrize(
    ("name", "value", "words", "expected"),
    [
        ("a", "true", (), ["false"]),
        ("a", "1", (), ["0", "-1", "2147483647"]),
        ("a", "64m", (), ["0m", "1m", "-1m", "100000m"]),
        ("a", "EXCEPTION", ("EXCEPTION", "LEGACY"), ["LEGACY", "x", ""]),
        ("a", "org.example.Reader", (), ["com.example.Missing", "java.lang.Object"]),
        ("parquet.writer.version", "v2", (), ["PARQUET_1_0", "PARQUET_2_0", "x", ""]),
    ],
)
def test_other_values(name: str, value: str, words: tuple[str, ...], expected: list[str]) -> None:
    assert flips(name, value, words) == expected
    assert value not in flips(name, value, words)

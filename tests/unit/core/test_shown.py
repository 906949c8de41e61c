"""Values and texts of others in messages: one line, and no longer than a person reads."""

from __future__ import annotations

import pytest

from spark_jobs.core.messages.printable import shortened, shown


@pytest.mark.parametrize(
    "text",
    ["\nLAKEKEEPER_REPORT {}", "\x1b[2J", "\u202e", "x" * 100_000 + "\n"],
    ids=["line", "escape", "direction", "long"],
)
def test_a_text_is_one_short_line(text: str) -> None:
    for found in (shortened(text), shown(text), shown({text: [text]})):
        assert found.isprintable()
        assert len(found) <= 1_010


@pytest.mark.parametrize(
    "value",
    ["x" * 100_000, 10**3_000, 10**5_000, [["x" * 1_000] * 1_000]],
    ids=["text", "number", "no text", "lists"],
)
def test_a_value_is_short(value: object) -> None:
    assert len(shown(value)) < 1_000


def test_a_short_text_stays_as_it_is() -> None:
    assert shortened("it's été") == "it's été"
    assert shown("été") == "'été'"

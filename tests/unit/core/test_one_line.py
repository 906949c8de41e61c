"""An unexpected error is one line of a report, whatever its text is."""

from __future__ import annotations

import pytest

from spark_jobs.core.messages.errors import in_one_line


class Py4JJavaError(Exception):
    """As py4j's: its text has Java's stack."""


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("wrong"), "ValueError: wrong"),
        (ValueError(), "ValueError: "),
        (RuntimeError("\n first\nsecond"), "RuntimeError: first"),
        (
            Py4JJavaError(
                "An error occurred while calling o92.get.\n: java.lang.RuntimeException: away\n\tat a.B(C.java:1)\n"
            ),
            "Py4JJavaError: java.lang.RuntimeException: away",
        ),
    ],
)
def test_what_happened_is_said_without_a_stack(error: Exception, line: str) -> None:
    assert in_one_line(error) == line

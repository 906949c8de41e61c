"""Values and texts of others as messages show them: shortened, in one line, and with control characters escaped."""

from __future__ import annotations

import reprlib
from typing import Any

from spark_jobs.core.messages.printable import printable


def shown(value: Any) -> str:
    """Return a value for a message: shortened, and with control characters escaped."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 100  # guard: values_of_others_shortened
    try:
        return short.repr(value)
    except ValueError:  # Python writes no number with thousands of digits.
        return f"a value of the type {type(value).__name__}"


def shortened(text: str, longest: int = 1_000) -> str:
    """Return a text for one line: shortened, and with control characters escaped."""
    short = text if len(text) <= longest else f"{text[:longest]}..."  # guard: texts_of_others_shortened
    return printable(short)  # guard: texts_of_others_printable

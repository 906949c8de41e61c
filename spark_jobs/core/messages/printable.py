"""Texts as lines: names and values of a table, paths and texts of errors may hold what a terminal or a log obeys.

A line feed in a partition value would begin a line of the log that says what its author likes. So all characters that
cannot be seen (line ends, escape sequences of terminals, marks that change the direction of text) are shown by their
escapes, where a line is printed or logged, and in the sentences of a report. Its other values are exact.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Any


def printable(text: str) -> str:
    """Return a text as one line that can be read, with the escapes of Python for all other characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)  # guard: control_characters


def printable_lines(lines: Iterable[str]) -> str:
    """Return a text of several lines, of which none holds a line end of its own."""
    return "\n".join(map(printable, lines))


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

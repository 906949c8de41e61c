"""Texts as lines: names and values of a table, paths and texts of errors may hold what a terminal or a log obeys.

A line feed in a partition value would begin a line of the log that says what its author likes. So all characters that
cannot be seen (line ends, escape sequences of terminals, marks that change the direction of text) are shown by their
escapes, where a line is printed or logged, and in the sentences of a report. Its other values are exact.
"""

from __future__ import annotations

from collections.abc import Iterable


def printable(text: str) -> str:
    """Return a text as one line that can be read, with the escapes of Python for all other characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)  # guard: control_characters


def printable_lines(lines: Iterable[str]) -> str:
    """Return a text of several lines, of which none holds a line end of its own."""
    return "\n".join(map(printable, lines))

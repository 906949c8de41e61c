"""Texts of others as lines: what a table, a log or an error has may hold control characters."""

from __future__ import annotations

#: Blanks that a log may have, although Python does not count them as printable.
_BLANKS = "\t\u00a0\u3000"


def one_line(text: str) -> str:
    """Return a text with its control characters escaped: no text of a table ends a line or acts on a terminal.

    All others that cannot be seen are escaped too: marks that change the direction of a text, characters without a
    width, halves of characters.
    """
    if text.isprintable():
        return text
    # guard: one_line_is_one
    return "".join(
        char if char.isprintable() or char in _BLANKS else char.encode("unicode_escape").decode()
        for char in text
    )

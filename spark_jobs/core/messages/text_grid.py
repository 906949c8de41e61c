"""Rows of text as lines with aligned columns."""

from __future__ import annotations

from collections.abc import Sequence


def grid(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Return the rows, of which the first one is the header, with a rule below it."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    header, *lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )
    return [f"{indent}{line}" for line in (header, "-" * max(map(len, (header, *lines))), *lines)]

"""Sizes, durations and rows as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def human(size: float) -> str:
    """Return a number of bytes with a readable unit: 1 KB is 1024 bytes."""
    for unit in ("B", "KB", "MB", "GB"):
        # Not 1013.6 KB, but 1.0 MB.
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"


def duration(seconds: float) -> str:
    """Return a number of seconds in its two largest units: `45 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def grid(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Return the rows, of which the first one is the header, with a rule below it."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    header, *lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )
    return [f"{indent}{line}" for line in (header, "-" * max(map(len, (header, *lines))), *lines)]

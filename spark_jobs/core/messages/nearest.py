"""The name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], prefix: str = "") -> str:
    """Return a hint such as `; did you mean 'where'?`, or an empty text.

    Args:
        prefix: stands before the name in the hint.
    """
    close = difflib.get_close_matches(word[:100], sorted(known), n=1)
    return f"; did you mean '{prefix}{close[0]}'?" if close else ""

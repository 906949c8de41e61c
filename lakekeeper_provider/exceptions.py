"""The errors of the parts that do not know Airflow.

LakekeeperError
├── UsageError       a wrong argument, option or configuration: trying again cannot help
└── ReportError      the job left no report that can be read
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from lakekeeper_provider.printable import one_line


class LakekeeperError(Exception):
    """Base of this package's errors."""


class UsageError(LakekeeperError, ValueError):
    """A wrong argument, option or configuration value, whose text is one line wherever it is shown."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


class ReportError(LakekeeperError):
    """A report is missing or is not what the wire promises. Its text is one line, too."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


def said(error: Exception) -> str:
    """Return what the system says of a file, without its path; or the text of an error that has no such words."""
    return getattr(error, "strerror", None) or str(error)


def nearest(word: object, known: Iterable[str]) -> str:
    """Return a hint such as `` (did you mean 'master'?)``, or the empty string."""
    close = difflib.get_close_matches(str(word)[:100], sorted(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""

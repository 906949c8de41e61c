"""The lines of a driver in client mode: each is logged once, with one date and the level that the driver gave it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from typing import Any

#: A line of the jobs' log, or of Spark's: the time, the level, the text.
_LINE = re.compile(
    r"(?:\d\d/\d\d/\d\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,6})? (DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL) (.*)"
)
_LEVELS = {
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "WARNING": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.ERROR,
    "CRITICAL": logging.ERROR,
}
#: What the report has too, which is shown when the job has ended: phases, and warnings of tables with their codes.
_IN_THE_REPORT = {
    logging.INFO: re.compile(r"phases: "),
    logging.WARNING: re.compile(r"[^\s.]+\.[^\s.]+: [A-Z][A-Z0-9_]+: "),
}


class DriverLog:
    """Logs what a driver prints.

    Args:
        log: the logger of the task
    """

    def __init__(self, log: Any) -> None:
        self._log = log
        self._withheld: list[tuple[int, str]] = []

    def relogged(self, lines: Iterable[str]) -> Iterator[str]:
        """Log the lines that have a level of their own, and return the others."""
        for line in lines:
            found = _LINE.fullmatch(line.rstrip("\n"))
            if found is None:
                yield line
                continue
            level, text = _LEVELS[found[1]], found[2]
            if level in _IN_THE_REPORT and _IN_THE_REPORT[level].match(text):
                self._withheld.append((level, text))
            else:
                self._log.log(level, "%s", text)

    def without_report(self) -> None:
        """Log what was left to the report: there is none."""
        for level, text in self._withheld:
            self._log.log(level, "%s", text)
        self._withheld.clear()

"""The lines of a driver in client mode: each is logged once, with one date and the level that the driver gave it."""

from __future__ import annotations

import logging
import re
from typing import Any

#: A line of the jobs' log, or of Spark's, which has a date too: the date, the time, the level, the text.
_LINE = re.compile(
    r"(\d\d/\d\d/\d\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,6})? (DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL) (.*)"
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
#: What the jobs log and the report has too, which is shown when the job has ended: phases, and warnings of tables with
#: their codes.
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
        self._logger = log
        self._withheld: list[tuple[int, str]] = []

    def log_line(self, line: str) -> bool:
        """Log a line with the level that it has of its own, and tell whether it has one."""
        found = _LINE.fullmatch(line.rstrip("\n"))
        if found is None:
            return False
        level, text = _LEVELS[found[2]], found[3]
        if not found[1] and level in _IN_THE_REPORT and _IN_THE_REPORT[level].match(text):
            self._withheld.append((level, text))
        else:
            self._logger.log(level, "%s", text)
        return True

    def without_report(self) -> None:
        """Log what was left to the report: there is none."""
        for level, text in self._withheld:
            self._logger.log(level, "%s", text)
        self._withheld.clear()

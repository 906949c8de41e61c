"""The lines of a driver in client mode: each is logged once, with one date and the level that the driver gave it.

What Spark says of its own work (its lines of level INFO) is shown only after a job that has left no report.
"""

from __future__ import annotations

import logging
import re
from collections import deque
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


#: The line of Spark that somebody needs to find the application on YARN.
_APPLICATION = re.compile(r".*: Submitted application application_\d+_\d+")
#: Warnings that Spark gives on each cluster with a Hive Metastore, and that mean nothing.
_HARMLESS = re.compile(r"METASTORE_FILTER_HOOK will be ignored|HiveConf of name \S+ does not exist")
#: The newest lines of Spark that are kept.
_OF_SPARK = 1000


class DriverLog:
    """Logs what a driver prints.

    Args:
        log: the logger of the task
    """

    def __init__(self, log: Any) -> None:
        self._logger = log
        self._withheld: list[tuple[int, str]] = []
        self._of_spark: deque[tuple[int, str]] = deque(maxlen=_OF_SPARK)

    def log_line(self, line: str) -> bool:
        """Log a line with the level that it has of its own, and tell whether it has one."""
        found = _LINE.fullmatch(line.rstrip("\n"))
        if found is None:
            return False
        of_spark, level, text = bool(found[1]), _LEVELS[found[2]], found[3]
        if of_spark and _is_noise(level, text):
            self._of_spark.append((level, text))
        elif not of_spark and _is_reported(level, text):
            self._withheld.append((level, text))
        else:
            self._logger.log(level, "%s", text)
        return True

    def without_report(self) -> None:
        """Log what was withheld: there is no report that says what happened."""
        for level, text in (*self._of_spark, *self._withheld):
            self._logger.log(level, "%s", text)
        self._of_spark.clear()
        self._withheld.clear()


def _is_noise(level: int, text: str) -> bool:
    if level == logging.WARNING:
        return bool(_HARMLESS.search(text))
    return level < logging.WARNING and not _APPLICATION.fullmatch(text)


def _is_reported(level: int, text: str) -> bool:
    return level in _IN_THE_REPORT and bool(_IN_THE_REPORT[level].match(text))

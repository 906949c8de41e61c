"""The log of the jobs, in which a name or a value never begins a line of its own."""

from __future__ import annotations

import logging
import traceback

from spark_jobs.core.messages.printable import printable, printable_lines

_INDENT = "  "


class _Printable(logging.Filter):
    """Escapes a record before any handler has it: also the handlers of a program that calls the Python API."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = printable(record.getMessage()), ()  # guard: log_lines
        if record.exc_info and record.exc_info[1] is not None and not record.exc_text:
            # A message of several lines is a part of it, so no line begins where one of the log does.
            lines = "".join(traceback.format_exception(*record.exc_info)).splitlines()
            record.exc_text = printable_lines(f"{_INDENT}{line}" for line in lines)  # guard: log_tracebacks
        return True


_FILTER = _Printable()


def keep_lines_printable(logger: logging.Logger) -> None:
    """Make all records of a logger printable. A second call changes nothing."""
    logger.addFilter(_FILTER)

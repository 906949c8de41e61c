"""The checks of a driver: those of its report, and one about a driver that has not ended as it should."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lakekeeper_provider.doctor import process
from lakekeeper_provider.doctor.checks import DRIVER, Check, Desk, is_bad
from lakekeeper_provider.exceptions import ReportError
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.options.option import DOCTOR
from lakekeeper_provider.report import report
from lakekeeper_provider.report.report import Report

#: So many of the last lines are kept, and looked through for the reason of a failure.
_KEPT = 200
_ERROR = re.compile(r"\berror\b|\b\w*(Error|Exception)\b", re.IGNORECASE)
_OWN_ERROR = re.compile(r"^\w+\.py: error: ")
#: What Spark logs below an error.
_LEVEL = re.compile(r"\b(INFO|WARN|DEBUG)\b")
#: No line says more to a person with more characters.
_LONGEST = 2_000
_TRIED = "start a job by spark-submit"
_ACTION = "The lines of spark-submit have the reason; `lakekeeper doctor --verbose` shows them"
_NO_LINES = "Start spark-submit --version by hand"


def of_report(answer: Report, failure: str | None = None) -> list[Check]:
    """Return the checks of a report, and one about the driver if it has not made all of them.

    Args:
        failure: how the process has failed, if it has
    """
    checks = [_of_job(check) for check in answer.checks or ()]
    if not answer.ended or not checks:
        why = answer.error or failure or "it has not made all checks"
        return [*checks, failed(why)]
    # A bad check explains the exit code of a job.
    return [*checks, failed(failure)] if failure and not is_bad(checks) else checks


def _of_job(check: object) -> Check:
    """Return a check of the job. One that is none is bad, and hides no other."""
    try:
        return Check.of_job(check)
    except ReportError as error:
        return failed(str(error))


def failed(found: str, action: str = _ACTION) -> Check:
    """Return the check of a driver that has not ended as it should."""
    return Desk(DRIVER).bad("driver", _TRIED, found, action)


def not_asked(because: str) -> Check:
    """Return the check of a driver that was not started."""
    return Desk(DRIVER).not_asked("driver", _TRIED, because)


def ask(
    command: Sequence[str], line: ReportLine, file: Path, seconds: float, show: Callable[[str], None]
) -> list[Check]:
    """Run spark-submit until the job has ended, and return the driver's checks.

    Args:
        line: the line of the report; the command has its flags
        file: where the job writes its report, after each check
        seconds: the job is ended after this time
        show: gets each line that spark-submit prints

    Raises:
        ReportError: its report is none
    """
    kept: deque[str] = deque(maxlen=_KEPT)
    try:
        with process.started(command, seconds) as program:
            for each in line.without(program.lines()):
                kept.append(each.rstrip("\n")[:_LONGEST])
                show(each)
            code = program.code()
    except (OSError, ValueError) as error:
        return [failed(f"it cannot be started: {error}", f"Start {command[0]} --version by hand")]
    why = _end_of(code, seconds)
    failure = f"{why}: {reason(kept)}" if code != 0 else None
    content = file.read_bytes() if file.is_file() else line.content
    if not content:
        return [failed(f"{why}, without a report: {reason(kept)}", _ACTION if kept else _NO_LINES)]
    return of_report(report.parse(content, DOCTOR), failure)


def _end_of(code: int | None, seconds: float) -> str:
    if code is None:
        return f"it was ended after {seconds:.0f} s"
    return f"it ended with exit code {code}" if code >= 0 else f"it died of signal {-code}"


def reason(lines: Iterable[str]) -> str:
    """Return the line that says most about a failure: the job's own error, else the last one that names an error.

    A warning, or the note of a success, only counts where nothing else is.
    """
    texts = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("at ")]
    worse = [text for text in texts if not _LEVEL.search(text)]
    for pattern in (_OWN_ERROR, _ERROR):
        named = [text for text in worse if pattern.search(text)]
        if named:
            return named[-1]
    return next(iter(reversed(texts)), "it printed nothing")

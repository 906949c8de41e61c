"""The checks of a driver: those of its report, or one about the driver that has left none."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from lakekeeper_provider.doctor.checks import DRIVER, Check, Desk
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.options.option import DOCTOR
from lakekeeper_provider.report import report
from lakekeeper_provider.report.report import Report

#: So many of the last lines are kept, and looked through for the reason of a failure.
_KEPT = 200
#: Seconds between the two signals that end a driver.
_GRACE = 15
_ERROR = re.compile(r"\berror\b|\b\w*(Error|Exception)\b", re.IGNORECASE)
_OWN_ERROR = re.compile(r"^\w+\.py: error: ")
_TRIED = "start a job by spark-submit"
_ACTION = "The lines of spark-submit have the reason; `lakekeeper doctor --verbose` shows them"


def of_report(answer: Report) -> list[Check]:
    """Return the checks of a report; one that has none says why the job could not begin.

    Raises:
        ReportError: what it has are no checks
    """
    if answer.checks is None:
        return [failed(answer.error or "its report has no checks: another program has written it")]
    return [Check.of_job(check) for check in answer.checks]


def failed(found: str, action: str = _ACTION) -> Check:
    """Return the check of a driver that has left no report."""
    return Desk(DRIVER).bad("driver", _TRIED, found, action)


def not_asked(because: str) -> Check:
    """Return the check of a driver that was not started."""
    return Desk(DRIVER).not_asked("driver", _TRIED, because)


def ask(command: Sequence[str], line: ReportLine, seconds: float, show: Callable[[str], None]) -> list[Check]:
    """Run spark-submit until the job has ended, and return the driver's checks.

    Args:
        line: the line of the report; the command has its flags
        seconds: the job is ended after this time
        show: gets each line that spark-submit prints
    """
    # No shell reads these words, and the person who runs this command wrote them. In a session of its own, all of its
    # processes can be ended at once.
    process = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    kept: deque[str] = deque(maxlen=_KEPT)
    late = threading.Event()

    def end() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        for each in line.without(_lines(process)):
            kept.append(each.rstrip("\n"))
            show(each)
        code = process.wait()
    finally:
        timer.cancel()
        _end(process)
    if line.content:
        return of_report(report.parse(line.content, DOCTOR))
    why = (
        f"it was ended after {seconds:.0f} s"
        if late.is_set()
        else f"it ended with exit code {code}, without a report"
    )
    return [failed(f"{why}: {reason(kept)}")]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children. Spark withdraws its application from YARN, if it is given the time."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)


def _lines(process: subprocess.Popen[bytes]) -> Iterable[str]:
    for line in process.stdout or ():
        yield line.decode("utf-8", "replace")


def reason(lines: Iterable[str]) -> str:
    """Return the line that says most about a failure: the job's own error, else the last one that names an error."""
    texts = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("at ")]
    for pattern in (_OWN_ERROR, _ERROR):
        named = [text for text in texts if pattern.search(text)]
        if named:
            return named[-1]
    return texts[-1] if texts else "it printed nothing"

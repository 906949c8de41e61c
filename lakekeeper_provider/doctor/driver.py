"""The checks of a driver: those of its report, and one about a driver that has not ended as it should."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType

from lakekeeper_provider.doctor.checks import DRIVER, Check, Desk, is_bad
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.options.option import DOCTOR
from lakekeeper_provider.report import report
from lakekeeper_provider.report.report import Report

#: So many of the last lines are kept, and looked through for the reason of a failure.
_KEPT = 200
#: Seconds between the two signals that end a driver.
_GRACE = 15
#: What ends this process. A shell lets a command in the background ignore the first one, until it has a handler.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ERROR = re.compile(r"\berror\b|\b\w*(Error|Exception)\b", re.IGNORECASE)
_OWN_ERROR = re.compile(r"^\w+\.py: error: ")
_TRIED = "start a job by spark-submit"
_ACTION = "The lines of spark-submit have the reason; `lakekeeper doctor --verbose` shows them"


def of_report(answer: Report, failure: str | None = None) -> list[Check]:
    """Return the checks of a report, and one about the driver if it has not made all of them.

    Args:
        failure: how the process has failed, if it has

    Raises:
        ReportError: what it has are no checks
    """
    checks = [Check.of_job(check) for check in answer.checks or ()]
    if answer.ended is None or not checks:
        why = answer.error or failure or "it has not made all checks"
        return [*checks, failed(why)]
    # A bad check explains the exit code of a job.
    return [*checks, failed(failure)] if failure and not is_bad(checks) else checks


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
    with _process(command, seconds) as (process, late):
        for each in line.without(_lines(process)):
            kept.append(each.rstrip("\n"))
            show(each)
        code = process.wait()
    why = f"it was ended after {seconds:.0f} s" if late.is_set() else f"it ended with exit code {code}"
    failure = f"{why}: {reason(kept)}" if code or late.is_set() else None
    content = file.read_text("utf-8") if file.exists() else line.content
    if not content:
        return [failed(f"{why}, without a report: {reason(kept)}")]
    return of_report(report.parse(content, DOCTOR), failure)


@contextlib.contextmanager
def _process(
    command: Sequence[str], seconds: float
) -> Iterator[tuple[subprocess.Popen[bytes], threading.Event]]:
    """Start a program in a session of its own, which is ended with all of its processes if the block is left early."""
    late = threading.Event()
    # No shell reads these words, and the person who runs this command wrote them.
    process = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )

    def end() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        with _signals_raised():
            yield process, late
    except BaseException:
        _end(process)
        raise
    finally:
        timer.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the processes of the session. Spark withdraws its application from YARN, if it is given the time."""
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], sign: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sign)


@contextlib.contextmanager
def _signals_raised() -> Iterator[None]:
    """Raise KeyboardInterrupt for what ends this process: its driver is in another session, and would go on."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {sign: signal.signal(sign, interrupt) for sign in _ENDING}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


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

"""Run a job for the command ``lakekeeper``, and show its report as a text or as JSON."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from lakekeeper_provider.doctor import hadoop
from lakekeeper_provider.exceptions import ReportError
from lakekeeper_provider.launch import commands
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.options.option import CHECK, COMPACT, HISTORY
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report import report
from lakekeeper_provider.report import text as report_text
from lakekeeper_provider.report.report import ProcessFailure, Report, units_with
from lakekeeper_provider.shell import program

#: The jobs of these verbs print their result as a table themselves.
_PRINTED_BY_THE_JOB = (CHECK, HISTORY)

_GREEN, _YELLOW, _RED = "\x1b[32m", "\x1b[33m", "\x1b[31m"
_COLOURS = {"done": _GREEN, "partial": _YELLOW, "failed": _RED, "unsafe": _RED, "usage": _RED}


def run(
    command: Sequence[str],
    verb: str,
    line: ReportLine,
    json_report: Path | None = None,
    *,
    report_expected: bool = True,
) -> int:
    """Run spark-submit until the job has ended, and show its report.

    Args:
        line: the line of the report; the command has its flags
        json_report: the file to which the job writes its report: this report, and nothing else, goes to standard
            output. Without it, the report is shown as a text.
        report_expected: whether the job prints its report here, and not on a node of the cluster

    Returns:
        the worse one of the exit codes of the process and of the report
    """
    output = sys.stdout if json_report is None else sys.stderr
    with _interrupts_left_to_the_job():
        # No shell reads these words, and the person who runs this command wrote them.
        process = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603
        for each in line.without(_lines(process)):
            show(each, output)
        code = process.wait()
    text = line.content if json_report is None else _whole(json_report, line.content)
    if json_report is not None and text:
        show(f"{text.strip()}\n", sys.stdout)
    own = code if code >= 0 else 128 - code
    if not text:
        return _without_report(command, code, own) if report_expected else own
    try:
        answer = report.parse(text, verb)
    except ReportError as error:
        _complain(str(error))
        return max(own, 1, key=_severity)  # guard: wrong_report_no_success
    if json_report is None:
        _print_text(answer, verb)
    if own != answer.exit_code:
        _complain(f"{ProcessFailure(code, '')}, and its report says {answer.outcome}")
    return max(own, answer.exit_code, key=_severity)  # guard: worse_exit_code


def _without_report(command: Sequence[str], code: int, own: int) -> int:
    """Say that a job has left no report, and what to do; return the exit code.

    Args:
        code: the one of the process, below 0 for a signal
        own: the same, as a shell has it
    """
    if code == 0:
        _complain("the job ended without a report, so nothing is known of it")
    else:
        advice = hadoop.without_configuration(command, os.environ) or (
            "the lines above have the reason; `lakekeeper doctor` looks for it"
        )
        _complain(f"error: {ProcessFailure(code, '')}, and the job has left no report: {advice}")
    return own or 1  # guard: no_report_no_success


def _complain(text: str) -> None:
    show(f"lakekeeper: {one_line(text)}\n", sys.stderr)


def _severity(code: int) -> int:
    """Order exit codes. A job that died (137) is worse than one that has failed, but nothing is worse than unsafe."""
    return {0: 0, 1: 1, 2: 2, report.EXIT_CODES["unsafe"]: 4}.get(code, 3)


def show(text: str, output: TextIO | None) -> None:
    """Write a text. A reader that is gone, or cannot show a character, must not end the job or change its exit code.

    Args:
        output: None where the caller of this process has closed it
    """
    if output is None:
        return
    try:
        output.write(text)
        output.flush()
    except UnicodeEncodeError:
        output.write(
            text.encode(output.encoding or "ascii", "backslashreplace").decode(output.encoding or "ascii")
        )
        output.flush()
    except OSError:
        # Python would try to write what is left in the buffer once more at its end, and fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


@contextmanager
def _interrupts_left_to_the_job() -> Iterator[None]:
    """Ignore an interrupt here: it reaches the job too, which knows how to stop."""
    # A handler, and not SIG_IGN, which the job would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    for line in process.stdout or ():
        yield line.decode("utf-8", "replace")


def _whole(path: Path, printed: str | None) -> str | None:
    """Return the report; or its copy on the job's standard output, if the job could not write the file."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return printed


def _print_text(report: Report, verb: str) -> None:
    if verb not in _PRINTED_BY_THE_JOB:
        headline, _, rest = report_text.render(report, phases=False).partition("\n")
        show(f"{_coloured(headline, _COLOURS.get(report.outcome), sys.stdout)}\n{rest}\n", sys.stdout)
        show("".join(f"{line}\n" for line in _undo(report)), sys.stdout)
    for text in report_text.warnings(report):
        show(f"{_coloured('warning:', _YELLOW, sys.stderr)} {text}\n", sys.stderr)


def _undo(report: Report) -> list[str]:
    """Return how a person undoes a compaction from a shell."""
    done = [table["table"] for table in report.tables if units_with(table, ("compacted",))]
    if report.verb != COMPACT or not done or not report.run_id:
        return []
    words = [*commands.selection_flags(Selection(tuple(done))), "--run-id", report.run_id]
    return [one_line(f"to undo it: {program.name()} rollback {shlex.join(words)}")]


def _coloured(text: str, colour: str | None, output: TextIO) -> str:
    """Return a text in a colour on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    if colour is None or os.environ.get("NO_COLOR") or not output.isatty():
        return text
    return f"{colour}{text}\x1b[0m"

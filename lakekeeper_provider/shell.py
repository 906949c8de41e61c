"""Run a job for the command ``lakekeeper``, and show its report as a text or as JSON."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lakekeeper_provider import report, report_text
from lakekeeper_provider.exceptions import ReportError
from lakekeeper_provider.option import CHECK, HISTORY

#: The jobs of these verbs print their result as a table themselves.
_PRINTED_BY_THE_JOB = (CHECK, HISTORY)


def run(command: Sequence[str], verb: str, json_report: Path | None = None) -> int:
    """
    Run spark-submit until the job has ended, and show its report; return the exit code of the job.

    :param json_report: the file to which the job writes its report: this report, and nothing else, goes to standard
        output. Without it, the report is shown as a text.
    """
    output = sys.stdout if json_report is None else sys.stderr
    with _interrupts_left_to_the_job():
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        summary = None
        for line in _lines(process):
            if line.startswith(report.SENTINEL):
                summary = line[len(report.SENTINEL) :]
            else:
                print(line, end="", file=output, flush=True)
        code = process.wait()
    if json_report is not None:
        _print_json(json_report, summary)
    elif summary is not None:
        _print_text(summary, verb)
    return code if code >= 0 else 128 - code


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


def _print_json(path: Path, summary: str | None) -> None:
    """Print the report; or its copy on the job's standard output, if the job could not write the file."""
    try:
        print(path.read_text("utf-8"), flush=True)
    except FileNotFoundError:
        if summary is not None:
            print(summary.strip(), flush=True)


def _print_text(summary: str, verb: str) -> None:
    try:
        found = report.parse(summary, verb)
    except ReportError as error:
        print(f"lakekeeper: {error}", file=sys.stderr)
        return
    if verb not in _PRINTED_BY_THE_JOB:
        print(report_text.render(found), flush=True)
    for text in report_text.warnings(found):
        print(f"warning: {text}", file=sys.stderr, flush=True)

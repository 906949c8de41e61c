"""The program around a verb: parse the command line, start Spark, run, publish the report, return the exit code."""

from __future__ import annotations

import json
import logging
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from spark_jobs import __version__
from spark_jobs.adapters.composition import spark_services, start_spark, surroundings, tracking_url
from spark_jobs.core.messages.errors import SparkNotStarted, UsageError
from spark_jobs.core.messages.printable import printable
from spark_jobs.core.options.arguments import Invocation, parse, report_nonce
from spark_jobs.core.options.layers import parse_option
from spark_jobs.core.options.option import DOCTOR
from spark_jobs.core.wire.checks import Check
from spark_jobs.core.wire.report import Report
from spark_jobs.protocol.measuring.clock import utc_now
from spark_jobs.protocol.services import Services
from spark_jobs.verbs.doctor import examine, spark_failed
from spark_jobs.verbs.runner import keep_lines_printable, run

log = logging.getLogger("lakekeeper")


def main(verb: str, argv: Sequence[str], description: str) -> int:
    """Run one job, publish its report also after an error, and return the exit code."""
    report, nonce = Report(verb, __version__, started=utc_now()), report_nonce(argv)
    invocation: Invocation | None = None
    try:
        invocation = parse(verb, argv, description)
        _configure_logging(
            parse_option("log_level", invocation.options.get("log_level", "INFO"), "the command line")
        )
        began = time.monotonic()
        spark = start_spark(f"lakekeeper {verb}")
        _show(tracking_url(spark))
        services = spark_services(spark)
        services.phases.add("start", time.monotonic() - began)
        try:
            if verb == DOCTOR:
                examine(services, surroundings(spark), invocation, report, _shown(report, nonce, invocation))
            else:
                run(services, invocation, report)
        finally:
            _publish(report, nonce, invocation, services)
            spark.stop()
    except UsageError as error:
        report.error, report.usage = str(error), True
        _publish(report, nonce, invocation, None)
    except SparkNotStarted as error:
        log.debug("Spark does not start", exc_info=error)
        report.error = str(error)
        report.checks = spark_failed(str(error)) if verb == DOCTOR else None
        _publish(report, nonce, invocation, None)
    return report.exit_code


def _shown(report: Report, nonce: str | None, invocation: Invocation) -> Callable[[Check], None]:
    """Return what shows a check as soon as it is made: a caller reads it in the report, which has no end yet."""

    def show(check: Check) -> None:
        if nonce is None:
            print(check.text(), flush=True)
        with suppress(OSError):  # The whole report is written at the end, where an error is logged.
            _write_report(report, invocation, None)

    return show


def _show(tracking_url: str | None) -> None:
    """Print where the application can be watched, whatever the log level, in the words of YARN's own client."""
    if tracking_url:
        print(printable(f"tracking URL: {tracking_url}"), file=sys.stderr, flush=True)


def _publish(
    report: Report, nonce: str | None, invocation: Invocation | None, services: Services | None
) -> None:
    """Write the report file, and then print the last line to stdout.

    The line is printed even if the file cannot be written: the result of the job must not be lost.
    """
    report.ended = report.ended or utc_now()
    if report.error:
        print(printable(f"error: {report.error}"), file=sys.stderr)
    try:
        _write_report(report, invocation, services)
    except OSError as error:
        log.error("the report could not be written: %s", error)
    print(report.summary_line(nonce), flush=True)


def _write_report(report: Report, invocation: Invocation | None, services: Services | None) -> None:
    uri = invocation.report if invocation else None
    if uri is None:
        return
    data = json.dumps(report.to_json(), indent=1).encode()
    local = uri if "://" not in uri and not uri.startswith("file:") else None
    if local is None and uri.startswith("file:"):
        local = "/" + uri[len("file:") :].lstrip("/")
    if local is not None:
        _write_local(local, data)
    elif services is not None:
        services.fs.replace(uri, data)


def _write_local(path: str, data: bytes) -> None:
    """Write a local file atomically: a reader never sees a part of a report."""
    staged = Path(f"{path}.{uuid.uuid4().hex}.tmp")
    staged.write_bytes(data)
    staged.replace(path)


def _configure_logging(level: str) -> None:
    logging.basicConfig(
        level="WARNING", format="%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr
    )
    log.setLevel(level)
    keep_lines_printable(log)

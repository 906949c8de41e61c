"""The command ``doctor``: what is wrong between this machine and the tables, and what to do about it."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lakekeeper_provider import __version__
from lakekeeper_provider.doctor import driver, hadoop, machine, process
from lakekeeper_provider.doctor.checks import BAD, SHELL, WORKER, Check, Desk, is_bad, summary
from lakekeeper_provider.exceptions import ReportError, UsageError, said
from lakekeeper_provider.launch import commands
from lakekeeper_provider.launch.redaction import redacted
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.option import DOCTOR
from lakekeeper_provider.options.parsers import integer
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.shell import job, program, spark_command

_HELP = "Say what is wrong between this machine and the tables, and what to do. Changes nothing."
_SECONDS = 600
#: What only a worker of Airflow can be asked, and how a person asks it.
_OF_WORKER = {
    "provider": "compare the versions of Airflow's providers",
    "pool": "look at the pool of the task",
    "triggerer": "look for a triggerer",
    "report_dir": "exchange request and report with a driver",
}
_IN_AIRFLOW = "this is a shell: the action Doctor of lakekeeper_on_demand asks it"


def add_command(commands: Any) -> None:
    """Add the command to the parser's subcommands."""
    parser = commands.add_parser(DOCTOR, help=_HELP, description=f"{_HELP} Exit code 1: a check is bad.")
    parser.add_argument(
        "-c", "--config-file", metavar="PATH", default=argparse.SUPPRESS, help="YAML configuration file"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("-t", "--table", metavar="DB.TABLE", help="look at the directories of this table too")
    which.add_argument("--tables", metavar="DB.A,DB.B", help="of several tables")
    which.add_argument("-d", "--database", metavar="DB", help="of the first tables of a database")
    # The job writes a file: its line may be torn by others that Java writes at the same time.
    parser.set_defaults(json=True)
    parser.add_argument("--json", dest="as_json", action="store_true", help="print the checks as JSON")
    parser.add_argument(
        "--report",
        metavar="FILE",
        type=Path,
        help="also write all of it to a file that can be sent: credentials are masked",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        default=_SECONDS,
        type=_seconds,
        help=f"give the driver up after so long (default: {_SECONDS})",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show what spark-submit prints, on standard error"
    )


def _seconds(value: str) -> int:
    try:
        return int(integer(1)("", value))
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).lstrip(": ")) from None


def run(arguments: argparse.Namespace) -> int:
    """Make the checks, show each as it is made, and return 1 if any is bad.

    Raises:
        UsageError: the file of --report cannot be written
    """
    spark_command.job_flags(
        arguments, Config()
    )  # Before anything else: it names what is wrong with the tables.
    if arguments.report:
        _require_file(arguments.report, getattr(arguments, "config_file", None))
    with process.signals_raised():
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    checks: list[Check] = []
    for check in _checks(arguments):
        checks.append(check)
        if not arguments.as_json:
            job.show("".join(f"{line}\n" for line in check.lines()), sys.stdout)
    answer = _answer(checks)
    job.show(f"{json.dumps(answer, indent=1) if arguments.as_json else summary(checks)}\n", sys.stdout)
    if arguments.report:
        _write(arguments.report, answer)
    return 1 if is_bad(checks) else 0


def _checks(arguments: argparse.Namespace) -> Iterator[Check]:
    desk = Desk(SHELL)
    yield _package(desk)
    settings, configuration = machine.configuration(desk, arguments.config_file)
    yield configuration
    spark = spark_command.spark_of_shell(settings.spark_submit)
    found = machine.spark_submit(desk, spark.submit_command or "spark-submit")
    yield found
    yield hadoop.master(desk, commands.master(spark), os.environ)
    yield machine.ticket(desk, spark.keytab, os.environ)
    why = next(
        (f"the check {each.check} is bad" for each in (configuration, found) if each.outcome == BAD), None
    )
    yield from [driver.not_asked(why)] if why else _of_driver(arguments, settings)
    for check, tried in _OF_WORKER.items():
        yield Desk(WORKER).not_asked(check, tried, _IN_AIRFLOW)


def _package(desk: Desk) -> Check:
    tried, found = "ask which package answers", program.description().replace("\n", "; ")
    if program.other_version():
        return desk.advice(
            "package", tried, found, f"Call {program.OWN_NAME}, or uninstall the other package"
        )
    return desk.good("package", tried, found)


def _of_driver(arguments: argparse.Namespace, settings: Config) -> Sequence[Check]:
    """Start a job in client mode: in cluster mode, its report would be on a node."""
    spark, line = replace(settings.spark_submit, deploy_mode="client"), ReportLine()
    show = _shown if arguments.verbose else _unshown
    try:
        place = Path(tempfile.mkdtemp(prefix="lakekeeper-"))
    except OSError as error:
        return [
            driver.failed(f"no file can be written: {error}", "Make room, or set TMPDIR to another directory")
        ]
    try:
        command = spark_command.build_command(arguments, replace(settings, spark_submit=spark), place)
        command += line.flags
        job.show(f"Asking a driver: {one_line(shlex.join(redacted(command)))}\n", sys.stderr)
        file = spark_command.json_report(arguments, place)
        return driver.ask(command, line, file or place, arguments.timeout, show)
    except (ReportError, OSError) as error:
        return [driver.failed(str(error))]
    finally:
        # What a program still writes there must not hide the checks.
        shutil.rmtree(place, ignore_errors=True)


def _shown(line: str) -> None:
    job.show(line, sys.stderr)


def _unshown(_: str) -> None:
    """Show nothing: the checks have what counts."""


def _answer(checks: Sequence[Check]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "verb": DOCTOR,
        "version": __version__,
        "at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "outcome": "failed" if is_bad(checks) else "done",
        "checks": [check.to_json() for check in checks],
    }


def _require_file(path: Path, config_file: str | None) -> None:
    """Raise UsageError if the report cannot be written there: that is known before minutes are spent."""
    try:
        why = _unfit(path, config_file)
        if not why:
            path.open("a", encoding="utf-8").close()
    except (OSError, ValueError) as error:
        why = said(error)
    if why:
        raise UsageError(f"cannot write {path}: {why}")


def _unfit(path: Path, config_file: str | None) -> str | None:
    if path.exists() and not path.is_file():
        return "it is no file"
    if config_file and path.exists() and path.samefile(config_file):
        return "it is the configuration file"
    return None


def _write(path: Path, answer: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {said(error)}") from None
    job.show(f"wrote {path}\n", sys.stderr)

# PYTHON_ARGCOMPLETE_OK
"""The command ``lakekeeper``: the jobs of the operators, from a shell."""

from __future__ import annotations

import argparse
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import argcomplete

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch.redaction import redacted
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.options import config
from lakekeeper_provider.options.option import DOCTOR
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.shell import doctor, explain, generate, job, program, report, spark_command
from lakekeeper_provider.shell.parsers import build_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit code is the one of the job."""
    parser = build_parser()
    argcomplete.autocomplete(parser)
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help()
        return 2
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == explain.COMMAND:
            return explain.run(arguments, generate.documentation())
        if arguments.command == report.COMMAND:
            return report.run(arguments)
        if arguments.command == DOCTOR:
            return doctor.run(arguments)
        return generate.run(arguments) if generate.is_for(arguments.command) else run(arguments)
    except UsageError as error:
        print(f"{program.name()}: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        print(f"{program.name()}: interrupted", file=sys.stderr)
        return 128 + (interrupt.args[0] if interrupt.args else signal.SIGINT)


def run(arguments: argparse.Namespace) -> int:
    """Build the spark-submit command and run it."""
    settings = config.load(arguments.config_file)
    line = ReportLine()
    with tempfile.TemporaryDirectory(prefix="lakekeeper-") as directory:
        command = [*spark_command.build_command(arguments, settings, Path(directory)), *line.flags]
        if not shutil.which(command[0]):
            raise UsageError(
                f"{command[0]!r} was not found: install a Spark client, or set spark_submit.submit_command"
            )
        job.show(f"Launching: {one_line(shlex.join(redacted(command)))}\n", sys.stderr)
        in_cluster = spark_command.spark_of_shell(settings.spark_submit).deploy_mode == "cluster"
        where = spark_command.json_report(arguments, Path(directory))
        return job.run(command, arguments.command, line, where, report_expected=not in_cluster)


if __name__ == "__main__":
    sys.exit(main())

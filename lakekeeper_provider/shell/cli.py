# PYTHON_ARGCOMPLETE_OK
"""The command ``lakekeeper``: the jobs of the operators, from a shell."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import argcomplete

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch import bundle, commands, request
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.options import config
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import LEVELS, OPTIONS, parse_options
from lakekeeper_provider.options.option import (
    CHECK,
    CLEANUP,
    COMPACT,
    FORGET,
    HISTORY,
    ROLLBACK,
    VERBS,
    Flag,
    Option,
)
from lakekeeper_provider.options.parsers import Parser, integer
from lakekeeper_provider.options.retention import check_retention
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.options.spark_submit import SparkSubmit
from lakekeeper_provider.shell import explain, generate, program
from lakekeeper_provider.shell import job as shell
from lakekeeper_provider.shell.command_parser import EXIT_CODES, CommandParser

_HELP = {
    "analyze": "Report which tables need compaction. Changes no table.",
    "plan": "List what a compaction would do, in its order and within its limits. Changes no table.",
    "compact": "Compact Hive external tables; the originals are kept.",
    "rollback": "Put the originals of a compaction back.",
    "cleanup": "Delete kept originals and their backup tables. Those runs cannot be rolled back afterwards.",
    "forget": "End the record of originals that somebody deleted or changed. Deletes nothing.",
    "check": "Check journals, originals and backup tables. Writes nothing; exit code 1 means damage.",
    "history": "Show what was done to tables, and which runs can still be rolled back. Writes nothing.",
}
_RUN_ID = {
    COMPACT: "name of the run; a rollback can refer to it",
    ROLLBACK: "the run to roll back (default: the newest)",
    FORGET: "the run whose damaged originals are forgotten",
}
#: The arguments of single verbs that the jobs take too, and are no options.
_OWN, _OWN_SWITCHES = ("run_id", "writers", "limit"), ("yes", "read_data", "units", "snapshots")
#: What counts of a section `spark_submit` that is not enabled.
_OF_SHELL = (
    *("submit_command", "principal", "keytab", "use_krb5ccache"),
    *("driver_memory", "extra_conf", "extra_files", "py_files"),
)
#: The verbs that undo or end something: the command line names their tables, and the file does not.
_NAMED = (ROLLBACK, FORGET)
#: The verbs that work on what a dropped table has left.
_AT_LOCATION = (CLEANUP, FORGET, CHECK)
_WRITERS = "with --location: whether a directory that a writer recreated during a swap adds to the table or replaces it"
_PLAN = "what `lakekeeper plan --json` has printed: exactly its flagged units, in its order"
_READ_DATA = "compare the rows of originals and rewritten files too; reads all of both"


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
        return generate.run(arguments) if generate.is_for(arguments.command) else run(arguments)
    except UsageError as error:
        print(f"{program.name()}: error: {error}", file=sys.stderr)
        return 2


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; ``-c`` may stand before or after the command."""
    parser = CommandParser(
        prog=program.name(),
        description="Safe compaction of Hive external tables: analyze, compact, roll back, clean up.",
        epilog=f"{EXIT_CODES}\ndocumentation: {generate.documentation()}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-c", "--config-file", metavar="PATH", help="YAML configuration file")
    parser.add_argument(
        "--version", action=program.Version, nargs=0, help="which package this is, and its version"
    )
    verbs = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for verb in VERBS:
        _add_verb(verbs.add_parser(verb, help=_HELP[verb], description=_HELP[verb]), verb)
    generate.add_commands(verbs)
    explain.add_command(verbs)
    return parser


def _add_verb(parser: argparse.ArgumentParser, verb: str) -> None:
    # SUPPRESS: without it, the absent option here would wipe out the one given before the command.
    parser.add_argument(
        "-c", "--config-file", metavar="PATH", default=argparse.SUPPRESS, help="YAML configuration file"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the report as JSON, and nothing else on standard output"
    )
    which = parser.add_mutually_exclusive_group(required=verb in _NAMED)
    which.add_argument("-t", "--table", metavar="DB.TABLE", help="the table to work on")
    which.add_argument("--tables", metavar="DB.A,DB.B", help="several tables")
    which.add_argument("-d", "--database", metavar="DB", help="all the tables of a database")
    if verb in _AT_LOCATION:
        which.add_argument("--location", metavar="URI", help="what a dropped table left at its location")
    if verb == COMPACT:
        which.add_argument("--plan", metavar="FILE", help=_PLAN)
    _add_options(parser, verb)
    if verb in _RUN_ID:
        parser.add_argument("--run-id", metavar="ID", required=verb == FORGET, help=_RUN_ID[verb])
    if verb == FORGET:
        parser.add_argument("--yes", action="store_true", help="do it; without this flag nothing is changed")
    if verb == CLEANUP:
        parser.add_argument("--writers", choices=("append", "overwrite"), help=_WRITERS)
    if verb == CHECK:
        parser.add_argument("--read-data", action="store_true", help=_READ_DATA)
    if verb == HISTORY:
        parser.add_argument(
            "--limit", metavar="N", type=_typed("limit", integer(1)), help="only the newest N rows"
        )
        parser.add_argument("--units", action="store_true", help="also what was done to each partition")
        parser.add_argument(
            "--snapshots",
            action="store_true",
            help="also the snapshots of the commit log, and their manifests",
        )


def _add_options(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the options of a verb, level by level."""
    for level in LEVELS:
        group = parser.add_argument_group(level)
        for option in OPTIONS.values():
            if option.flag and verb in option.flag.verbs and option.level == level:
                _add_option(group, option.flag, option)


def _add_option(parser: Any, flag: Flag, option: Option) -> None:
    if isinstance(option.default, bool):
        parser.add_argument(flag.name, dest=option.key, action="store_const", const=True, help=option.help)
        if flag.off:
            text = f"the opposite of {flag.name}"
            parser.add_argument(flag.off, dest=option.key, action="store_const", const=False, help=text)
        return
    shown = "" if option.default is None else f" (default: {option.default})"
    parser.add_argument(
        flag.name,
        dest=option.key,
        metavar=flag.metavar or "{" + ",".join(option.parse.schema["enum"]) + "}",
        type=_typed(option.key, option.parse),
        choices=option.parse.schema.get("enum"),
        help=f"{option.help}{shown}",
    )


def _typed(key: str, parser: Parser) -> Any:
    def parse(value: str) -> Any:
        try:
            return parser("", value)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error).lstrip(": ")) from None

    parse.__name__ = key
    return parse


def run(arguments: argparse.Namespace) -> int:
    """Build the spark-submit command and run it."""
    settings = config.load(arguments.config_file)
    line = ReportLine()
    with tempfile.TemporaryDirectory(prefix="lakekeeper-") as directory:
        command = [*build_command(arguments, settings, Path(directory)), *line.flags]
        if not shutil.which(command[0]):
            raise UsageError(
                f"{command[0]!r} was not found: install a Spark client, or set spark_submit.submit_command"
            )
        print(f"Launching: {shlex.join(commands.redacted(command))}", file=sys.stderr, flush=True)
        in_cluster = _shell_spark(settings.spark_submit).deploy_mode == "cluster"
        where = _json_report(arguments, Path(directory))
        return shell.run(command, arguments.command, line, where, report_expected=not in_cluster)


def build_command(arguments: argparse.Namespace, settings: Config, directory: Path) -> list[str]:
    """Return the command; ``directory`` takes the bundle and the request."""
    spark = _shell_spark(settings.spark_submit)
    flags = job_flags(arguments, settings)
    if getattr(arguments, "plan", None):
        spark, where = _place_plan(spark, Path(arguments.plan))
        flags = ["--plan", where, *flags]
    remaining = request_of(settings)
    json_report = _json_report(arguments, directory)
    if json_report is not None:
        if spark.deploy_mode == "cluster":
            raise UsageError(
                "--json needs client mode: in cluster mode the report is written where the driver runs"
            )
        flags += ["--report", str(json_report)]
    if remaining:
        spark, where = _place_request(spark, request.dump(remaining), directory)
        flags += ["--request", where]
    if spark.script_path:
        return commands.spark_submit_command(spark, spark.script_path, [arguments.command, *flags])
    jobs = [str(bundle.build_bundle(directory))]
    return commands.spark_submit_command(spark, str(bundle.job_script(arguments.command)), flags, jobs)


def _json_report(arguments: argparse.Namespace, directory: Path) -> Path | None:
    return directory / "report.json" if getattr(arguments, "json", False) else None


def job_flags(arguments: argparse.Namespace, settings: Config) -> list[str]:
    """Return the flags that were given; a file's options travel in the request, below table properties."""
    given = parse_options({key: getattr(arguments, key, None) for key in OPTIONS})
    flags = [*_selected(arguments, given, settings), *commands.option_flags(given)]
    own = {name: getattr(arguments, name, None) for name in _OWN}
    flags += [word for name, value in own.items() if value for word in (_flag(name), str(value))]
    return flags + [_flag(name) for name in _OWN_SWITCHES if getattr(arguments, name, False)]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _selected(arguments: argparse.Namespace, given: Mapping[str, Any], settings: Config) -> list[str]:
    if getattr(arguments, "plan", None):
        return []
    location = getattr(arguments, "location", None)
    if location:
        return ["--location", location]
    named = (arguments.table, arguments.tables, arguments.database)
    if not any(name is not None for name in named):
        if settings.selection is None:
            raise UsageError(
                "nothing is named to work on: give --table, --tables or --database, or one of these keys in the"
                " configuration file"
            )
        if arguments.command == CLEANUP and "older_than" not in given and not given.get("keep_last"):
            check_retention(given, settings, settings.selection)
        return commands.selection_flags(settings.selection)
    return commands.selection_flags(Selection.of(*named))


def request_of(settings: Config) -> dict[str, Any] | None:
    """Return the request for what the file says beyond the defaults, or None."""
    changed = {key: value for key, value in settings.settings.items() if value != OPTIONS[key].default}
    built = request.build_request(replace(settings, settings=changed), {})
    return built if len(built) > 1 else None


def _place_request(spark: SparkSubmit, content: bytes, directory: Path) -> tuple[SparkSubmit, str]:
    path = directory / "lakekeeper-request.json"
    path.write_bytes(content)
    return _place(spark, path)


def _place_plan(spark: SparkSubmit, path: Path) -> tuple[SparkSubmit, str]:
    if not path.is_file():
        raise UsageError(f"--plan: there is no file {path}; `lakekeeper plan --json` prints a plan")
    return _place(spark, path.resolve())


def _place(spark: SparkSubmit, path: Path) -> tuple[SparkSubmit, str]:
    """Return where the driver finds a file of this machine."""
    if spark.deploy_mode != "cluster":
        return spark, f"file://{path}"
    # The driver runs elsewhere: --files puts the file into its working directory.
    return replace(spark, extra_files=(*spark.extra_files, str(path))), path.name


def _shell_spark(spark: SparkSubmit) -> SparkSubmit:
    if not spark.enabled:
        return SparkSubmit(**{name: getattr(spark, name) for name in _OF_SHELL})
    if spark.deploy_mode == "cluster":
        # A second attempt by YARN would start while the first may still be at work.
        conf = {"spark.yarn.maxAppAttempts": "1", **spark.extra_conf}
        return replace(spark, extra_conf=conf)
    return spark


if __name__ == "__main__":
    sys.exit(main())

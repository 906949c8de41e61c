"""The parsers of the command ``lakekeeper``, by its verbs and the options that they have."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.definitions import LEVELS, OPTIONS
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
from lakekeeper_provider.shell import doctor, explain, generate, program, report, time_of_day
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
#: The verbs that undo or end something: the command line names their tables, and the file does not.
_NAMED = (ROLLBACK, FORGET)
#: The verbs that work on what a dropped table has left.
_AT_LOCATION = (CLEANUP, FORGET, CHECK)
_WRITERS = "with --location: whether a directory that a writer recreated during a swap adds to the table or replaces it"
_PLAN = "what `lakekeeper plan --json` has printed: exactly its flagged units, in its order"
#: The option that a person may give as a time of day; the jobs know instants only.
_DEADLINE, _TIME_OF_DAY = "deadline", "; HH:MM is the next such time of this machine's clock"
_READ_DATA = "compare the rows of originals and rewritten files too; reads all of both"


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
    doctor.add_command(verbs)
    generate.add_commands(verbs)
    explain.add_command(verbs)
    report.add_command(verbs)
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
    shown += _TIME_OF_DAY if option.key == _DEADLINE else ""
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
        given = time_of_day.instant(value, datetime.now()) if key == _DEADLINE else value
        try:
            return parser("", given)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error).lstrip(": ")) from None

    parse.__name__ = key
    return parse

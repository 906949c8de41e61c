"""The command lines of the jobs (docs/wire.md).

They are only parsed here. Values are checked when all layers of options are merged (`core/options/layers.py`).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from spark_jobs import __version__
from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.printable import shortened, shown
from spark_jobs.core.options.definitions import DEFAULTS, OPTIONS
from spark_jobs.core.options.option import (
    CHECK,
    CLEANUP,
    COMPACT,
    DOCTOR,
    FORGET,
    HISTORY,
    ROLLBACK,
    Level,
    Option,
)
from spark_jobs.core.options.parsers import number
from spark_jobs.core.values.layout import check_run_id

_RUN_ID = {
    COMPACT: "name of the run; a rollback can refer to it",
    ROLLBACK: "the run to roll back (default: the newest)",
    FORGET: "the run whose damaged originals are forgotten",
}
_SELECTIONS = ("table", "tables", "database", "location", "plan")
_NOTHING_NAMED = "nothing is named to work on; see --help: give --table, --tables or --database"
#: The verbs that undo or end something: the command line names their tables, and a file does not.
_NAMED = (ROLLBACK, FORGET)
#: The verbs that work on what a dropped table has left.
_AT_LOCATION = (CLEANUP, FORGET, CHECK)
_WRITERS = "with --location: whether a directory that a writer recreated during a swap adds to the table or replaces it"
_PLAN = "the report of a plan (JSON): exactly its flagged units, in its order"
#: This many rows of a history may be asked for.
_ROWS = number(int, 1, 1_000_000_000)
_READ_DATA = "compare the rows of originals and rewritten files too; reads all of both"
_NONCE_FLAG = "--report-nonce"
_NONCE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NONCE_HELP = "a word that only the caller knows: the report's line on stdout begins with it"


@dataclass(frozen=True)
class Invocation:
    """A parsed command line.

    Attributes:
        options: only those that were given; values are text, except for booleans.
        limit: the number of rows of a history to show; None for all.
        units: show what was done to each unit in a history.
        snapshots: show the snapshots of the commit log in a history.
        yes: do what `forget` says, instead of only saying it.
        read_data: compare rows in a check.
        location: the location of a dropped table, which some verbs may work on instead of tables.
        writers: what writers of a dropped table did: its properties are gone.
        plan: the URI of the report of a plan, whose units are compacted in its order.
    """

    verb: str
    tables: tuple[str, ...]
    database: str | None
    options: dict[str, Any]
    run_id: str | None
    config_file: str | None
    request: str | None
    report: str | None
    limit: int | None = None
    units: bool = False
    snapshots: bool = False
    yes: bool = False
    read_data: bool = False
    location: str | None = None
    writers: str | None = None
    plan: str | None = None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{shortened(message)}; see --help")


def parse(verb: str, argv: Sequence[str], description: str) -> Invocation:
    """Parse a command line.

    `--help` and `--version` print their text and exit.

    Raises:
        UsageError: the command line is not valid.
    """
    given = vars(_parser(verb, description).parse_args(argv))
    given.pop("report_nonce", None)  # `report_nonce` reads it
    chosen = any(name in given for name in _SELECTIONS)
    if not chosen and verb != DOCTOR and (verb in _NAMED or "config_file" not in given):
        raise UsageError(
            _NOTHING_NAMED if verb in _NAMED else f"{_NOTHING_NAMED}, or a file that names them (-c)"
        )
    tables, database = (
        _split_names(given.pop("table", "") + given.pop("tables", "")),
        given.pop("database", None),
    )
    location, plan = given.pop("location", None), given.pop("plan", None)
    if chosen and not tables and not database and not location and not plan:
        raise UsageError(
            "--table, --tables, --database, --location or --plan has an empty value; name a table or a database, see"
            " --help"
        )
    writers = given.pop("writers", None)
    if writers and not location:
        raise UsageError(
            "--writers is for a dropped table (--location); of any other, set the property lakekeeper.writers"
        )
    run_id = given.pop("run_id", None)
    return Invocation(
        verb=verb,
        tables=tables,
        database=database,
        run_id=None if run_id is None else check_run_id(run_id),
        config_file=given.pop("config_file", None),
        request=given.pop("request", None),
        report=given.pop("report", None),
        limit=given.pop("limit", None),
        units=given.pop("units", False),
        snapshots=given.pop("snapshots", False),
        yes=given.pop("yes", False),
        read_data=given.pop("read_data", False),
        location=location,
        writers=writers,
        plan=plan,
        options=given,
    )


def report_nonce(argv: Sequence[str]) -> str | None:
    """Return the nonce of a command line, which need not be valid otherwise: its caller waits for a report too."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument(_NONCE_FLAG, type=_nonce)
    try:
        nonce: str | None = parser.parse_known_args(argv)[0].report_nonce
    except UsageError:
        return None
    return nonce


def _split_names(tables: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in tables.split(",") if name.strip())


def _parser(verb: str, description: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"{verb}.py",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    _add_common(parser, verb)
    if verb in _RUN_ID:
        parser.add_argument("--run-id", metavar="ID", required=verb == FORGET, help=_RUN_ID[verb])
    if verb == FORGET:
        parser.add_argument("--yes", action="store_true", help="do it; without this flag nothing is changed")
    if verb == CHECK:
        parser.add_argument("--read-data", action="store_true", help=_READ_DATA)
    if verb == CLEANUP:
        parser.add_argument("--writers", choices=("append", "overwrite"), help=_WRITERS)
    if verb == HISTORY:
        parser.add_argument(
            "--limit", metavar="N", type=_positive, help="only the newest N rows (default: all)"
        )
        parser.add_argument("--units", action="store_true", help="also what was done to each partition")
        parser.add_argument(
            "--snapshots",
            action="store_true",
            help="also the snapshots of the commit log, and their manifests",
        )
    for level in Level:
        _add_level(parser.add_argument_group(level.value), verb, level)
    return parser


def _add_level(parser: Any, verb: str, level: Level) -> None:
    """Add the options of one level."""
    groups: dict[str | None, Any] = {None: parser}
    for name, option in OPTIONS.items():
        if option.flag and verb in option.verbs and option.level is level:
            if option.group not in groups:
                groups[option.group] = parser.add_mutually_exclusive_group()
            _add_option(groups[option.group], name, option)


def _add_common(parser: argparse.ArgumentParser, verb: str) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-t", "--table", metavar="DB.TABLE", help="one table")
    what.add_argument("--tables", metavar="DB.A,DB.B", help="several tables")
    what.add_argument("-d", "--database", metavar="DB", help="all tables of a database")
    if verb in _AT_LOCATION:
        what.add_argument("--location", metavar="URI", help="what a dropped table left at its location")
    if verb == COMPACT:
        what.add_argument("--plan", metavar="URI", help=_PLAN)
    parser.add_argument("-c", "--config-file", metavar="FILE", help="configuration file, YAML or JSON")
    parser.add_argument(
        "--request", metavar="URI", help="resolved configuration and the units to work on (JSON)"
    )
    parser.add_argument("--report", metavar="URI", help="where to write the report (JSON)")
    parser.add_argument(_NONCE_FLAG, metavar="WORD", type=_nonce, help=_NONCE_HELP)
    parser.add_argument("--version", action="version", version=f"lakekeeper jobs {__version__}")


def _add_option(parser: Any, name: str, option: Option) -> None:
    """Add the flags of one option. Its value stays text until all layers of options are merged."""
    default = getattr(DEFAULTS, name)
    if isinstance(default, bool):
        flags = parser.add_mutually_exclusive_group() if option.off_flag else parser
        flags.add_argument(option.flag, dest=name, action="store_true", help=option.help)
        if option.off_flag:
            flags.add_argument(
                option.off_flag, dest=name, action="store_false", help=f"the opposite of {option.flag}"
            )
        return
    fold = str.upper if option.choices and option.choices[0].isupper() else str
    shown = f" (default: {default})" if default else ""
    parser.add_argument(
        option.flag,
        dest=name,
        metavar=option.metavar,
        choices=option.choices or None,
        type=fold,
        help=option.help + shown,
    )


def _positive(text: str) -> int:
    try:
        return int(_ROWS(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected {_ROWS.allowed}, got {shown(text)}") from None


def _nonce(text: str) -> str:
    if not _NONCE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected up to 64 letters, digits, _ and -, got {shown(text)}")
    return text

"""The jobs' command lines (docs/wire.md). Parsing only: values are checked where all layers meet."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from spark_jobs import __version__
from spark_jobs.core.errors import UsageError
from spark_jobs.core.layout import check_run_id

VERBS = ("analyze", "compact", "rollback", "cleanup", "history")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@dataclass(frozen=True)
class Invocation:
    """A parsed command line; `options` holds only what was given. `limit` is how many rows of a history to show."""

    verb: str
    tables: tuple[str, ...]
    database: str | None
    options: dict[str, Any]
    run_id: str | None
    config_file: str | None
    request: str | None
    report: str | None
    limit: int | None = None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see --help")


def parse(verb: str, argv: Sequence[str], description: str) -> Invocation:
    """Raises UsageError; `--help` and `--version` print and exit."""
    given = vars(_parser(verb, description).parse_args(argv))
    tables, database = _named(given.pop("table", "") + given.pop("tables", "")), given.pop("database", None)
    if not tables and not database:
        raise UsageError("--table, --tables and --database want a name, and got an empty one; see --help")
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
        options=given,
    )


def _named(tables: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in tables.split(",") if name.strip())


def _parser(verb: str, description: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"{verb}.py",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    _common(parser)
    if verb in ("analyze", "compact"):
        _thresholds(parser)
        _full_scan(parser)
        _selection(parser)
    own = {"compact": _compact, "rollback": _rollback, "cleanup": _cleanup, "history": _history}
    own.get(verb, _nothing)(parser)
    return parser


def _nothing(parser: argparse.ArgumentParser) -> None:
    """analyze has no options of its own."""


def _common(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--table", metavar="DB.TABLE", help="one table")
    what.add_argument("--tables", metavar="DB.A,DB.B", help="several tables")
    what.add_argument("--database", metavar="DB", help="all tables of a database")
    parser.add_argument(
        "--include", metavar="GLOB", help="with --database: only tables whose names match (commas)"
    )
    parser.add_argument(
        "--exclude", metavar="GLOB", help="with --database: no tables whose names match (commas)"
    )
    parser.add_argument("-c", "--config-file", metavar="F", help="configuration, YAML or JSON")
    parser.add_argument(
        "--request", metavar="URI", help="resolved configuration and the units to work on (JSON)"
    )
    parser.add_argument("--report", metavar="URI", help="where to write the report (JSON)")
    parser.add_argument(
        "--trusted-owners",
        metavar="A,B",
        help="other accounts whose journals, and partitions outside a root, count (the root's owner's do)",
    )
    parser.add_argument("--log-level", choices=_LEVELS, type=str.upper, help="default INFO")
    parser.add_argument("--version", action="version", version=f"lakekeeper jobs {__version__}")


def _thresholds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--block-size", dest="block_size_mb", metavar="MB", help="HDFS block size in MB (128)"
    )
    parser.add_argument(
        "--ratio-threshold",
        dest="compaction_ratio_threshold",
        metavar="R",
        help="small is under block size / R (10)",
    )
    parser.add_argument("--min-input-files", metavar="N", help="leave directories with fewer files alone (2)")
    parser.add_argument(
        "--target-file-size", metavar="512mb", help="size of the files to write (the block size)"
    )


def _full_scan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--full-scan", action="store_true", help="list every directory, also those that have not changed"
    )


def _selection(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--partitions", metavar="JSON", help='partition specs, also partial: [{"date": "2026-02-23"}]'
    )
    which.add_argument(
        "--where", metavar="SQL", help="a condition on the partition keys: date >= '2026-02-01'"
    )


def _compact(parser: argparse.ArgumentParser) -> None:
    _dry_run(parser)
    parser.add_argument("--sort-columns", metavar="A,B", help="sort the rewritten files by these columns")
    stats = parser.add_mutually_exclusive_group()
    name = "analyze_after_compaction"
    stats.add_argument(
        "--analyze-stats", dest=name, action="store_true", help="compute statistics afterwards"
    )
    stats.add_argument(
        "--no-analyze-stats", dest=name, action="store_false", help="overrides the configuration"
    )
    parser.add_argument("--run-id", metavar="ID", help="name of the run, for a rollback of just this one")
    parser.add_argument("--deadline", metavar="ISO8601", help="swap nothing after this instant")
    parser.add_argument(
        "--verify", choices=["count", "hash"], help="how the result is checked: rows and types, or values too"
    )
    parser.add_argument(
        "--on-failure", choices=["keep", "undo"], help="units already swapped when another fails (keep)"
    )
    _parallelism(parser)


def _rollback(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run-id", metavar="ID", help="the run to undo (the newest)")
    parser.add_argument(
        "--on-new-data", choices=["keep", "refuse"], help="rows added since the compaction (keep)"
    )
    _parallelism(parser)


def _cleanup(parser: argparse.ArgumentParser) -> None:
    _dry_run(parser)
    parser.add_argument("--older-than", metavar="7d", help="only runs older than this (all)")
    parser.add_argument("--keep-last", metavar="N", help="always keep the newest N runs (0)")
    parser.add_argument(
        "--skip-trash", action="store_true", help="delete for good instead of moving to the trash"
    )
    _parallelism(parser)


def _history(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", metavar="N", type=_positive, help="only the newest N rows (all)")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got '{text}'")
    return int(text)


def _dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="decide and report, write nothing")


def _parallelism(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parallelism", metavar="N", help="units worked on side by side (4)")

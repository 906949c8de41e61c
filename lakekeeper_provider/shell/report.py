"""The command ``report``: a report that was kept, as a text or as one page of HTML."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from lakekeeper_provider.exceptions import ReportError, UsageError, said
from lakekeeper_provider.report import report as reports
from lakekeeper_provider.report import text as report_text
from lakekeeper_provider.report.report import Report
from lakekeeper_provider.shell import job

COMMAND = "report"
_STANDARD_OUTPUT = "-"
_HELP = "Show a report that was kept (--report, report_dir), as a text or as a page of HTML."


def add_command(commands: Any) -> None:
    """Add the command to the parser's subcommands."""
    parser = commands.add_parser(COMMAND, help=_HELP, description=_HELP)
    parser.add_argument("file", metavar="FILE", type=Path, help="the report, as JSON")
    parser.add_argument(
        "--html", action="store_true", help="write one page of HTML that needs no network and no other file"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="the page (default: beside FILE, with .html); - for standard output",
    )


def run(arguments: argparse.Namespace) -> int:
    """Show the report, or write the page. An existing page is replaced.

    Raises:
        UsageError: the report cannot be read, or the page cannot be written
    """
    text = _shown(arguments.file, html=arguments.html)
    if not arguments.html:
        job.show(f"{text}\n", sys.stdout)
        return 0
    output = arguments.output or _beside(arguments.file)
    if output == _STANDARD_OUTPUT:
        job.show(text, sys.stdout)
        return 0
    _write(Path(output), text, arguments.file)
    job.show(f"wrote {output}\n", sys.stdout)
    return 0


def _beside(report: Path) -> str:
    """Return the name of the page: a report may have any name, and each has a page of its own."""
    return str(report.with_suffix(".html") if report.suffix == ".json" else Path(f"{report}.html"))


def _write(page: Path, text: str, report: Path) -> None:
    try:
        if page.exists() and page.samefile(report):
            raise UsageError(f"{page} is the report itself: name another file with --output")
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {page}: {said(error)}") from None


def _shown(path: Path, *, html: bool) -> str:
    """Return a report as a text or a page. A file that no job has written may have anything anywhere."""
    try:
        report = _read(path)
        if not html:
            return report_text.render(report)
        # Only here, and for this command: no other one needs templates.
        from lakekeeper_provider.report.html.page import page

        return page(report)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(
            f"{path} is no report as jobs write it: {type(error).__name__}: {said(error)}"
        ) from None


def _read(path: Path) -> Report:
    try:
        content = path.read_text("utf-8")
        verb = json.loads(content)["verb"]
        return reports.parse(content, str(verb))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {said(error)}") from None
    except ReportError as error:
        raise UsageError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is no report: it is not JSON with a verb") from None

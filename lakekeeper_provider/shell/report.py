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
        "-o", "--output", metavar="PATH", help="the page (default: FILE with .html); - for standard output"
    )


def run(arguments: argparse.Namespace) -> int:
    """Show the report, or write the page. An existing page is replaced.

    Raises:
        UsageError: the report cannot be read, or the page cannot be written
    """
    report = _read(arguments.file)
    if not arguments.html:
        job.show(f"{report_text.render(report)}\n", sys.stdout)
        return 0
    # Only here, and for this command: no other one needs templates.
    from lakekeeper_provider.report.html.page import page

    output = arguments.output or str(arguments.file.with_suffix(".html"))
    if output == _STANDARD_OUTPUT:
        job.show(page(report), sys.stdout)
        return 0
    try:
        Path(output).write_text(page(report), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {said(error)}") from None
    job.show(f"wrote {output}\n", sys.stdout)
    return 0


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

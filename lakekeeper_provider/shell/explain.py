"""The command ``explain``: what a code or an outcome means, and what to do, from the page of codes."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakekeeper_provider.exceptions import UsageError, nearest
from lakekeeper_provider.shell import job

COMMAND = "explain"
_PAGE = "codes.md"
_WIDTH = 100
_HEADING = re.compile(r"## (.+)")
_ROW = re.compile(r"\| (.+) \|")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


@dataclass(frozen=True)
class Entry:
    """A row of the page.

    Args:
        code: the code or the outcome
        kind: the heading above the table of the row
        texts: the other cells, by the heads of their columns
    """

    code: str
    kind: str
    texts: dict[str, str]

    def lines(self) -> list[str]:
        """Return the entry for a person."""
        shown = [f"{self.code} ({self.kind})"]
        for head, text in self.texts.items():
            shown += textwrap.wrap(text, _WIDTH, initial_indent=f"  {head}: ", subsequent_indent="    ")
        return shown


def add_command(commands: Any) -> None:
    """Add the command to the parser's subcommands."""
    parser = commands.add_parser(
        COMMAND,
        help="Say what a code or an outcome means, and what to do.",
        description="Say what a code or an outcome of a report means, and what to do. Without one, list all of them.",
    )
    parser.add_argument("code", nargs="?", metavar="CODE", help="such as BUCKETED or quarantined")


def run(arguments: argparse.Namespace, documentation: Path) -> int:
    """Print what is known of a code, or all codes.

    Raises:
        UsageError: there is no such code
    """
    entries = list(_entries((documentation / _PAGE).read_text("utf-8")))
    lines = _all(entries) if arguments.code is None else _one(entries, arguments.code)
    job.show("".join(f"{line}\n" for line in lines), sys.stdout)
    return 0


def _one(entries: list[Entry], code: str) -> list[str]:
    found = [entry for entry in entries if entry.code.lower() == code.lower()]
    if not found:
        raise UsageError(
            f"there is no code {code!r}{nearest(code.upper(), {entry.code for entry in entries})}"
        )
    return [line for entry in found for line in entry.lines()]


def _all(entries: list[Entry]) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry.code)
    return [line for kind, codes in kinds.items() for line in (f"{kind}:", *(f"  {code}" for code in codes))]


def _entries(page: str) -> Iterator[Entry]:
    """Return the rows of the tables whose first cell is a code."""
    kind: str = ""
    heads: list[str] = []
    for line in page.splitlines():
        heading, row = _HEADING.fullmatch(line), _ROW.fullmatch(line)
        kind = heading[1] if heading else kind
        if row is None:
            heads = []
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row[1])]
        code = re.fullmatch(r"`([\w-]+)`", cells[0])
        if not heads:
            heads = cells
        elif code and kind:
            texts = [_LINK.sub(r"\1", cell).replace(r"\|", "|").replace("`", "") for cell in cells[1:]]
            yield Entry(code[1], kind, dict(zip(heads[1:], texts)))

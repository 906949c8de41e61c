"""The parser of the command line: it names the command or option that was meant, and its help ends with exit codes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from lakekeeper_provider.exceptions import nearest
from lakekeeper_provider.options.option import DOCTOR, VERBS
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.shell import explain, report
from lakekeeper_provider.shell.generate import COMMANDS

EXIT_CODES = """\
exit codes:
  0  done, or nothing to do
  1  a table or unit failed, was busy, or was refused although it was named; a check has found damage
  2  wrong usage or configuration
  3  a unit is in a state that needs a person
"""


class CommandParser(argparse.ArgumentParser):
    """A parser that names the command or the option that was meant, in one line, and takes no abbreviations.

    An abbreviation would mean another option as soon as one is added that begins with it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; the parser of the command itself says what it does not know, and not the one above it."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown[0]))
        return parsed, unknown

    def _unknown(self, word: str) -> str:
        flag = word.partition("=")[0]
        if flag.startswith("-"):
            return f"there is no option {flag}{nearest(flag, self._option_string_actions)}"
        meant = " (did you mean --table or --database?)" if "--table" in self._option_string_actions else ""
        return f"unrecognized argument {word!r}{meant}"

    def error(self, message: str) -> NoReturn:
        """Exit with one line: the usage of a command with many options would hide it."""
        found = re.match(r"argument COMMAND: invalid choice: '([^']*)'", message)
        known = (*VERBS, DOCTOR, *COMMANDS, explain.COMMAND, report.COMMAND)
        text = f"there is no command {found[1]!r}{nearest(found[1], known)}" if found else message
        self.exit(2, f"{self.prog}: error: {one_line(text)}; `{self.prog} --help` has all options\n")

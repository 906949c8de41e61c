"""The parser of the command line: it names the command that was meant, and its help ends with the exit codes."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from lakekeeper_provider.exceptions import nearest
from lakekeeper_provider.options.option import DOCTOR, VERBS
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.shell import explain
from lakekeeper_provider.shell.generate import COMMANDS

EXIT_CODES = """\
exit codes:
  0  done, or nothing to do
  1  a table or unit failed, was busy, or was refused although it was named; a check has found damage
  2  wrong usage or configuration
  3  a unit is in a state that needs a person
"""


class CommandParser(argparse.ArgumentParser):
    """A parser that names the command that was meant."""

    def error(self, message: str) -> NoReturn:
        found = re.match(r"argument COMMAND: invalid choice: '([^']*)'", message)
        known = (*VERBS, DOCTOR, *COMMANDS, explain.COMMAND)
        text = f"there is no command {found[1]!r}{nearest(found[1], known)}" if found else message
        super().error(one_line(text))

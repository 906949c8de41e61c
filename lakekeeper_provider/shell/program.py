"""The name of the command, and which package it is of."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn

from lakekeeper_provider import __version__

NAME = "lakekeeper"
#: The second name of the command. Nobody else has it.
OWN_NAME = "lakekeeper-hive"
DISTRIBUTION = "lakekeeper-hive-jobs"
#: Lakekeeper 0.0.6 on PyPI has a command of the first name. Of two that are installed, the later one has replaced the
#: other.
_OTHER = "lakekeeper"


def name() -> str:
    """Return the name of the command that is ours in this environment for certain."""
    return OWN_NAME if other_version() else NAME


def other_version() -> str | None:
    """Return the version of the other program that is installed in this environment; None if it is not."""
    try:
        return version(_OTHER)
    except PackageNotFoundError:
        return None


def description() -> str:
    """Return which package answers: its version and place, and what else has a command of this name."""
    place = Path(__file__).parents[1]
    lines = [f"{NAME} {__version__} ({DISTRIBUTION} in {place}, Python {platform.python_version()})"]
    if other := other_version():
        lines.append(
            f"lakekeeper {other} is installed here too, with a command of this name; {OWN_NAME} is ours"
        )
    return "\n".join(lines)


class Version(argparse.Action):
    """The option that prints the description, in its lines, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print it."""
        print(description())
        parser.exit()

"""The libraries of the engines, by Maven: each kind in a folder of its own, fetched when it is asked for.

`python3 -m tests.engines.jars NAME...` fetches some of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from demo.services import paths
from tests.harness.maven import Jars, NoJars

_POMS = Path(__file__).with_name("maven")
#: The name of each folder of `maven`, and what it has.
SHOWN = {
    "hive3": "Hive 3.1.3 (200 MB)",
    "hive4": "Hive 4.0.1 (280 MB)",
    "trino": "the server of Trino 368 (130 MB)",
    "trino-hive": "Trino's connector for Hive (140 MB)",
    "formats": "Iceberg and Paimon for Spark 3.5 (90 MB)",
}
#: Of the default set of tests, and of all tests.
DEFAULT, ALL = ("hive3",), ("hive3", "hive4", "trino", "trino-hive", "formats")


def folder(name: str) -> Path:
    """Return the directory with the jars of one of `SHOWN`, which are fetched unless they are there.

    Raises:
        NoJars: without Maven, or where Maven finds no way to them.
    """
    return _jars(name).ensure()


def of_set(test_set: str) -> tuple[str, ...]:
    """Return the names of what a set of tests needs."""
    return ALL if test_set == "all" else DEFAULT


def is_current(names: Sequence[str] = DEFAULT) -> bool:
    """Return whether these are complete, and made from the present poms."""
    return all(_jars(name).is_current() for name in names)


def lack(names: Sequence[str] = DEFAULT) -> str:
    """Return why some of these cannot be had here; an empty text where all are there, or may be fetched."""
    return next((reason for name in names if (reason := _jars(name).lack())), "")


def _jars(name: str) -> Jars:
    return Jars(SHOWN[name], _POMS / name, paths.env_dir(f"engines-{name}"), "engines.jars")


def main(names: Sequence[str]) -> None:
    """Fetch these, one after the other."""
    for name in names or SHOWN:
        folder(name)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except NoJars as error:
        sys.exit(f"error: {error}")

"""The servers' libraries, by Maven: fetched once, and anew whenever a pom changes."""

from __future__ import annotations

import sys
from pathlib import Path

from demo.services import paths
from tests.harness.maven import Jars, NoJars

POMS = Path(__file__).with_name("maven")
HOME = paths.env_dir("cluster")
HADOOP, HIVE = HOME / "hadoop", HOME / "hive"


def ensure() -> None:
    """Raises NoJars without Maven, or where it finds no way to them."""
    _jars().ensure()


def is_current() -> bool:
    return _jars().is_current()


def lack() -> str:
    """Why they cannot be had here; an empty text where they are there, or may be fetched."""
    return _jars().lack()


def compiler() -> list[str]:
    """A compiler of Java sources, for a Java runtime has none; it is among Hive's libraries."""
    return [str(jar) for name in ("janino", "commons-compiler") for jar in sorted(HIVE.glob(f"{name}-*.jar"))]


def _jars() -> Jars:
    return Jars("the libraries of Hadoop and Hive (200 MB)", POMS, HOME, "cluster.jars")


if __name__ == "__main__":
    try:
        ensure()
    except NoJars as error:
        sys.exit(f"error: {error}")

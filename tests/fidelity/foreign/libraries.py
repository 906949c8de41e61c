"""The libraries of other writers, by Maven: fetched once, and anew whenever the pom changes."""

from __future__ import annotations

from pathlib import Path

from demo.services import paths
from tests.harness.maven import Jars

_JARS = Jars(
    "the libraries of other writers (60 MB)",
    Path(__file__).with_name("maven"),
    paths.env_dir("writers"),
    "writers.jars",
)


def folder(library: str) -> Path:
    """The directory with the jars of a library, such as `orc-1.5`. Raises NoJars."""
    return _JARS.ensure() / library

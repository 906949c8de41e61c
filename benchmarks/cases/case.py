"""What a case is: steps that run in turn, round by round, on tables that are the same each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from benchmarks.measuring import Measured
from benchmarks.places.hdfs import HdfsPlace
from benchmarks.places.local import LocalPlace
from benchmarks.workspace import Workspace

OURS, ANALYSED, LAKEKEEPER, BARE, START = "ours", "analysed", "lakekeeper", "bare", "start"
#: Ours and analysed with `engine: arrow`.
ARROW, ARROW_ANALYSED = "arrow", "arrow-analysed"


class Bench:
    """The folder, and the services; each is started when the first case needs it, and stopped at the end."""

    def __init__(self, workspace: Workspace, stack: ExitStack) -> None:
        self.workspace = workspace
        self._stack = stack

    @cached_property
    def local(self) -> LocalPlace:
        """A Hive Metastore; tables are on the local disk."""
        return self._stack.enter_context(LocalPlace.opened(self.workspace))

    @cached_property
    def hdfs(self) -> HdfsPlace:
        """The tests' cluster; tables are on its HDFS."""
        return self._stack.enter_context(HdfsPlace.opened(self.workspace))


class Prepared(Protocol):
    """A case whose tables are there."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What describes the tables: files, bytes, partitions."""

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        """Bring the tables into the state before the step, run and measure it, check its effect; return figures."""


class Opener(Protocol):
    """Prepares the tables of a case, and removes them at the end."""

    def __call__(self, bench: Bench) -> AbstractContextManager[Prepared]: ...


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        title: the heading on the page.
        about: what is measured, in a sentence or two.
        steps: in the order in which they run in each round.
        rounds: how many, unless the user asks for another number.
        limits: steps that run in fewer rounds.
        disk_gb: the free space that it needs.
        line: cases of the same line alternate: each step runs on all their tables before the next one.
    """

    name: str
    title: str
    about: str
    steps: tuple[str, ...]
    opened: Opener
    rounds: int = 3
    limits: Mapping[str, int] = field(default_factory=dict)
    disk_gb: float = 3
    line: str = ""

    def turns(self, rounds: int | None, only: tuple[str, ...] = ()) -> Iterator[tuple[int, str]]:
        """Return rounds and steps in their order: A, B, C, A, B, C."""
        for number in range(1, (rounds or self.rounds) + 1):
            for step in self.steps:
                if number <= self.limits.get(step, number) and (not only or step in only):
                    yield number, step

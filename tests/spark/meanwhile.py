"""What happens around a step of a job that runs in this process: others act, servers fail, the driver dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.spark.rewriter import Rewriter
from spark_jobs.protocol.measuring.clock import SystemClock
from spark_jobs.protocol.ports import RewriteRequest
from spark_jobs.protocol.swap.swap_executor import SwapExecutor

Around = AbstractContextManager[object]


class Killed(BaseException):
    """As abrupt as a kill: no handler of the jobs catches it."""


def driven_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes only where a job sleeps, and then at once: however slow this machine is, no lease runs out by it."""
    passed = 0.0

    def sleep(_: SystemClock, seconds: float) -> None:
        nonlocal passed
        passed += seconds

    monkeypatch.setattr(SystemClock, "sleep", sleep)
    monkeypatch.setattr(SystemClock, "monotonic", lambda _: passed)


def around_rewrites(monkeypatch: pytest.MonkeyPatch, around: Callable[[RewriteRequest], Around]) -> None:
    """Each unit is written within `around`, which is given its plan; those of a joint write all at once."""
    write, write_jointly = Rewriter.write, Rewriter.write_jointly

    def writing(self: Rewriter, plan: RewriteRequest) -> Any:
        with around(plan):
            return write(self, plan)

    def writing_jointly(self: Rewriter, plans: Sequence[RewriteRequest], staging: str) -> Any:
        with ExitStack() as stack:
            for plan in plans:
                stack.enter_context(around(plan))
            return write_jointly(self, plans, staging)

    monkeypatch.setattr(Rewriter, "write", writing)
    monkeypatch.setattr(Rewriter, "write_jointly", writing_jointly)


def around_moves(monkeypatch: pytest.MonkeyPatch, around: Callable[[str, str], Around]) -> None:
    """Each rename of a swap or of a rollback happens within `around`, which is given its source and target."""
    move = HadoopFileSystem.move

    def moving(self: HadoopFileSystem, source: str, target: str, identity: str) -> None:
        with around(source, target):
            move(self, source, target, identity)

    monkeypatch.setattr(HadoopFileSystem, "move", moving)


def before_rewrites(monkeypatch: pytest.MonkeyPatch, act: Callable[[RewriteRequest], object]) -> None:
    """Somebody acts before each unit is written."""

    @contextmanager
    def around(plan: RewriteRequest) -> Iterator[None]:
        act(plan)
        yield

    around_rewrites(monkeypatch, around)


def after_rewrites(monkeypatch: pytest.MonkeyPatch, act: Callable[[RewriteRequest], object]) -> None:
    """Somebody acts between each unit's rewrite and its swap."""

    @contextmanager
    def around(plan: RewriteRequest) -> Iterator[None]:
        yield
        act(plan)

    around_rewrites(monkeypatch, around)


def after_moves(monkeypatch: pytest.MonkeyPatch, act: Callable[[str, str], object]) -> None:
    """Somebody acts right after each rename of a swap or of a rollback."""

    @contextmanager
    def around(source: str, target: str) -> Iterator[None]:
        yield
        act(source, target)

    around_moves(monkeypatch, around)


def full_disk(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """The unit whose path holds `part` cannot be written."""

    def fail(plan: RewriteRequest) -> None:
        if part in plan.target:
            raise OSError("no space left")

    before_rewrites(monkeypatch, fail)


def killed_after_moves(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """The driver dies after that many renames of directories, with 0 before the first, and undoes nothing."""
    left = count

    @contextmanager
    def around(_: str, __: str) -> Iterator[None]:
        nonlocal left
        if not left:
            raise Killed
        yield
        left -= 1
        if not left:
            raise Killed

    around_moves(monkeypatch, around)
    never_settles(monkeypatch)


def never_settles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that was killed settles nothing of what it began."""

    def finish(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(SwapExecutor, "finish", finish)

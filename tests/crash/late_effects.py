"""Effects that a server takes after it has answered, or after nobody waits for its answer any more.

A NameNode, or a router before it, may hold a request in a queue while the client's connection breaks: the client is
told of an error, and the request is carried out all the same, some time later.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_tree import ModelTree

T = TypeVar("T")
#: Calls that change the tree, and that a server may be late with.
OPS = ("rename", "mkdirs", "create", "delete_file", "delete_empty", "delete_tree", "trash")


@dataclass(frozen=True)
class LateEffect:
    """A call that takes its effect before the `calls`-th call of anybody from now."""

    calls: int
    op: str
    args: tuple[Any, ...]


class LateEffects:
    """What servers of one cluster have not got round to."""

    def __init__(self, waiting: tuple[LateEffect, ...] = (), version: int = 0) -> None:
        self.waiting = waiting
        self.version = version

    def copy(self) -> LateEffects:
        return LateEffects(self.waiting, self.version)

    def postpone(self, calls: int, op: str, args: tuple[Any, ...]) -> None:
        self.waiting += (LateEffect(calls, op, args),)
        self.version += 1

    def pass_call(self, tree: ModelTree) -> None:
        """Somebody is about to make a call."""
        nearer = tuple(replace(each, calls=each.calls - 1) for each in self.waiting)
        self.waiting = tuple(each for each in nearer if each.calls > 0)
        for each in nearer:
            if each.calls <= 0:
                self.version += 1
                _carry_out(tree, each)

    def carry_out_all(self, tree: ModelTree) -> None:
        while self.waiting:
            self.pass_call(tree)


def _carry_out(tree: ModelTree, effect: LateEffect) -> None:
    """What is refused by then has no effect, and nobody to tell."""
    fs = ModelFileSystem(tree, _Server())
    with contextlib.suppress(OSError):
        if effect.op == "create":
            fs.create_empty(effect.args[0])
        else:
            getattr(fs, effect.op)(*effect.args)


class _Server:
    """On the server's side nothing goes wrong any more."""

    def call(self, op: str, args: tuple[Any, ...], act: Callable[[], T], error: type[Exception]) -> T:
        return act()

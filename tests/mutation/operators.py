"""What may be done to a guard. None needs to know more of it than its mark, and what kind of statement it is."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.mutation import patterns
from tests.mutation.guards import Guard, GuardNotFound
from tests.mutation.scopes import check_names

#: In `Replace`, what stood there before.
_STATEMENT = "STATEMENT"


@dataclass(frozen=True)
class Operator(ABC):
    """`guard` is the name of a mark in the product."""

    guard: str

    @abstractmethod
    def apply(self, guard: Guard) -> None:
        """Changes the guard's module; raises GuardNotFound where it is no such statement."""


@dataclass(frozen=True)
class Remove(Operator):
    """The statement is not there."""

    def apply(self, guard: Guard) -> None:
        put(guard, guard.statement, ast.Pass())


@dataclass(frozen=True)
class Condition(Operator):
    """An `if` or `while` whose condition is always the same."""

    value: bool

    def apply(self, guard: Guard) -> None:
        if not isinstance(guard.statement, (ast.If, ast.While)):
            raise not_there(guard, "an `if` or `while`")
        put(guard, guard.statement.test, ast.Constant(self.value))


@dataclass(frozen=True)
class Value(Operator):
    """An assignment of, or a `return` with, another value."""

    value: str

    def apply(self, guard: Guard) -> None:
        old = getattr(guard.statement, "value", None)
        if not isinstance(guard.statement, (ast.Assign, ast.AnnAssign, ast.Return)) or old is None:
            raise not_there(guard, "an assignment or a `return` with a value")
        new = patterns.parse(self.value)
        check_names(guard, new)
        put(guard, old, new)


@dataclass(frozen=True)
class Rewrite(Operator):
    """The one part of the statement that fits `before` becomes `after`; see `patterns` for the gaps in both."""

    before: str
    after: str

    def apply(self, guard: Guard) -> None:
        before, after = patterns.parse(self.before), patterns.parse(self.after)
        found = patterns.find(before, guard.statement)
        if len(found) != 1:
            raise not_there(guard, f"`{self.before}`, once, and not {len(found)} times")
        check_names(guard, after, known=before)
        node, gaps = found[0]
        # A statement can stand in the place of a call only where that is a statement too.
        alone = isinstance(after, ast.stmt) and getattr(guard.statement, "value", None) is node
        put(guard, guard.statement if alone else node, patterns.filled(after, gaps))


@dataclass(frozen=True)
class Replace(Operator):
    """Other statements, in which `STATEMENT` is what stood there."""

    statements: str

    def apply(self, guard: Guard) -> None:
        new = ast.parse(self.statements)
        check_names(guard, new, but=_STATEMENT)
        for node in ast.walk(new):
            for block in ("body", "orelse", "finalbody"):
                if isinstance(getattr(node, block, None), list):
                    setattr(node, block, [_or_old(each, guard) for each in getattr(node, block)])
        put(guard, guard.statement, *new.body)


@dataclass(frozen=True)
class Item(Operator):
    """Another value of a key in a dictionary of constants."""

    key: str
    value: str

    def apply(self, guard: Guard) -> None:
        items = [node for node in ast.walk(guard.statement) if isinstance(node, ast.Dict)]
        pairs = [pair for node in items for pair in zip(node.keys, node.values, strict=True)]
        old = [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == self.key]
        if len(old) != 1 or ast.unparse(old[0]) == repr(self.value):
            raise not_there(guard, f"one key {self.key!r} with another value than {self.value!r}")
        put(guard, old[0], ast.Constant(self.value))


@dataclass(frozen=True)
class Without(Operator):
    """A dictionary, tuple or set of constants without one of its entries."""

    entry: str

    def apply(self, guard: Guard) -> None:
        for node in ast.walk(guard.statement):
            if isinstance(node, ast.Dict) and self.entry in _constants(node.keys):
                at = _constants(node.keys).index(self.entry)
                put(guard, node, ast.Dict(_but(node.keys, at), _but(node.values, at)))
                return
            if isinstance(node, (ast.Tuple, ast.Set)) and self.entry in _constants(node.elts):
                at = _constants(node.elts).index(self.entry)
                new = _but(node.elts, at)
                put(guard, node, ast.Tuple(new, ast.Load()) if isinstance(node, ast.Tuple) else ast.Set(new))
                return
        raise not_there(guard, f"an entry {self.entry!r}")


def entries(guard: Guard) -> list[str]:
    """Return what `Without` can remove from a guard."""
    lists = [
        node.keys if isinstance(node, ast.Dict) else node.elts
        for node in ast.walk(guard.statement)
        if isinstance(node, (ast.Dict, ast.Tuple, ast.Set))
    ]
    return [text for each in lists for text in _constants(each) if text is not None]


def _constants(nodes: Sequence[ast.expr | None]) -> list[str | None]:
    return [
        node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
        for node in nodes
    ]


def _but(nodes: Sequence[Any], at: int) -> list[Any]:
    return [node for position, node in enumerate(nodes) if position != at]


def put(guard: Guard, old: ast.AST, *new: ast.AST) -> None:
    """Puts nodes in the place of another in the guard's module."""
    placing = _Placing(old, new)
    placing.visit(guard.module)
    if not placing.done:
        raise not_there(guard, "a statement that no other operator of this mutation has removed")


def not_there(guard: Guard, wanted: str) -> GuardNotFound:
    return GuardNotFound(f"{guard.where}\nLooked for: {wanted}.")


def _or_old(statement: ast.stmt, guard: Guard) -> ast.stmt:
    return guard.statement if ast.unparse(statement) == _STATEMENT else statement


class _Placing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: tuple[ast.AST, ...]) -> None:
        self._old, self._new, self.done = old, new, False

    def visit(self, node: ast.AST) -> ast.AST | list[ast.AST]:
        if node is self._old and not self.done:
            self.done = True
            return self._new[0] if len(self._new) == 1 else list(self._new)
        result: ast.AST | list[ast.AST] = self.generic_visit(node)
        return result

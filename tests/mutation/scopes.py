"""Are the names known that a replacement uses? One that was renamed would make tests fail for the wrong reason."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.mutation import patterns
from tests.mutation.guards import Guard, GuardNotFound, sources

#: Hadoop's; nothing in the product is called so.
_FOREIGN = frozenset({"OVERWRITE"})
_METHODS = frozenset(dir(str) + dir(dict) + dir(list))


def check_names(guard: Guard, new: ast.AST, known: ast.AST | None = None, but: str = "") -> None:
    """Raises GuardNotFound for a name in `new` that neither its place nor `known`, which fits there, has."""
    fits = {*patterns.names(known), *patterns.attributes(known)} if known else set()
    names = patterns.names(new) - fits - bound([new]) - visible(guard) - {but}
    for name in sorted(names):
        raise _unknown(guard, f"{name}, which {guard.symbol} in {guard.path} does not know (any more)")
    for name in sorted(patterns.attributes(new) - fits - _METHODS - _FOREIGN):
        if not _is_attribute(name, guard.root):
            raise _unknown(guard, f"the attribute {name}, which nothing in the product has (any more)")


def _unknown(guard: Guard, what: str) -> GuardNotFound:
    return GuardNotFound(f"{guard.where}\nThe mutation names {what}.")


def _is_attribute(name: str, root: Path) -> bool:
    """Somewhere it is used, or made: by a method, or as a field of a class."""
    wanted = re.compile(rf"\.{name}\b|\bdef {name}\b|^ +{name}: ", re.MULTILINE)
    return any(wanted.search(source) for source in sources(root).values())


def visible(guard: Guard) -> set[str]:
    """What a statement can name: built-in, of its module, of the functions around it."""
    functions = [scope for scope in guard.scopes if isinstance(scope, ast.FunctionDef)]
    return {*dir(builtins), *bound(_outside_functions(guard.module)), *bound(functions)}


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are given a meaning in these nodes and below."""
    return {name for node in nodes for each in ast.walk(node) for name in _names(each)}


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.split(".")[0]
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _outside_functions(module: ast.Module) -> Iterator[ast.AST]:
    for statement in module.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield ast.Name(statement.name, ast.Store())
        else:
            yield statement

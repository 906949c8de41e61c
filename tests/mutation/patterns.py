"""Python with gaps, to say what a guard is without the names in it: in `A or B`, `A` and `B` stand for anything.

A gap is a single capital letter, in place of an expression, or of the name of an attribute or an argument; the same
letter twice stands for the same text.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

Gaps = Mapping[str, ast.AST | str]
#: What says nothing about the meaning, or lies in statements of its own.
_NOTES = ("ctx", "kind", "type_comment", "type_ignores")
_INNER = ("body", "orelse", "finalbody", "handlers")


def is_gap(name: object) -> bool:
    return isinstance(name, str) and len(name) == 1 and name.isupper()


def parse(text: str) -> ast.AST:
    """An expression, or one statement."""
    (statement,) = ast.parse(text).body
    return statement.value if isinstance(statement, ast.Expr) else statement


def find(pattern: ast.AST, statement: ast.stmt) -> list[tuple[ast.AST, Gaps]]:
    """Where the pattern fits: the statement itself, or the expressions in it that are in no other statement."""
    nodes = iter([statement]) if isinstance(pattern, ast.stmt) else _expressions(statement)
    found = [(node, match(pattern, node)) for node in nodes]
    return [(node, gaps) for node, gaps in found if gaps is not None]


def match(pattern: ast.AST, node: ast.AST) -> Gaps | None:
    """What is in the gaps; None where the pattern does not fit."""
    gaps: dict[str, ast.AST | str] = {}
    return gaps if _fits(pattern, node, gaps) else None


def filled(template: ast.AST, gaps: Gaps) -> ast.AST:
    """A copy of the template without gaps."""
    result = _Filling(gaps).visit(copy.deepcopy(template))
    assert isinstance(result, ast.AST)
    return result


def names(template: ast.AST) -> set[str]:
    """The variables, functions and classes that a template names."""
    found = {node.id for node in ast.walk(template) if isinstance(node, ast.Name)}
    return {name for name in found if not is_gap(name)}


def attributes(template: ast.AST) -> set[str]:
    found = {node.attr for node in ast.walk(template) if isinstance(node, ast.Attribute)}
    return {name for name in found if not is_gap(name)}


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    for field, value in ast.iter_fields(statement):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST) and field not in _INNER:
                yield from ast.walk(item)


def _fits(pattern: object, node: object, gaps: dict[str, ast.AST | str]) -> bool:
    if isinstance(pattern, ast.Name) and is_gap(pattern.id):
        return isinstance(node, ast.expr) and _same_again(pattern.id, node, gaps)
    if isinstance(pattern, ast.Constant):
        return isinstance(node, ast.Constant) and repr(pattern.value) == repr(node.value)
    if isinstance(pattern, list):
        return isinstance(node, list) and len(pattern) == len(node) and _all_fit(pattern, node, gaps)
    if isinstance(pattern, ast.AST):
        fields = [field for field in pattern._fields if field not in _NOTES]
        mine, other = ([getattr(each, field, None) for field in fields] for each in (pattern, node))
        return type(pattern) is type(node) and _all_fit(mine, other, gaps)
    if is_gap(pattern) and isinstance(node, str):
        return _same_again(str(pattern), node, gaps)
    return pattern == node


def _all_fit(patterns: list[object], nodes: list[object], gaps: dict[str, ast.AST | str]) -> bool:
    return all(_fits(pattern, node, gaps) for pattern, node in zip(patterns, nodes, strict=True))


def _same_again(gap: str, found: ast.AST | str, gaps: dict[str, ast.AST | str]) -> bool:
    return _text(gaps.setdefault(gap, found)) == _text(found)


def _text(found: ast.AST | str) -> str:
    return found if isinstance(found, str) else ast.unparse(found)


class _Filling(ast.NodeTransformer):
    def __init__(self, gaps: Gaps) -> None:
        self._gaps = gaps

    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = self._gaps.get(node.id)
        return copy.deepcopy(found) if isinstance(found, ast.AST) else node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        found = self._gaps.get(node.arg or "")
        self.generic_visit(node)
        return ast.keyword(found, node.value) if isinstance(found, str) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        found = self._gaps.get(node.attr)
        self.generic_visit(node)
        return ast.Attribute(node.value, found, node.ctx) if isinstance(found, str) else node

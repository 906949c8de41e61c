"""Where the guards are: statements of the product that a comment `# guard: <name>` marks.

The comment stands behind the statement, or alone above it, and goes wherever the statement goes. Another indentation,
another formatting or another module change nothing, and neither does a rename, for a mark is the name of nothing else.

mutmut and cosmic-ray make every mutant that their operators allow: thousands here, most of which are about no hazard.
Here each mutant removes one named guard against a known hazard, with all of its layers.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

#: The packages that have guards.
PRODUCTS = ("spark_jobs", "lakekeeper_provider")
_MARK = re.compile(r"#\s*guard:\s*([a-z0-9_]+)\s*$")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class GuardNotFound(AssertionError):
    """A guard is not marked, or not what its mutation takes it for: one of the two has to be changed."""


@dataclass(frozen=True)
class Mark:
    """A comment: where it begins, and whether it stands alone between two statements."""

    name: str
    line: int
    column: int
    alone: bool


@dataclass(frozen=True)
class Guard:
    """A marked statement; `symbol` is the qualified name of what it stands in, outermost first in `scopes`."""

    name: str
    root: Path
    path: str
    module: ast.Module
    statement: ast.stmt
    scopes: tuple[ast.stmt, ...]

    @property
    def symbol(self) -> str:
        return ".".join(getattr(scope, "name", "") for scope in self.scopes) or "the module"

    @property
    def where(self) -> str:
        """For messages: file, line, symbol and the first line of what stands there."""
        text = ast.unparse(self.statement).splitlines()[0]
        return f"{self.path}:{self.statement.lineno}, in {self.symbol}, marked `# guard: {self.name}`: {text}"


@cache
def marks(source: str) -> tuple[Mark, ...]:
    """The marks of a file."""
    return tuple(_marks(source)) if "guard:" in source else ()


def _marks(source: str) -> Iterator[Mark]:
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.OP:
            depth += (token.string in _OPENING) - (token.string in _CLOSING)
        found = _MARK.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            alone = not depth and token.line.strip() == token.string
            yield Mark(found[1], *token.start, alone)


def sources(root: Path) -> dict[str, str]:
    """The product's modules, by their paths in a checkout."""
    files = sorted(file for product in PRODUCTS for file in (root / product).rglob("*.py"))
    return {file.relative_to(root).as_posix(): file.read_text() for file in files}


def all_marks(root: Path) -> list[str]:
    """The names of all marks in the product, as often as they occur."""
    return [mark.name for source in sources(root).values() for mark in marks(source)]


class Sources:
    """The modules of a checkout, read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.texts = sources(root)

    @cached_property
    def marks(self) -> dict[str, list[tuple[str, Mark]]]:
        """By name, the marks with the paths of their modules."""
        found: dict[str, list[tuple[str, Mark]]] = {}
        for path, source in self.texts.items():
            for mark in marks(source):
                found.setdefault(mark.name, []).append((path, mark))
        return found


class Product:
    """The modules of a checkout, to be changed in memory."""

    def __init__(self, read: Sources) -> None:
        self._read = read
        self._modules: dict[str, ast.Module] = {}

    def guard(self, name: str) -> Guard:
        """The one statement with this mark; raises GuardNotFound."""
        found = [self._guard(path, mark) for path, mark in self._read.marks.get(name, ())]
        if len(found) == 1:
            return found[0]
        raise GuardNotFound("\n".join(each.where for each in found) or self._unmarked(name))

    def texts(self) -> dict[str, str]:
        """The modules in which a guard was asked for, as they are now."""
        return {path: f"{ast.unparse(module)}\n" for path, module in self._modules.items()}

    def _guard(self, path: str, mark: Mark) -> Guard:
        if path not in self._modules:
            self._modules[path] = ast.parse(self._read.texts[path])
        module = self._modules[path]
        places = [place for place in _statements(module) if _fits(place[0], mark)]
        if not places:
            raise GuardNotFound(f"{path}:{mark.line}: `# guard: {mark.name}` is on no statement.")
        # Behind a statement's text it marks the innermost; above one, the next.
        statement, scopes = places[0] if mark.alone else places[-1]
        if mark.alone and statement.col_offset != mark.column:
            raise GuardNotFound(
                f"{path}:{mark.line}: `# guard: {mark.name}` stands above no statement of its block; the next one is in"
                f" line {statement.lineno}."
            )
        return Guard(mark.name, self._read.root, path, module, statement, scopes)

    def _unmarked(self, name: str) -> str:
        close = ", ".join(difflib.get_close_matches(name, self._read.marks))
        return (
            f"no statement of {' or '.join(PRODUCTS)} is marked `# guard: {name}`{f' (but {close})' if close else ''};"
            f" was it removed together with its guard? `git log -S'guard: {name}'` shows where it stood."
        )


def _fits(statement: ast.stmt, mark: Mark) -> bool:
    return statement.lineno > mark.line if mark.alone else mark.line in _header(statement)


def _header(statement: ast.stmt) -> range:
    """The lines of a statement without those of the statements in it."""
    inner = getattr(statement, "body", None)
    end = statement.end_lineno or statement.lineno
    return range(statement.lineno, max(inner[0].lineno, statement.lineno + 1) if inner else end + 1)


def _statements(
    node: ast.AST, scopes: tuple[ast.stmt, ...] = ()
) -> Iterator[tuple[ast.stmt, tuple[ast.stmt, ...]]]:
    """All statements, in the order of the text, with the functions and classes around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child, scopes
        named = isinstance(child, (ast.FunctionDef, ast.ClassDef))
        yield from _statements(child, (*scopes, child) if named else scopes)  # type: ignore[arg-type]

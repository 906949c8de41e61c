"""The tables of arguments on the pages of operators: from their constructors, their docstrings and the options' texts.

The modules are parsed and not imported, so that no Airflow is needed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lakekeeper_provider.options.definitions import OPTIONS

ROOT = Path(__file__).parents[2] / "lakekeeper_provider"
#: The class that has the arguments of all operators that submit a job.
COMMON = "LakekeeperOperator"
_ARGUMENT = re.compile(r"    (\w+): (.*)")


@dataclass(frozen=True)
class Argument:
    """An argument of a constructor, as its page shows it."""

    name: str
    type: str
    required: bool
    default: str
    meaning: str

    @property
    def row(self) -> tuple[str, ...]:
        return f"`{self.name}`", self.type, "yes" if self.required else "", self.default, self.meaning


@cache
def _classes() -> Mapping[str, ast.ClassDef]:
    files = [file for folder in ("operators", "sensors") for file in sorted((ROOT / folder).glob("*.py"))]
    trees = (ast.parse(file.read_text()) for file in files)
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def arguments(name: str) -> list[Argument]:
    """Return the arguments of a class and of its bases here, without those that all operators have."""
    found: dict[str, Argument] = {}
    for cls in _own_first(name):
        for argument in _of_class(_classes()[cls]):
            found.setdefault(argument.name, argument)
    return list(found.values())


def _own_first(name: str) -> Iterator[str]:
    yield name
    for base in _classes()[name].bases:
        if isinstance(base, ast.Name) and base.id in _classes() and base.id != COMMON:
            yield from _own_first(base.id)


def _of_class(node: ast.ClassDef) -> Iterator[Argument]:
    told = _told(ast.get_docstring(node) or "")
    for function in node.body:
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
                if argument.arg in told or argument.arg in OPTIONS:
                    yield _argument(argument, default, told)


def _argument(argument: ast.arg, default: ast.expr | None, told: Mapping[str, str]) -> Argument:
    name, option = argument.arg, OPTIONS.get(argument.arg)
    shown = "" if default is None else ast.unparse(default)
    if option is not None:
        shown = "" if option.default in (None, False) else f"`{option.default}`"
    elif shown in ("None", "False"):
        shown = ""
    else:
        shown = shown and f"`{shown}`"
    meaning = told.get(name) or (option.help if option else "")
    return Argument(name, _type(argument.annotation), default is None, shown, meaning)


def _type(annotation: ast.expr | None) -> str:
    """Return the type without None, and without the text of a template, which each argument may be."""
    words = [word.strip() for word in (ast.unparse(annotation) if annotation else "Any").split(" | ")]
    kinds = [word for word in words if word != "None"]
    kinds = [word for word in kinds if word != "str"] or kinds
    return " or ".join(f"`{kind}`" for kind in kinds)


def _told(docstring: str) -> dict[str, str]:
    """Return the texts of the section Args."""
    _, _, section = docstring.partition("\nArgs:\n")
    found: dict[str, list[str]] = {}
    name = ""
    for line in section.splitlines():
        if not line.startswith("    "):
            break
        if match := _ARGUMENT.fullmatch(line):
            name = match[1]
            found[name] = [match[2]]
        elif name:
            found[name].append(line.strip())
    return {name: " ".join(lines).replace("``", "`") for name, lines in found.items()}

"""The docstrings of operators: what they say of an option is the text of the table of options."""

from __future__ import annotations

import inspect
from typing import TypeVar

from lakekeeper_provider.options.definitions import OPTIONS
from lakekeeper_provider.options.option import Option

Operator = TypeVar("Operator")
_ARGS = "\n\nArgs:\n"


def documented(operator: type[Operator]) -> type[Operator]:
    """Add the options that are arguments of this class to its docstring; its bases document theirs."""
    inherited = {key for base in operator.__mro__[1:] for key in getattr(base, "option_keys", ())}
    own = [OPTIONS[key] for key in getattr(operator, "option_keys", ()) if key not in inherited]
    lines = "".join(f"    {option.key}: {_text(option)}\n" for option in own)
    said = inspect.cleandoc(operator.__doc__ or "")
    before, found, after = said.partition(_ARGS)
    operator.__doc__ = f"{before}{_ARGS}{lines}{after}\n" if found else f"{said}{_ARGS}{lines}"
    return operator


def _text(option: Option) -> str:
    return option.help if option.default in (None, False) else f"{option.help} (default: {option.default})"

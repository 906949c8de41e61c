"""The docstrings of operators: what they say of an option is the text of the table of options."""

from __future__ import annotations

import inspect
from typing import TypeVar

from lakekeeper_provider.options.definitions import OPTIONS

Operator = TypeVar("Operator")


def documented(operator: type[Operator]) -> type[Operator]:
    """Append the options that are arguments of this class to its docstring: those of its bases are in theirs."""
    inherited = {key for base in operator.__mro__[1:] for key in getattr(base, "option_keys", ())}
    own = [OPTIONS[key] for key in getattr(operator, "option_keys", ()) if key not in inherited]
    lines = (
        f":param {option.key}: {option.help}"
        + ("" if option.default in (None, False) else f" (default: {option.default})")
        for option in own
    )
    operator.__doc__ = "\n".join([inspect.cleandoc(operator.__doc__ or ""), "", *lines])
    return operator

"""The parts of docs/design that repeat the code: the packages, and what is done in each state of a swap."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from spark_jobs.core.records.swap_state import STATES, SwapState
from spark_jobs.protocol.swap.forward import ForwardSwap
from spark_jobs.protocol.swap.reverse import ReverseSwap
from spark_jobs.protocol.swap.swap_executor import SwapExecutor

ROOT = Path(__file__).parents[2]


def package_rows() -> Iterator[tuple[str, str]]:
    """Return each package of both programs, and the first paragraph of its docstring in one line."""
    for top in ("lakekeeper_provider", "spark_jobs"):
        for init in sorted((ROOT / top).rglob("__init__.py")):
            text = ast.get_docstring(ast.parse(init.read_text())) or ""
            yield f"`{init.parent.relative_to(ROOT)}`", " ".join(text.partition("\n\n")[0].split())


def state_rows() -> Iterator[tuple[str, ...]]:
    """Return where directories are, the name of that state, and what a compaction and a rollback do in it."""
    order = list(SwapState)
    for state, places in groupby(sorted(STATES, key=lambda place: order.index(STATES[place])), STATES.get):
        where = "; ".join(", ".join(each or "-" for each in place) for place in places)
        yield where, f"`{state.name}`", _action(ForwardSwap, state), _action(ReverseSwap, state)
    yield "anything else", f"`{SwapState.UNKNOWN.name}`", _QUARANTINED, _QUARANTINED


_QUARANTINED = "Nothing is changed: `quarantined`, exit code 3."


def _action(kind: type[SwapExecutor], state: SwapState) -> str:
    action = kind._actions(object.__new__(kind)).get(state)
    return " ".join((inspect.getdoc(action) or "").split()) if action else _QUARANTINED

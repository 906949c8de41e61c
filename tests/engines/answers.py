"""Answers of engines: rows in one form, compared as multisets."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: How many rows of a difference a message shows.
_SHOWN = 3


@dataclass(frozen=True)
class Answer:
    """What an engine answered to one question.

    Attributes:
        rows: each row in its one form, with the number of times that it came.
        error: what the engine said where it failed.
    """

    rows: Counter[str] = field(default_factory=Counter)
    error: str | None = None

    @property
    def size(self) -> int:
        return sum(self.rows.values())


#: No rows.
NOTHING = Answer()
#: The answers of an engine about a table, by the name of the question.
Answers = Mapping[str, Answer]


def of_rows(rows: Iterable[Sequence[Any]]) -> Answer:
    """Return the answer that has these rows, by an engine that knows the columns of a table."""
    return Answer(Counter(_shared([_value(each) for each in row]) for row in rows))


def record(fields: Mapping[str, Any]) -> str:
    """Return a record of a reader of single files in its one form.

    A file may lack columns of the table, or have them in another order. A table's reader takes a column that is not
    there for nulls, and so a null is left out here.
    """
    known = {name.lower(): _value(value) for name, value in fields.items() if value is not None}
    return _shared(known)


def _shared(row: Any) -> str:
    """Return a row as text. Each phase reads the same rows, whose text is kept once."""
    return sys.intern(json.dumps(row, ensure_ascii=False, sort_keys=True))


def _value(value: Any) -> Any:
    """Return a value that JSON can express, so that different values stay different: 0.0 and -0.0, 1 and 1.0."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _value(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(each) for each in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"0x{bytes(value).hex()}"
    return repr(value)


def difference(before: Answer, after: Answer) -> str:
    """Return how two answers differ, with examples; an empty text if they are equal.

    The messages of two failures may differ: they name files.
    """
    if before.error or after.error:
        return "" if before.error and after.error else f"{_outcome(before)}, then {_outcome(after)}"
    lost, more = before.rows - after.rows, after.rows - before.rows
    if not lost and not more:
        return ""
    return f"{_outcome(before)}, then {_outcome(after)}; lost {_some(lost)}, more {_some(more)}"


def missing(some: Answer, whole: Answer) -> str:
    """Return which rows of the first answer the second one lacks; an empty text if it has all of them."""
    if some.error or whole.error:
        return difference(some, whole)
    lost = some.rows - whole.rows
    return f"{_outcome(some)}, and {_outcome(whole)} that lack {_some(lost)}" if lost else ""


def _outcome(answer: Answer) -> str:
    return f"failed with {answer.error[:300]!r}" if answer.error else f"{answer.size} rows"


def _some(rows: Counter[str]) -> str:
    return f"{sum(rows.values())} rows {[row[:200] for row in list(rows)[:_SHOWN]]}" if rows else "none"

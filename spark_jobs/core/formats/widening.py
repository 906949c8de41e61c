"""Pairs of types of which one is the other, widened: `int` and `bigint`, `float` and `double`, decimals.

A file keeps its own types when only files of equal types are written into one. Any two types could be kept apart so.
Others than these are no step of a table's evolution, but a sign that a writer is wrong, and are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

_TYPE = re.compile(r"(?P<repeated>repeated )?(?P<kind>.*?)(?P<id> = \d+)?\Z")
#: Numbers of ORC, and physical types of Parquet, with their bits.
_BITS = {
    "tinyint": ("integer", 8),
    "smallint": ("integer", 16),
    "int": ("integer", 32),
    "bigint": ("integer", 64),
    "int32": ("integer", 32),
    "int64": ("integer", 64),
    "float": ("floating", 32),
    "double": ("floating", 64),
}
_SIGNED = re.compile(r"int(?:32|64) \(INTEGER\((\d+),true\)\)\Z")
_DECIMAL = re.compile(
    r"(?:decimal|(?:int32|int64|binary|fixed_len_byte_array\(\d+\)) \(DECIMAL)\((\d+),(\d+)\)\)?\Z"
)

#: The family of a type, and what it holds: bits, or digits before and after the decimal point.
_Measure = tuple[str, tuple[int, ...]]


def unrelated(kinds: Sequence[str]) -> tuple[str, str] | None:
    """Return the first two types of which neither is the other one, widened; None if there are none."""
    return next((pair for pair in combinations(kinds, 2) if not _related(*pair)), None)


def _related(one: str, other: str) -> bool:
    left, right = _TYPE.match(one), _TYPE.match(other)
    if left is None or right is None or left.group("repeated", "id") != right.group("repeated", "id"):
        return False
    narrow, wide = _measure(left["kind"]), _measure(right["kind"])
    if narrow is None or wide is None or narrow[0] != wide[0]:
        return False
    sizes = list(zip(narrow[1], wide[1]))
    return all(a <= b for a, b in sizes) or all(a >= b for a, b in sizes)


def _measure(kind: str) -> _Measure | None:
    signed, decimal = _SIGNED.match(kind), _DECIMAL.match(kind)
    if signed:
        return "integer", (int(signed[1]),)
    if decimal:
        precision, scale = int(decimal[1]), int(decimal[2])
        return "decimal", (precision - scale, scale)
    if kind in _BITS:
        family, bits = _BITS[kind]
        return family, (bits,)
    return None

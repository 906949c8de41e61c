"""The figures of Parquet files by their footers, as pyarrow reads them. It travels to the workers with `worker`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Figures:
    """Rows, and for each leaf its values, nulls and bounds; a figure is None if a row group lacks it."""

    def __init__(self) -> None:
        self._rows = 0
        self._leaves: dict[str, list[Any]] = {}

    def add(self, metadata: Any) -> None:
        """Add those of a file."""
        self._rows += metadata.num_rows
        for group in range(metadata.num_row_groups):
            chunks = metadata.row_group(group)
            for number in range(metadata.num_columns):
                self._add_chunk(metadata.schema.column(number), chunks.column(number))

    def _add_chunk(self, leaf: Any, chunk: Any) -> None:
        found = _chunk_figures(leaf, chunk)
        known = self._leaves.setdefault(chunk.path_in_schema, found)
        if known is not found:
            known[:] = [_united(act, *both) for act, both in zip(_ACTS, zip(known, found))]

    def difference(self, written: Figures) -> str | None:
        """Return the first figure that differs, as a text."""
        if self._rows != written._rows:
            return f"{self._rows} rows were read and {written._rows} written"
        for path, known in self._leaves.items():
            for name, ours, theirs in zip(_NAMES, known, written._leaves.get(path, _NOTHING)):
                if ours is not None and theirs is not None and ours != theirs:
                    # Bounds are data, and the text is in reports and logs.
                    figures = f": {theirs} instead of {ours}" if name in _COUNTS else " than the files"
                    return f"column '{path}' has other {name}{figures}"
        return None


_COUNTS = ("values", "nulls")
_NAMES = (*_COUNTS, "minimum", "maximum")
_NOTHING = (-1, None, None, None)
#: The bounds of a column that has nulls only.
_OF_NULLS = "no values"


def _sum(ours: int, theirs: int) -> int:
    return ours + theirs


#: How each figure of two row groups is united.
_ACTS: tuple[Callable[[Any, Any], Any], ...] = (_sum, _sum, min, max)


def _united(act: Callable[[Any, Any], Any], ours: Any, theirs: Any) -> Any:
    """Return a figure of two row groups; None if it is not known of one. Nulls have no bounds, and change none."""
    if ours is None or theirs is None:
        return None
    if _OF_NULLS in (ours, theirs):
        return theirs if ours == _OF_NULLS else ours
    return act(ours, theirs)


def _chunk_figures(leaf: Any, chunk: Any) -> list[Any]:
    """Return values, nulls, minimum and maximum of a column in a row group."""
    known = chunk.statistics
    if known is None:
        return [chunk.num_values, None, None, None]
    nulls = known.null_count if known.has_null_count else None
    if known.has_min_max:
        return [chunk.num_values, nulls, _number(leaf, known.min_raw), _number(leaf, known.max_raw)]
    bound = _OF_NULLS if nulls == chunk.num_values else None
    return [chunk.num_values, nulls, bound, bound]


def _number(leaf: Any, value: Any) -> Any:
    """Return a bound as its type is ordered: decimals in bytes are signed, some integers unsigned."""
    if value != value:  # Some writers note NaN, which is in no order; then the bound is not known.
        return None
    kind = str(leaf.logical_type)
    if kind.startswith("Decimal") and isinstance(value, bytes):
        return int.from_bytes(value, "big", signed=True)
    if "isSigned=false" in kind:
        return value % (1 << 64) if leaf.physical_type == "INT64" else value % (1 << 32)
    return value

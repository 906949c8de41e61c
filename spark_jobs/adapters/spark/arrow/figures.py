"""The figures of Parquet files by their footers, as pyarrow reads them. It travels to the workers with `worker`.

A worker adds the footers of tens of thousands of files: what is the same for all of them is asked once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: The bounds of a column that has nulls only.
_OF_NULLS = "no values"


class Figures:
    """Rows, and for each leaf its values, nulls and bounds. All files have the same schema."""

    def __init__(self) -> None:
        self._rows = 0
        self._leaves: list[_Leaf] = []

    def add(self, metadata: Any) -> None:
        """Add those of a file."""
        self._rows += metadata.num_rows
        if not self._leaves:
            self._leaves = [_Leaf(metadata.schema.column(number)) for number in range(metadata.num_columns)]
        for group in range(metadata.num_row_groups):
            chunks = metadata.row_group(group)
            for number, leaf in enumerate(self._leaves):
                leaf.add(chunks.column(number))

    def difference(self, written: Figures) -> str | None:
        """Return the first figure that differs, as a text."""
        if self._rows != written._rows:
            return f"{self._rows} rows were read and {written._rows} written"
        for ours, theirs in zip(self._leaves, written._leaves):
            if found := ours.difference(theirs):
                return f"column '{ours.path}' has other {found}"
        return None


class _Leaf:
    """The figures of a leaf in all row groups; one is None if a row group lacks it."""

    def __init__(self, leaf: Any) -> None:
        self.path = leaf.path
        self.values = 0
        self.nulls: int | None = 0
        self.minimum: Any = _OF_NULLS
        self.maximum: Any = _OF_NULLS
        self._ordered = _order_of(leaf)

    def add(self, chunk: Any) -> None:
        """Add those of a row group."""
        values = chunk.num_values
        nulls = minimum = maximum = None
        known = chunk.statistics
        if known is not None:
            nulls = known.null_count if known.has_null_count else None
            if known.has_min_max:
                minimum, maximum = self._ordered(known.min_raw), self._ordered(known.max_raw)
            elif nulls == values:
                minimum = maximum = _OF_NULLS
        self.values += values
        self.nulls = None if nulls is None or self.nulls is None else self.nulls + nulls
        self.minimum = _united(min, self.minimum, minimum)
        self.maximum = _united(max, self.maximum, maximum)

    def difference(self, written: _Leaf) -> str | None:
        """Return the first figure that differs; of values and nulls, which are no data, with both figures."""
        if self.values != written.values:
            return f"values: {written.values} instead of {self.values}"
        if _differ(self.nulls, written.nulls):
            return f"nulls: {written.nulls} instead of {self.nulls}"
        # Bounds are data, and the text is in reports and logs.
        if _differ(self.minimum, written.minimum):
            return "minimum than the files"
        return "maximum than the files" if _differ(self.maximum, written.maximum) else None


def _differ(ours: Any, theirs: Any) -> bool:
    """Tell whether two figures differ; one that is not known does not."""
    return ours is not None and theirs is not None and ours != theirs


def _united(act: Callable[[Any, Any], Any], ours: Any, theirs: Any) -> Any:
    """Return a bound of two row groups; None if it is not known of one. Nulls have no bounds, and change none."""
    if ours is None or theirs is None:
        return None
    if ours == _OF_NULLS:
        return theirs
    return ours if theirs == _OF_NULLS else act(ours, theirs)


def _order_of(leaf: Any) -> Callable[[Any], Any]:
    """Return what orders a bound as its type is ordered: decimals in bytes are signed, some integers unsigned."""
    kind = str(leaf.logical_type)
    if kind.startswith("Decimal") and leaf.physical_type not in ("INT32", "INT64"):
        return _signed
    if "isSigned=false" in kind:
        bits = 64 if leaf.physical_type == "INT64" else 32
        return lambda value: value % (1 << bits)
    return _number if leaf.physical_type in ("FLOAT", "DOUBLE") else _same


def _signed(value: bytes) -> int:
    return int.from_bytes(value, "big", signed=True)


def _number(value: float) -> float | None:
    """Return a bound. Some writers note NaN, which is in no order; then the bound is not known."""
    return value if value == value else None


def _same(value: Any) -> Any:
    return value

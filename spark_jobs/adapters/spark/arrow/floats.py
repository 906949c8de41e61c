"""Finds NaN in arrays of Arrow. It travels to the workers with `worker`.

Spark takes NaN for the largest number. Arrow leaves it out of the bounds of a column, and parquet-java's readers then
skip a row group with NaN for `x > 2`; parquet-java itself has no bounds for such a column. Found with Spark 3.5.
"""

from __future__ import annotations

from typing import Any


def with_floats(schema: Any) -> list[int]:
    """Return the numbers of the columns that may have NaN, themselves or in what they contain."""
    return [number for number, kind in enumerate(schema.types) if _may_have_nan(kind)]


def has_nan(column: Any) -> bool:
    """Tell whether an array, or one in it, has NaN."""
    import pyarrow.compute
    import pyarrow.types

    if pyarrow.types.is_floating(column.type):
        return bool(pyarrow.compute.is_nan(column).true_count)
    return any(has_nan(member) for member in _members(column))


def _may_have_nan(kind: Any) -> bool:
    """Tell whether a type is of floating point numbers, or contains some."""
    import pyarrow
    import pyarrow.types

    if isinstance(kind, pyarrow.BaseExtensionType):
        return _may_have_nan(kind.storage_type)
    if pyarrow.types.is_nested(kind):
        return any(_may_have_nan(kind.field(number).type) for number in range(kind.num_fields))
    if pyarrow.types.is_dictionary(kind):
        return _may_have_nan(kind.value_type)
    return bool(pyarrow.types.is_floating(kind))


def _members(column: Any) -> list[Any]:
    """Return the arrays in an array. They may have more values than the array: then a file is refused for nothing."""
    import pyarrow
    import pyarrow.types

    kind = column.type
    if isinstance(kind, pyarrow.BaseExtensionType):
        return [column.storage]
    if pyarrow.types.is_struct(kind):
        return [column.field(number) for number in range(kind.num_fields)]
    if pyarrow.types.is_map(kind):
        return [column.keys, column.items]
    if pyarrow.types.is_dictionary(kind):
        return [column.dictionary]
    return [column.values] if pyarrow.types.is_nested(kind) else []

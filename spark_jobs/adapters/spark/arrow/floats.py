"""Numbers by which readers skip rows of files that Arrow has written. It travels to the workers with `worker`.

Spark takes NaN for the largest number. Arrow leaves it out of the bounds of a column, and parquet-java's readers then
skip a row group with NaN for `x > 2`; parquet-java itself has no bounds for such a column. The dictionary of a column
tells 0.0 from -0.0, and Arrow keeps a dictionary where parquet-java writes the values themselves, so that `x = 0` would
find none. Both were found with Spark 3.5.
"""

from __future__ import annotations

from typing import Any


def has_odd_floats(column: Any) -> bool:
    """Tell whether an array, or one in it, has NaN or -0.0."""
    import pyarrow.types

    kind = column.type
    if pyarrow.types.is_floating(kind):
        return _is_odd(column)
    return any(has_odd_floats(member) for member in _members(column))


def _members(column: Any) -> list[Any]:
    """Return the arrays in an array. They may have more values than the array: then a file is refused for nothing."""
    import pyarrow.types

    kind = column.type
    if pyarrow.types.is_struct(kind):
        return [column.field(number) for number in range(kind.num_fields)]
    if pyarrow.types.is_map(kind):
        return [column.keys, column.items]
    if pyarrow.types.is_dictionary(kind):
        return [column.dictionary]
    return [column.values] if pyarrow.types.is_nested(kind) else []


def _is_odd(column: Any) -> bool:
    """Tell whether an array of floating point numbers has NaN or -0.0, which has the sign bit and no other one."""
    import pyarrow
    import pyarrow.compute

    width = column.type.bit_width
    bits = column.view(getattr(pyarrow, f"int{width}")())
    negative_zero = pyarrow.scalar(-(1 << (width - 1)), bits.type)
    odd = (pyarrow.compute.is_nan(column), pyarrow.compute.equal(bits, negative_zero))
    return any(pyarrow.compute.any(each).as_py() for each in odd)

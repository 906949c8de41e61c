"""Python functions over batches of Arrow, in the workers of the executors. PySpark's `mapInArrow` asks for pandas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.udf import UserDefinedFunction

#: PySpark's number for such functions (`PythonEvalType.SQL_MAP_ARROW_ITER_UDF`, 3.3 to 4.3).
_MAP_IN_ARROW = 207


def mapped_in_arrow(
    frame: DataFrame, act: Callable[[Iterator[Any]], Iterator[Any]], returns: str
) -> DataFrame:
    """Return what a function makes of the batches of each task.

    Args:
        act: gets the record batches of a task, and yields others. It travels to the workers by value, if its module is
            registered for that, or is not found there.
        returns: the columns that it yields, as DDL.
    """
    session = frame.sparkSession
    column = UserDefinedFunction(act, returns, evalType=_MAP_IN_ARROW)(*frame.columns)._jc
    version = tuple(int(part) for part in session.version.split(".")[:2])
    if version >= (4, 0):
        return DataFrame(frame._jdf.mapInArrow(column, False, None), session)
    barrier = [False] if version >= (3, 5) else []
    return DataFrame(frame._jdf.pythonMapInArrow(column.expr(), *barrier), session)

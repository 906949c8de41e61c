"""The option `where`: the grammar of conditions on the partition keys, and nothing else, and the units that match one.

Spark parses the condition, so that its literals and operators mean what they mean in a query. Then the result is
restricted: Spark would accept a sub-query, a function or a column of the query around it, and select other partitions
than the condition seems to name.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.hadoop.java_errors import first_line, message_of
from spark_jobs.adapters.hadoop.sql import hive_type_name
from spark_jobs.adapters.spark.sessions import active
from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.ddl import identifier
from spark_jobs.core.values.model import Unit

#: The nodes of Spark's parser for AND, OR, NOT, comparisons, IN, LIKE, BETWEEN, IS NULL, signs and literals.
_ALLOWED = {
    *("And", "Or", "Not", "In", "Like", "ILike", "LikeAny", "LikeAll", "NotLikeAny", "NotLikeAll"),
    *("EqualTo", "EqualNullSafe", "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual"),
    *("IsNull", "IsNotNull", "UnaryMinus", "UnaryPositive", "Literal"),
}
#: Java's regular expressions, by which Spark matches patterns, try all places for each `%`. With some more of them, one
#: value of 40 characters takes hours, and nothing stops the driver meanwhile.
_MOST_WILDCARDS = 4
_SUBQUERIES = {"Exists", "InSubquery", "ListQuery", "ScalarSubquery"}
_FUNCTION, _COLUMN = "UnresolvedFunction", "UnresolvedAttribute"
#: Spark 4 parses `a BETWEEN b AND c` into a call of this function.
_BETWEEN = "between"
#: A column beside the partition keys, which no condition can name.
_POSITION = "__lakekeeper_position"


def matching_units(spark: SparkSession, facts: TableFacts, units: Sequence[Unit], where: str) -> list[Unit]:
    """Return the units that match an SQL condition on the partition keys.

    The values are cast to the types of the keys.

    Args:
        spark: a session for SQL text.

    Raises:
        UsageError: the table has no partitions, the text is not a condition on its keys, or Spark rejects it.
    """
    keys = facts.partition_keys
    if not keys:
        raise UsageError(f"{facts.name} has no partitions, so where = '{where}' cannot select any")
    names = [f"v{i}" for i in range(len(keys))]
    typed = [
        f"CAST({name} AS {hive_type_name(kind)}) AS {identifier(key)}"
        for name, key, kind in zip(names, keys, facts.partition_types)
    ]
    with active(spark):
        check_condition(spark, where, keys, facts.name)
        try:
            frame = _values(spark, units, names).selectExpr(*typed, f"{_POSITION} AS {identifier(_POSITION)}")
            return [units[row[0]] for row in frame.filter(where).select(identifier(_POSITION)).collect()]
        except Exception as error:
            raise wrong(where, keys, first_line(str(error))) from None


def _values(spark: SparkSession, units: Sequence[Unit], names: Sequence[str]) -> DataFrame:
    """Return the partition values as a DataFrame, from a literal: createDataFrame would run Python on executors."""
    rows = [
        {_POSITION: position, **dict(zip(names, (value for _, value in unit.spec)))}
        for position, unit in enumerate(units)
    ]
    fields = [f"{_POSITION}:int", *(f"{name}:string" for name in names)]
    schema = f"array<struct<{','.join(fields)}>>"
    parsed = F.explode(F.from_json(F.lit(json.dumps(rows)), schema)).alias("row")
    return spark.range(1).select(parsed).select("row.*")


def check_condition(spark: SparkSession, where: str, keys: Sequence[str], table: str) -> None:
    """Raise UsageError, which names what is wrong, for a text that is not a condition on the partition keys."""
    try:
        parsed = spark._jsparkSession.sessionState().sqlParser().parseExpression(where)
    except Exception as error:
        raise wrong(where, keys, f"Spark cannot parse it: {message_of(error)}") from None
    names = {key.lower() for key in keys}
    for node in _nodes(parsed):
        problem = _problem(node, names)
        if problem:  # guard: conditions_on_keys_only
            raise wrong(where, keys, f"{problem} (table {table})")


def wrong(where: str, keys: Sequence[str], why: str) -> UsageError:
    return UsageError(
        f"where = '{where}' is not a condition on the partition keys {', '.join(keys)}: {why}. Write comparisons, IN,"
        " LIKE, BETWEEN or IS NULL, with AND, OR and NOT"
    )


def _nodes(root: Any) -> list[Any]:
    """Return a parsed expression and all expressions in it."""
    nodes, open_nodes = [], [root]
    while open_nodes:
        node = open_nodes.pop()
        nodes.append(node)
        open_nodes += _items(node.children())
    return nodes


def _problem(node: Any, keys: Collection[str]) -> str | None:
    """Return why a node is not allowed; None if it is."""
    kind = str(node.getClass().getSimpleName())
    if kind in _ALLOWED:
        return _problem_of_patterns(node, kind) if "Like" in kind else None
    if kind == _COLUMN:
        parts = _items(node.nameParts())
        known = len(parts) == 1 and parts[0].lower() in keys
        return None if known else f"'{'.'.join(parts)}' is not a partition key"
    if kind == _FUNCTION:
        name = ".".join(_items(node.nameParts()))
        return None if name.lower() == _BETWEEN else f"the function '{name}' is not allowed"
    if kind in _SUBQUERIES:
        return "a sub-query is not allowed"
    return f"'{node.sql()}' is not allowed"


def _problem_of_patterns(node: Any, kind: str) -> str | None:
    """Return why a pattern of LIKE is not allowed; None if all are."""
    patterns = [node.right()] if kind in ("Like", "ILike") else _items(node.patterns())
    # guard: patterns_that_end
    if any(str(pattern).count("%") > _MOST_WILDCARDS for pattern in patterns):
        return f"a pattern may have {_MOST_WILDCARDS} times % at most"
    return None


def _items(sequence: Any) -> list[Any]:
    """Return the items of a Scala sequence."""
    return [sequence.apply(i) for i in range(sequence.size())]

"""The grammar of `where`: which conditions are accepted, what they select, and that they read partition keys only."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.utils import AnalysisException

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.metastore import Metastore
from spark_jobs.adapters.hadoop.partition_condition import check_condition
from spark_jobs.core.eligibility import Storage, TableFacts
from spark_jobs.core.errors import UsageError
from spark_jobs.core.model import Unit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FACTS = TableFacts(
    name="sales.events",
    kind="EXTERNAL",
    storage=Storage("hdfs://nn/events", None, None),
    provider=None,
    properties={},
    columns=(("amount", "bigint"), ("note", "string")),
    partition_keys=("date", "hour", "region code"),
    partition_types=("date", "int", "string"),
)
UNITS = [
    Unit((("date", day), ("hour", hour), ("region code", region)), f"hdfs://nn/events/{day}/{hour}/{region}")
    for day in ("2026-02-23", "2026-02-24", None)
    for hour, region in (("1", "EU"), ("9", "eu-west"), ("10", "US"), (None, None))
]


@pytest.fixture(scope="module")
def catalog(spark: SparkSession) -> Metastore:
    return Metastore(spark, HadoopFileSystem(spark))


def selected(catalog: Metastore, where: str) -> set[tuple[str | None, ...]]:
    return {tuple(value for _, value in unit.spec) for unit in catalog.matching(FACTS, UNITS, where)}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        # Typed: as a number 10 is more than 9, as a text it is not.
        ("hour > 9 AND date IS NOT NULL", {("2026-02-23", "10", "US"), ("2026-02-24", "10", "US")}),
        ("DATE = '2026-02-23' AND Hour = 1", {("2026-02-23", "1", "EU")}),
        ("date = date '2026-02-24' AND hour IN (10, 11)", {("2026-02-24", "10", "US")}),
        ("date < '2026-02-24' AND `region code` LIKE 'eu%'", {("2026-02-23", "9", "eu-west")}),
        (
            "date BETWEEN '2026-02-20' AND '2026-02-23' AND hour NOT BETWEEN 2 AND 99",
            {("2026-02-23", "1", "EU")},
        ),
        ("date IS NULL AND hour IS NULL", {(None, None, None)}),
        ("NOT (date IS NOT NULL OR hour <> 10)", {(None, "10", "US")}),
        ("date <=> null AND hour = -(-1)", {(None, "1", "EU")}),
    ],
)
def test_a_condition_selects_by_the_types_of_the_keys(
    catalog: Metastore, where: str, expected: set[tuple[str | None, ...]]
) -> None:
    assert selected(catalog, where) == expected


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("amount > 3", "'amount' is not a partition key"),
        ("events.date = '2026-02-23'", "'events.date' is not a partition key"),
        ("hour = 1 OR note IS NULL", "'note' is not a partition key"),
        ("hour = current_hour", "'current_hour' is not a partition key"),
        ("date > current_date", "'current_date' is not a partition key"),
        ("__lakekeeper_position = 1", "'__lakekeeper_position' is not a partition key"),
        ("upper(`region code`) = 'EU'", "the function 'upper' is not allowed"),
        ("hour IN (SELECT 1)", "a sub-query is not allowed"),
        ("hour = (SELECT max(id) FROM other)", "a sub-query is not allowed"),
        ("EXISTS (SELECT 1)", "a sub-query is not allowed"),
        ("hour + 1 = 2", "is not allowed"),
        ("cast(hour AS string) = '1'", "is not allowed"),
        ("`region code` RLIKE 'E.*'", "is not allowed"),
        ("CASE WHEN hour = 1 THEN true END", "is not allowed"),
        ("hour =", "Spark cannot parse it"),
        ("hour = 1; DROP TABLE x", "Spark cannot parse it"),
        ("hour", "ilter"),  # not a condition: Spark's own words
    ],
)
def test_what_is_not_a_condition_on_the_keys_is_refused_by_name(
    catalog: Metastore, where: str, named: str
) -> None:
    with pytest.raises(UsageError, match="is not a condition on the partition keys") as refused:
        catalog.matching(FACTS, UNITS, where)
    assert named in str(refused.value)


KEYS = ["date", "DATE", "`hour`", "hour", "`region code`"]
LITERALS = ["1", "-2", "'x'", "NULL", "date '2026-01-01'", "1.5", "true"]
OTHERS = [
    *("amount", "t.hour", "rand()", "(SELECT 1)", "hour + 1", "cast(hour AS int)", "lower('x')"),
    "current_date",
]
PREDICATES = [
    *("{} = {}", "{} <> {}", "{} < {}", "{} >= {}", "{} LIKE {}", "{} IN ({}, 3)", "{} <=> {}"),
    *("{} BETWEEN {} AND {}", "{} NOT IN ({}, {})", "{} IS NULL", "{} IS NOT NULL"),
]


def condition(dice: random.Random, depth: int) -> tuple[str, bool]:
    """Return a condition, and whether it is one on the partition keys."""
    if depth and dice.random() < 0.6:
        template = dice.choice(["({} AND {})", "({} OR {})", "NOT ({})"])
        return joined(template, [condition(dice, depth - 1) for _ in range(template.count("{}"))])
    template = dice.choice(PREDICATES)
    return joined(template, [operand(dice) for _ in range(template.count("{}"))])


def operand(dice: random.Random) -> tuple[str, bool]:
    allowed = dice.random() < 0.9
    return dice.choice(dice.choice([KEYS, LITERALS]) if allowed else OTHERS), allowed


def joined(template: str, parts: list[tuple[str, bool]]) -> tuple[str, bool]:
    return template.format(*(text for text, _ in parts)), all(allowed for _, allowed in parts)


def test_exactly_the_conditions_on_keys_are_accepted(spark: SparkSession) -> None:
    dice = random.Random(18)
    conditions = [condition(dice, 3) for _ in range(300)]
    assert {allowed for _, allowed in conditions} == {True, False}
    wrong = [where for where, allowed in conditions if accepted(spark, where) != allowed]
    assert wrong == []


def accepted(spark: SparkSession, where: str) -> bool:
    try:
        check_condition(spark, where, FACTS.partition_keys, FACTS.name)
    except UsageError:
        return False
    return True


WORDS = [
    *("date", "hour", "`region code`", "amount", "note", "1", "'x'", "NULL", "rand()", "position"),
    *("=", "<", ">", "<>", "(", ")", ",", "AND", "OR", "NOT", "IN", "LIKE", "BETWEEN", "IS", "SELECT"),
    *("FROM", "EXISTS", "abs(", "+", "-", ".", "*", "::", "[", "]", "CASE", "WHEN", "THEN", "END"),
    *("->", "/*", "--", ";", "partitions"),
]


def sentence(dice: random.Random) -> str:
    """Return words in a random order. Half of them begin as a condition does, or few would be accepted."""
    begin = dice.choice([[], [dice.choice(KEYS), dice.choice(["=", "<", "<>"])]])
    return " ".join([*begin, *dice.choices(WORDS, k=dice.randint(1, 7))])


def test_what_is_accepted_reads_partition_keys_only(spark: SparkSession) -> None:
    """Of a table that has other columns too, Spark's analysis of an accepted condition names the keys alone."""
    table = spark.sql(
        "SELECT date '2026-01-01' AS date, 1 AS hour, 'EU' AS `region code`, 1L AS amount, 'x' AS note, 1 AS position"
    )
    dice = random.Random(18)
    found = [where for where in (sentence(dice) for _ in range(3000)) if accepted(spark, where)]
    read = {where: keys_only(table, where) for where in found}
    assert sum(only is not None for only in read.values()) > 20
    assert [where for where, only in read.items() if only is False] == []


def keys_only(table: DataFrame, where: str) -> bool | None:
    """Tell whether Spark finds nothing but keys and literals in a condition; None if it refuses the condition."""
    try:
        analysed = table.filter(where)._jdf.queryExecution().analyzed().condition()
    except AnalysisException:
        return None
    read, names = analysed.references().iterator(), set()
    while read.hasNext():
        names.add(read.next().name().lower())
    return (
        names <= set(FACTS.partition_keys)
        and analysed.deterministic()
        and "subquery" not in analysed.toString().lower()
    )

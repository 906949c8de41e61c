"""The grammar of `where`: which conditions are accepted, what they select, and that they read partition keys only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql.utils import AnalysisException

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.metastore import Metastore
from spark_jobs.adapters.hadoop.partition_condition import check_condition
from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values.model import Unit

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
        ("hour != 10 AND hour <> 9 AND date <= '2026-02-23'", {("2026-02-23", "1", "EU")}),
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
        # A match of forty against one value of 44 characters did not end within minutes.
        (f"`region code` LIKE '{'%a' * 5}b'", "a pattern may have 4 times % at most"),
        (f"NOT `region code` ILIKE '{'%a' * 40}'", "a pattern may have 4 times % at most"),
        (f"`region code` LIKE ANY ('a%', '{'%a' * 5}b')", "a pattern may have 4 times % at most"),
        (f"`region code` NOT LIKE ALL ('{'%a' * 5}b')", "a pattern may have 4 times % at most"),
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


KEYS = st.sampled_from(["date", "DATE", "`hour`", "hour", "`region code`"])
LITERALS = st.sampled_from(["1", "-2", "'x'", "NULL", "date '2026-01-01'", "1.5", "true"])
OTHERS = [
    *("amount", "t.hour", "rand()", "(SELECT 1)", "hour + 1", "cast(hour AS int)", "lower('x')"),
    "current_date",
]
PREDICATES = st.sampled_from(
    [
        *("{} = {}", "{} <> {}", "{} < {}", "{} >= {}", "{} LIKE {}", "{} IN ({}, 3)", "{} <=> {}"),
        *("{} BETWEEN {} AND {}", "{} NOT IN ({}, {})", "{} IS NULL", "{} IS NOT NULL"),
    ]
)
COMBINATIONS = st.sampled_from(["({} AND {})", "({} OR {})", "NOT ({})"])
HOW = {"deadline": None, "derandomize": True, "database": None}


def filled(templates: SearchStrategy[str], parts: SearchStrategy[str]) -> SearchStrategy[str]:
    """Return texts made of a template, with a part for each of its gaps."""
    return templates.flatmap(
        lambda template: st.tuples(*[parts] * template.count("{}")).map(lambda found: template.format(*found))
    )


def conditions(operands: SearchStrategy[str]) -> SearchStrategy[str]:
    return st.recursive(filled(PREDICATES, operands), lambda inner: filled(COMBINATIONS, inner), max_leaves=6)


@settings(max_examples=200, **HOW)
@given(where=conditions(KEYS | LITERALS))
def test_conditions_on_keys_are_accepted(spark: SparkSession, where: str) -> None:
    assert accepted(spark, where)


@settings(max_examples=200, **HOW)
@given(where=conditions(KEYS | LITERALS | st.sampled_from(OTHERS)))
def test_a_condition_with_anything_else_in_it_is_refused(spark: SparkSession, where: str) -> None:
    assume(any(other in where for other in OTHERS))
    assert not accepted(spark, where)


def accepted(spark: SparkSession, where: str) -> bool:
    try:
        check_condition(spark, where, FACTS.partition_keys, FACTS.name)
    except UsageError:
        return False
    return True


#: Half of the sentences begin as a condition does, or few would be accepted.
BEGINNINGS = st.just("") | filled(st.sampled_from(["{} =", "{} <", "{} <>"]), KEYS)
WORDS = [
    *("date", "hour", "`region code`", "amount", "note", "1", "'x'", "NULL", "rand()", "position"),
    *("=", "<", ">", "<>", "(", ")", ",", "AND", "OR", "NOT", "IN", "LIKE", "BETWEEN", "IS", "SELECT"),
    *("FROM", "EXISTS", "abs(", "+", "-", ".", "*", "::", "[", "]", "CASE", "WHEN", "THEN", "END"),
    *("->", "/*", "--", ";", "partitions"),
]
SENTENCES = st.tuples(BEGINNINGS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=7)).map(
    lambda parts: " ".join([parts[0], *parts[1]]).strip()
)


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    """A table that has other columns beside its keys."""
    return spark.sql(
        "SELECT date '2026-01-01' AS date, 1 AS hour, 'EU' AS `region code`, 1L AS amount, 'x' AS note, 1 AS position"
    )


def test_what_is_accepted_reads_partition_keys_only(spark: SparkSession, table: DataFrame) -> None:
    """Spark's analysis of an accepted condition, also of one that no grammar has made, names the keys alone."""
    read: set[str] = set()

    @settings(max_examples=3000, **HOW)
    @given(where=SENTENCES)
    def check(where: str) -> None:
        if accepted(spark, where):
            only = keys_only(table, where)
            assert only is not False
            read.update({where} if only else ())

    check()
    assert len(read) > 20


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

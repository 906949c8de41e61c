"""Which figures in footers are exact: by format, type and writer."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from spark_jobs.core.formats import orc_statistics, parquet_statistics
from spark_jobs.core.formats.leaf_statistics import EMPTY, UNKNOWN, Bounds, LeafStatistics
from spark_jobs.core.formats.orc_statistics import OrcColumn

JAVA = "parquet-mr version 1.13.1 (build db41)"


def chunk(path: str, text: str | None, entries: int = 6) -> dict[str, Any]:
    return {"path": f"[{path}]", "valueCount": entries, "statistics": text}


def parquet(
    leaves: dict[str, str], *blocks: list[dict[str, Any]], by: str = JAVA
) -> dict[str, LeafStatistics]:
    return parquet_statistics.file_statistics(leaves, [{"columns": block} for block in blocks], by)


def of(kind: str, text: str | None, by: str = JAVA) -> LeafStatistics:
    return parquet({"v": kind}, [chunk("v", text)], by=by)["v"]


@pytest.mark.parametrize(
    ("kind", "minimum", "maximum", "bounds"),
    [
        ("int64", "-3", "12", (-3, 12)),
        ("int32 (INTEGER(8,true)) = 4", "-3", "12", (-3, 12)),
        ("int32 (DATE)", "1999-12-31", "9999-12-31", ("1999-12-31", "9999-12-31")),
        (
            "int64 (TIMESTAMP(MICROS,true))",
            "2024-02-29T12:00:00.000001+0000",
            "2024-03-01T12:00:00.000000+0000",
            ("2024-02-29T12:00:00.000001+0000", "2024-03-01T12:00:00.000000+0000"),
        ),
        ("int64 (DECIMAL(18,4))", "-1.5000", "12.0000", (Decimal("-1.5"), 12)),
        ("double", "-Infinity", "4.9E-324", (float("-inf"), 5e-324)),
        # One number of 32 bits, as Java writes it before version 19, and from then on.
        ("float", "3.00517385E15", "3.0051739E15", (3005173853061120.0, 3005173853061120.0)),
        ("boolean", "false", "true", (0, 1)),
        ("repeated int32", "9", "10", (9, 10)),
    ],
)
def test_bounds_of_types_that_have_one_order(kind: str, minimum: str, maximum: str, bounds: Any) -> None:
    assert of(kind, f"min: {minimum}, max: {maximum}, num_nulls: 2") == LeafStatistics(6, 4, Bounds(*bounds))


@pytest.mark.parametrize(
    ("kind", "minimum", "maximum"),
    [
        ("int96", "0x00", "0xFF"),
        ("int32 (INTEGER(32,false))", "1", "4294967295"),
        ("binary", "0x61", "0x62"),
        ("fixed_len_byte_array(5) (DECIMAL(10,2))", "0.00", "1.00"),
        ("binary (DECIMAL(10,2))", "0.00", "1.00"),
        ("fixed_len_byte_array(2) (FLOAT16)", "0.0", "1.0"),
        ("double", "NaN", "1.0"),
        # Before Christ, Java's text has no sign; beyond 9999 it has one.
        ("int32 (DATE)", "0001-01-01", "2024-01-01"),
        ("int32 (DATE)", "4714-11-24", "9999-12-31"),
        ("int32 (DATE)", "2024-01-01", "+10000-01-01"),
        ("int32", "unheard of", "1"),
        ("int32", "9", "1"),
        ("binary (STRING)", "a\ufffd", "b"),
        ("binary (STRING)", "a, max: b", "c"),
        ("binary (STRING)", "a", "b, max: c"),
        ("binary (JSON)", "{}", "{}"),
    ],
)
def test_no_bounds_where_order_or_text_are_doubtful_but_nulls_are_counted(
    kind: str, minimum: str, maximum: str
) -> None:
    assert of(kind, f"min: {minimum}, max: {maximum}, num_nulls: 2") == LeafStatistics(6, 4)


def test_a_text_may_have_been_cut_and_may_look_like_statistics() -> None:
    text = "min: a\nb, num_nulls: 3, max: c, num_nulls: 4, num_nulls: 0"
    assert of("binary (STRING)", text).bounds == Bounds(
        "a\nb, num_nulls: 3", "c, num_nulls: 4", truncated=True
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no stats for this column", LeafStatistics(6)),
        (None, LeafStatistics(6)),
        ("min: 1, max: 2, num_nulls not defined", LeafStatistics(6)),
        ("num_nulls: 2, min/max not defined", LeafStatistics(6, 4)),
        ("num_nulls: 6, min/max not defined", LeafStatistics(6, 0, None, 0)),
        ("num_nulls: 7, min/max not defined", LeafStatistics(6)),
    ],
)
def test_nulls_are_counted_where_the_footer_counts_them(text: str | None, expected: LeafStatistics) -> None:
    assert of("int32", text) == expected


@pytest.mark.parametrize(
    ("by", "non_null", "bounds"),
    [
        (JAVA, 4, True),
        ("parquet-mr version 1.10.0 (build 031a)", 4, True),
        ("parquet-mr version 1.8.1 (build 4aba)", 4, False),
        ("parquet-mr version 1.5.0-cdh5.16.2 (build ${buildNumber})", 4, False),
        ("parquet-cpp-arrow version 26.0.1", 4, True),
        ("parquet-cpp-arrow version 11.0.0", None, False),
        ("parquet-cpp version 1.5.1-SNAPSHOT", None, False),
        ("impala version 3.4.0-RELEASE (build abc)", None, False),
        ("parquet-rs version 53.0.0", None, False),
        ("Trino version 435 (build n/a)", None, False),
        ("", None, False),
    ],
)
def test_statistics_count_by_their_writer(by: str, non_null: int | None, bounds: bool) -> None:
    found = of("int32", "min: 1, max: 2, num_nulls: 2", by)
    assert (found.entries, found.non_null, bool(found.bounds)) == (6, non_null, bounds)


def test_arrow_counts_nulls_of_flat_columns_only() -> None:
    leaves = {"a": "group (LIST)", "a.list": "repeated group", "a.list.element": "int32"}
    blocks = [chunk("a, list, element", "min: 1, max: 2, num_nulls: 2")]
    assert parquet(leaves, blocks)["a.list.element"] == LeafStatistics(6, 4, Bounds(1, 2))
    arrow = parquet(leaves, blocks, by="parquet-cpp-arrow version 26.0.1")
    assert arrow == {"a.list.element": LeafStatistics(6)}
    assert of("repeated int32", "num_nulls: 2, min/max not defined", "parquet-cpp-arrow version 26.0.1") == (
        LeafStatistics(6)
    )


def test_row_groups_are_added_up_and_those_that_cannot_be_told_are_left_out() -> None:
    two = [[chunk("V", f"min: {n}, max: {n + 1}, num_nulls: 1")] for n in (5, 1)]
    assert parquet({"v": "int32"}, *two)["v"] == LeafStatistics(12, 10, Bounds(1, 6))
    text = "num_nulls: 0, min/max not defined"
    leaves = {"a.b": "int32", "v": "int32"}
    # A column named "a, b" has the text of a field b of a.
    assert parquet(leaves, [chunk("a, b", text), chunk("a, b", text)]) == {"a.b": UNKNOWN, "v": UNKNOWN}
    assert parquet(leaves) == {"a.b": EMPTY, "v": EMPTY}


def orc(category: str, writer: str = "ORC_14", rows: int = 6, root: int = 6, **found: Any) -> LeafStatistics:
    columns, statistics = [OrcColumn("v", category)], [{"numberOfValues": root}, found]
    return orc_statistics.file_statistics(columns, statistics, rows, writer)["v"]


@pytest.mark.parametrize(
    ("category", "found", "bounds", "total"),
    [
        ("bigint", {"minimum": -2, "maximum": 9, "sum": 12, "sumDefined": True}, Bounds(-2, 9), 12),
        ("int", {"minimum": -2, "maximum": 9, "sum": 12, "sumDefined": False}, Bounds(-2, 9), None),
        ("int", {"minimum": 2**63 - 1, "maximum": -(2**63), "sum": 0, "sumDefined": True}, None, 0),
        ("boolean", {"trueCount": 3, "falseCount": 1}, None, 3),
        ("double", {"minimum": -0.0, "maximum": 2.5, "sum": 2.5}, Bounds(0.0, 2.5), None),
        ("double", {"minimum": 1.0, "maximum": 2.0, "sum": "NaN"}, None, None),
        ("double", {}, None, None),
        ("string", {"minimum": "a", "maximum": "b", "sum": 8}, Bounds("a", "b"), 8),
        ("string", {"minimum": None, "maximum": "b", "lowerBound": "a", "sum": 0}, None, None),
        ("string", {"minimum": "a\ufffd", "maximum": "b", "sum": 8}, None, 8),
        ("char", {"minimum": "a", "maximum": "b", "sum": 8}, None, None),
        ("binary", {"sum": 8}, None, 8),
        (
            "decimal",
            {"minimum": "0", "maximum": "0.5", "sum": "1"},
            Bounds(Decimal(0), Decimal("0.50")),
            None,
        ),
        ("decimal", {"minimum": None, "maximum": None}, None, None),
        ("date", {"minimumDayOfEpoch": 0, "maximumDayOfEpoch": 9}, Bounds(0, 9), None),
        ("date", {"minimumDayOfEpoch": -141428, "maximumDayOfEpoch": 9}, None, None),
        ("timestamp", {"minimum": "2024-01-01 00:00:00.0", "maximum": "2024-01-01 00:00:00.0"}, None, None),
        ("struct", {}, None, None),
    ],
)
def test_figures_of_orc_by_type(
    category: str, found: dict[str, Any], bounds: Bounds | None, total: int | None
) -> None:
    assert orc(category, numberOfValues=4, **found) == LeafStatistics(None, 4, bounds, total)


@pytest.mark.parametrize(
    ("writer", "counted", "ordered"),
    [
        ("ORC_135", True, True),
        ("HIVE_13083", True, False),
        ("ORIGINAL", False, False),
        ("ORC_CPP_ORIGINAL", False, False),
        ("TRINO_ORIGINAL", False, False),
        ("FUTURE", False, False),
    ],
)
def test_statistics_of_orc_count_by_their_writer(writer: str, counted: bool, ordered: bool) -> None:
    found = orc("int", writer, numberOfValues=4, minimum=1, maximum=2, sum=6, sumDefined=True)
    assert (found.non_null, found.total) == (4 if counted else None, 6 if ordered else None)
    assert bool(found.bounds) == ordered


def test_orc_files_without_indexes_have_counted_nothing() -> None:
    """Their statistics are zeros, as those of a column of nulls."""
    assert orc("int", root=0, numberOfValues=0) == UNKNOWN
    assert orc("int", root=6, numberOfValues=0) == LeafStatistics(None, 0, None, 0)
    assert orc("int", root=0, rows=0, numberOfValues=0) == EMPTY


def test_orc_columns_that_cannot_be_told_apart_are_not_compared() -> None:
    columns = [OrcColumn("a.b", "int"), OrcColumn("a.b", "int")]
    found = [{"numberOfValues": count} for count in (6, 4, 5)]
    assert orc_statistics.file_statistics(columns, found, 6, "ORC_14") == {"a.b": UNKNOWN}
    assert set(orc_statistics.file_statistics(columns, found[1:], 6, "ORC_14").values()) == {UNKNOWN}


def test_a_column_with_a_dot_in_its_name_is_no_field_of_a_struct() -> None:
    leaves = {"`a.b`": "int32", "a": "group", "a.b": "int32"}
    text = "min: {}, max: {}, num_nulls: 0"
    found = parquet(leaves, [chunk("a.b", text.format(1, 2)), chunk("a, b", text.format(3, 4))])
    assert {path: figures.bounds for path, figures in found.items()} == {
        "`a.b`": Bounds(1, 2),
        "a.b": Bounds(3, 4),
    }

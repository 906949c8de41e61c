"""Which files of a unit are written with one schema."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from spark_jobs.core.formats import footers
from spark_jobs.core.formats.file_groups import MOST_GROUPS, Groups, grouped
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.widening import unrelated
from spark_jobs.core.messages.errors import Refusal

WIDENED = [
    ("int32", "int64"),
    ("int32 (INTEGER(16,true))", "int32"),
    ("int32 (INTEGER(8,true))", "int64"),
    ("float", "double"),
    ("repeated int32", "repeated int64"),
    ("int32 = 4", "int64 = 4"),
    ("int32 (DECIMAL(9,2))", "int64 (DECIMAL(18,2))"),
    ("int32 (DECIMAL(9,2))", "fixed_len_byte_array(9) (DECIMAL(20,4))"),
    ("fixed_len_byte_array(5) (DECIMAL(10,2))", "int64 (DECIMAL(10,2))"),
    ("tinyint", "bigint"),
    ("smallint", "int"),
    ("decimal(9,2)", "decimal(18,2)"),
]
OTHERS = [
    ("int32", "binary (STRING)"),
    ("int32", "double"),
    ("int32", "int32 (DATE)"),
    ("int32 (INTEGER(32,false))", "int64"),
    ("int32", "repeated int64"),
    ("int32 = 4", "int64 = 5"),
    ("int64", "int64 (DECIMAL(18,2))"),
    ("int32 (DECIMAL(9,2))", "int32 (DECIMAL(9,3))"),
    ("int64 (TIMESTAMP(MICROS,true))", "int64 (TIMESTAMP(MICROS,false))"),
    ("int96", "int64 (TIMESTAMP(MICROS,true))"),
    ("decimal(9,2)", "decimal(9,3)"),
    ("array<int>", "array<bigint>"),
]


def _footer(name: str, **leaves: str) -> Footer:
    return Footer(name, 1, {"SNAPPY": 10}, leaves, {})


def _names(found: Groups) -> list[str]:
    return ["".join(footer.name for footer in group) for group in found.footers]


@pytest.mark.parametrize(("narrow", "wide"), WIDENED)
def test_files_with_a_widened_column_are_groups_of_one_type(narrow: str, wide: str) -> None:
    files = [_footer("a", v=narrow), _footer("b", v=wide), _footer("c", v=narrow), _footer("d", v=wide)]
    found = grouped(files, by_position=False)
    assert _names(found) == ["ac", "bd"]
    assert found.reason == f"column 'v' is {narrow} in a and {wide} in b"
    assert [{footer.leaves["v"] for footer in group} for group in found.footers] == [{narrow}, {wide}]


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_files_with_any_other_two_types_stay_together_and_are_refused(one: str, other: str) -> None:
    for kinds in ((one, other), (other, one)):
        assert unrelated(kinds) == kinds
        (group,) = grouped([_footer("a", v=kinds[0]), _footer("b", v=kinds[1])], by_position=False).footers
        with pytest.raises(Refusal, match="SCHEMA_CONFLICT: column 'v' is"):
            footers.profile(group, None, "parquet")


def test_one_column_that_was_not_widened_has_the_whole_unit_refused() -> None:
    files = [_footer("a", v="int32", w="int32"), _footer("b", v="int64", w="binary")]
    assert _names(grouped(files, by_position=False)) == ["ab"]


def test_columns_that_come_and_go_need_no_second_group() -> None:
    files = [_footer("a", id="int32"), _footer("b", v="int64", id="int32"), _footer("c", w="float")]
    assert grouped(files, by_position=False) == Groups((tuple(files),))


def test_a_file_without_the_widened_column_goes_with_the_first_group() -> None:
    files = [_footer("a", v="int32"), _footer("b", v="int64"), _footer("c", id="int32")]
    assert _names(grouped(files, by_position=False)) == ["ac", "b"]


BY_POSITION = {
    "a column more": ([("id",), ("id", "a"), ("id", "a", "b")], ["abc"]),
    "a column less": ([("id", "a", "b"), ("id", "a")], ["ab"]),
    "another name": ([("id", "a"), ("id", "b"), ("id", "a")], ["ac", "b"]),
    "another order": ([("id", "a"), ("a", "id")], ["a", "b"]),
    "another order and more": ([("id", "a"), ("id", "b", "a"), ("id",)], ["ac", "b"]),
}


@pytest.mark.parametrize(("columns", "groups"), BY_POSITION.values(), ids=list(BY_POSITION))
def test_by_position_the_columns_of_a_file_are_the_first_of_its_group(
    columns: list[tuple[str, ...]], groups: list[str]
) -> None:
    files = [_footer(name, **dict.fromkeys(each, "int")) for name, each in zip("abc", columns, strict=False)]
    found = grouped(files, by_position=True)
    assert _names(found) == groups
    assert found.reason is None or "lakekeeper.readers=by-name" in found.reason
    for group in found.footers:
        union = list(footers.profile(group, None, "orc").leaves)
        widest = max((list(footer.leaves) for footer in group), key=len)
        assert union[: len(widest)] == widest == union
    assert _names(grouped(files, by_position=False)) == ["abc"[: len(columns)]]


def test_what_was_written_of_each_group_is_a_group_again() -> None:
    """Else a compacted unit would be compacted again every night."""
    kinds = [("int", ""), ("bigint", ""), ("int", "x"), ("bigint", "y"), ("int", "y"), ("", "x")]
    files = [
        _footer(name, **{"v": kind} if kind else {}, **{extra: "string"} if extra else {})
        for name, (kind, extra) in zip("abcdef", kinds, strict=True)
    ]
    for order in permutations(files):
        found = grouped(order, by_position=True)
        written = [
            _footer(str(number), **footers.profile(group, None, "orc").leaves)
            for number, group in enumerate(found.footers)
        ]
        for again in (written, written[::-1]):
            assert len(grouped(again, by_position=True).footers) == len(written)


def test_too_many_groups_are_refused_by_what_makes_them() -> None:
    names = [f"c{number}" for number in range(MOST_GROUPS + 1)]
    files = [_footer(name, **{name: "int"}) for name in names]
    assert len(grouped(files[:-1], by_position=True).footers) == MOST_GROUPS
    with pytest.raises(Refusal, match=r"POSITIONAL: its files have 11 schemas.*readers=by-name"):
        grouped(files, by_position=True)
    widened = [_footer(name, **dict.fromkeys(names, "int") | {name: "bigint"}) for name in names]
    with pytest.raises(Refusal, match="SCHEMA_CONFLICT: its files have 11 schemas"):
        grouped(widened, by_position=True)


def test_files_that_differ_in_their_headers_are_groups() -> None:
    """Avro and sequence files have a schema in their headers, and do not count their rows."""
    files = [
        replace(_footer(name), rows=None, header=header) for name, header in zip("abcd", "xyxy", strict=True)
    ]
    found = grouped(files, by_position=False)
    assert _names(found) == ["ac", "bd"]
    assert found.reason == "a and b differ in schema or codec"

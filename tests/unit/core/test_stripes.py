"""Whether the stripes of ORC files can be merged, and which files count."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from spark_jobs.core.formats.footers import Footer, with_rows
from spark_jobs.core.formats.orc_types import check_fields, parse_struct
from spark_jobs.core.formats.stripes import Stripes, by_statistics, united
from spark_jobs.core.messages.errors import Refusal

WANTED = [("struct", "Base"), ("bigint", "Integer"), ("array", "Collection"), ("timestamp", "Timestamp")]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["Base", "Integer", "Collection", "Timestamp"], ("", False)),
        (["Base", "Integer", "Base", "Timestamp"], ("", True)),
        (["Base", "Integer", "Base", "Base"], ("lacks statistics of its columns of type timestamp", False)),
        (["Base"], ("lacks statistics of its stripes", False)),
    ],
)
def test_statistics_decide_what_can_be_merged(found: Sequence[str], expected: tuple[str, bool]) -> None:
    whole = ["Base", "Integer", "Collection", "Timestamp"]
    assert by_statistics(WANTED, [whole, found], 2) == expected


def test_a_stripe_without_statistics_cannot_be_merged() -> None:
    assert by_statistics(WANTED, [], 1) == ("lacks statistics of its stripes", False)


@pytest.mark.parametrize(
    ("found", "obstacle"),
    [
        ((Stripes("one"), Stripes("one")), ""),
        ((Stripes("one"), Stripes("two")), "the files differ in schema, compression, metadata or writer"),
        ((Stripes("one"), Stripes("one", "lacks statistics")), "f1 lacks statistics"),
    ],
)
def test_all_files_are_merged_or_none(found: Sequence[Stripes], obstacle: str) -> None:
    stripes = united([(f"f{number}", each) for number, each in enumerate(found)])
    assert stripes is not None
    assert stripes.obstacle == obstacle


def test_one_file_with_bare_lists_decides_for_all() -> None:
    stripes = united([("a", Stripes("one")), ("b", Stripes("one", bare_collections=True))])
    assert stripes is not None
    assert stripes.bare_collections


def test_one_file_of_the_proleptic_calendar_decides_for_all() -> None:
    stripes = united([("a", Stripes("one")), ("b", Stripes("two", proleptic=True))])
    assert stripes is not None
    assert stripes.proleptic


def _footer(name: str, rows: int | None, **leaves: str) -> Footer:
    return Footer(name, rows, {}, leaves, {})


def test_files_without_rows_do_not_count_beside_others() -> None:
    files = [_footer("a", 0, id="int"), _footer("b", 3, id="bigint"), _footer("c", None, id="string")]
    assert [footer.name for footer in with_rows(files)] == ["b", "c"]


def test_without_any_rows_the_first_schema_counts() -> None:
    files = [_footer("a", 0), _footer("b", 0, id="bigint"), _footer("c", 0, id="string")]
    assert [footer.name for footer in with_rows(files)] == ["b"]
    with pytest.raises(Refusal, match="EMPTY"):
        with_rows(files[:1])


def test_names_in_orc_types_have_no_case_and_only_needed_quotes() -> None:
    assert parse_struct("struct<S:struct<`Place`:int,`a-B`:array<int>>>") == {
        "s": "struct<place:int,`a-b`:array<int>>"
    }


def test_fields_that_differ_only_in_case_are_refused() -> None:
    check_fields(["a", "b"], "s")
    with pytest.raises(Refusal, match="struct 's' has two fields 'a'"):
        check_fields(["a", "b", "A"], "s")

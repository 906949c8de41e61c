"""The figures of columns, before and after a rewrite: what differs fails the unit, and what may differ does not."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.core.formats import footers, verification
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.leaf_statistics import (
    EMPTY,
    UNKNOWN,
    Bounds,
    FileStatistics,
    LeafStatistics,
    check_statistics,
    of_files,
)
from spark_jobs.core.messages.errors import VerificationFailed


def leaf(non_null: int | None, *bounds: Any, nulls: int = 0, **more: Any) -> LeafStatistics:
    entries = None if non_null is None else non_null + nulls
    truncated = more.pop("truncated", False)
    return LeafStatistics(entries, non_null, Bounds(*bounds, truncated) if bounds else None, **more)


def footer(rows: int, statistics: FileStatistics | None) -> Footer:
    return Footer("f", rows, {"SNAPPY": 1}, {"v": "int64"}, {}, statistics=statistics)


def test_a_rewrite_with_other_figures_fails_before_the_swap_and_names_all() -> None:
    before = footers.profile(
        [footer(2, {"v": leaf(2, 1, 5)}), footer(2, {"v": leaf(2, 0, 3)})], None, "parquet"
    )
    verification.check_written(before, [footer(4, {"v": leaf(4, 0, 5)})])
    with pytest.raises(
        VerificationFailed, match="'v': minimum 0 in the originals, and 1 in the rewritten files"
    ):
        verification.check_written(before, [footer(4, {"v": leaf(4, 1, 5)})])
    with pytest.raises(
        VerificationFailed, match="'v': values that are not null 4 in the originals, and 0 in"
    ):
        verification.check_written(before, [footer(4, {"v": leaf(0, nulls=4)})])


def test_where_all_values_are_compared_wrong_statistics_of_the_originals_do_no_harm() -> None:
    before = footers.profile([footer(2, {"v": leaf(1, 1, 1, nulls=1)})], None, "parquet")
    written = [footer(2, {"v": leaf(2, 1, 1)})]
    with pytest.raises(
        VerificationFailed, match=r"null 1 in the originals, and 2 in .*; nothing was swapped"
    ):
        verification.check_written(before, written)
    (warning,) = verification.check_written(before, written, statistics=False)
    assert warning.startswith(
        "STATISTICS_DIFFER: column 'v': values that are not null 1 in the originals, and 2 in"
    )
    assert (
        verification.check_written(before, [footer(2, {"v": leaf(1, 1, 1, nulls=1)})], statistics=False) == []
    )


DIFFERENT = {
    "entries": (LeafStatistics(entries=6), LeafStatistics(entries=5)),
    "nulls": (leaf(4, nulls=2), leaf(3, nulls=3)),
    "all nulls": (leaf(6, 1, 2), leaf(0, nulls=6)),
    "minimum": (leaf(6, 1, 9), leaf(6, 2, 9)),
    "maximum": (leaf(6, 1, 9), leaf(6, 1, 8)),
    "sum": (leaf(6, 1, 9, total=20), leaf(6, 1, 9, total=21)),
    "another text": (leaf(6, "left", "left", truncated=True), leaf(6, "right", "right", truncated=True)),
    "a smaller text": (leaf(6, "b", "x", truncated=True), leaf(6, "a", "x", truncated=True)),
    "a larger text": (leaf(6, "a", "x1", truncated=True), leaf(6, "a", "z1", truncated=True)),
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=list(DIFFERENT))
def test_a_figure_that_differs_is_noticed_both_ways(pair: tuple[LeafStatistics, LeafStatistics]) -> None:
    for before, after in (pair, pair[::-1]):
        with pytest.raises(VerificationFailed, match="column 'v'"):
            check_statistics({"v": before}, {"v": after})


THE_SAME = {
    "nothing is known of one side": (leaf(6, 1, 9), UNKNOWN),
    "no bounds on one side": (leaf(6, 1, 9), leaf(6)),
    "signs of zero": (leaf(6, -0.0, 0.0), leaf(6, 0.0, -0.0)),
    "a text cut at four characters": (leaf(6, "Tokyo", "Tokyo"), leaf(6, "Toky", "Tokz", truncated=True)),
    "cut at two lengths": (leaf(6, "Toky", "Tokz", truncated=True), leaf(6, "Tok", "Tol", truncated=True)),
    "a last character that has none after it is left out": (
        leaf(6, "T\U0010ffff\U0010ffffx", "T\U0010ffff\U0010ffffx"),
        leaf(6, "T", "U", truncated=True),
    ),
    # Parquet's Java writer keeps a last character that would become longer, and increments the one before it.
    "a last character that becomes longer is kept": (
        leaf(6, "a", "a\u007fxyz"),
        leaf(6, "a", "b\u007f", truncated=True),
    ),
    "an empty text": (leaf(6, "", "b", truncated=True), leaf(6, "", "b", truncated=True)),
    # Java does not notice each overflow of a column of one value.
    "sums that differ by 64 bits": (leaf(6, total=2**62 * 6), leaf(6, total=2**62 * 6 - 2**64)),
}


@pytest.mark.parametrize("pair", THE_SAME.values(), ids=list(THE_SAME))
def test_what_may_differ_is_no_difference(pair: tuple[LeafStatistics, LeafStatistics]) -> None:
    for before, after in (pair, pair[::-1]):
        check_statistics({"v": before}, {"v": after})


def test_a_figure_that_one_file_lacks_is_not_compared() -> None:
    some, none = leaf(2, 1, 2, total=3), LeafStatistics(2)
    found = of_files([{"v": some}, {"v": none}])
    assert found == {"v": LeafStatistics(entries=4)}
    assert of_files([{"v": some}, None]) == {}


def test_bounds_that_one_file_lacks_are_not_compared_but_its_values_are_counted() -> None:
    (found,) = of_files([{"v": leaf(2, 1, 2)}, {"v": leaf(2)}]).values()
    assert (found.non_null, found.bounds) == (4, None)


def test_a_column_that_a_file_lacks_has_no_values_there() -> None:
    found = of_files([{"id": leaf(3, 1, 3)}, {"id": leaf(3, 4, 6), "v": leaf(2, 7, 8, nulls=1)}])
    assert (found["v"].non_null, found["v"].bounds) == (2, Bounds(7, 8))
    check_statistics(found, {"id": leaf(6, 1, 6), "v": leaf(2, 7, 8, nulls=4)})
    with pytest.raises(VerificationFailed, match="'v': values that are not null 2 in the originals, and 6"):
        check_statistics(found, {"id": leaf(6, 1, 6), "v": leaf(6, 7, 8)})


def test_files_without_rows_and_columns_of_nulls_need_no_bounds() -> None:
    found = of_files([{"v": EMPTY}, {"v": leaf(0, nulls=3)}, {"v": leaf(2, 1, 5)}])
    assert found["v"] == leaf(2, 1, 5, nulls=3)
    assert of_files([{"v": EMPTY}, {"v": leaf(0, nulls=3)}])["v"].bounds is None


def test_a_file_of_cut_texts_among_whole_ones_makes_all_comparisons_tolerant() -> None:
    files = [{"v": leaf(1, "Osaka", "Osaka")}, {"v": leaf(1, "Tok", "Tol", truncated=True)}]
    check_statistics(of_files(files), {"v": leaf(2, "Osaka", "Tokyo")})
    with pytest.raises(VerificationFailed, match="maximum 'Tol' in the originals, and 'Uji'"):
        check_statistics(of_files(files), {"v": leaf(2, "Osaka", "Uji")})


def test_a_message_is_one_line_however_long_the_text() -> None:
    with pytest.raises(VerificationFailed) as failure:
        check_statistics({"v": leaf(1, "a\n" * 999, "x")}, {"v": leaf(1, "b", "x")})
    assert "\n" not in str(failure.value)
    assert len(str(failure.value)) < 400

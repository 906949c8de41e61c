"""The list of tables: filters, orders and pages."""

from __future__ import annotations

import pytest

from lakekeeper_provider.page import figures
from lakekeeper_provider.page.listing import COLUMNS, PAGE_ROWS, Wanted, listing
from tests.unit.provider.page.seen import NOW, record, stored, tables_of

ROWS = [
    figures.row(view, NOW)
    for view in tables_of(
        stored(record("sales.a", files=5, bytes=50, flagged_files=4, warning_codes={"TYPE": 1})),
        stored(record("sales.b", files=9, bytes=9, flagged_files=8, outcome="failed"), number=2),
        stored(record("hr.c", files=1, bytes=99, flagged_files=0, outcome="refused", code="VIEW"), number=3),
        stored(record("hr.unknown", rewritten={"files_before": 1}), verb="compact", number=4),
    ).views(("nightly",))
]


def names(**query):
    return [row.name for row in listing(ROWS, Wanted.of(query)).rows]


def test_the_worst_comes_first_and_what_is_not_known_last():
    assert names() == ["sales.b", "sales.a", "hr.c", "hr.unknown"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"database": "hr"}, {"hr.c", "hr.unknown"}),
        ({"name": "SALES."}, {"sales.a", "sales.b"}),
        ({"outcome": "failed"}, {"sales.b"}),
        ({"code": "TYPE"}, {"sales.a"}),
        ({"code": "VIEW", "database": "sales"}, set()),
        ({"name": "<script>"}, set()),
    ],
)
def test_filters(query, found):
    assert set(names(**query)) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"sort": "name"}, ["hr.c", "hr.unknown", "sales.a", "sales.b"]),
        ({"sort": "name", "reverse": "1"}, ["sales.b", "sales.a", "hr.unknown", "hr.c"]),
        ({"sort": "files"}, ["sales.b", "sales.a", "hr.c", "hr.unknown"]),
        ({"sort": "files", "reverse": "1"}, ["hr.c", "sales.a", "sales.b", "hr.unknown"]),
        ({"sort": "average"}, ["sales.b", "sales.a", "hr.c", "hr.unknown"]),
    ],
)
def test_orders(query, found):
    assert names(**query) == found


@pytest.mark.parametrize("column", COLUMNS)
def test_each_column_can_be_sorted_by_in_both_directions(column):
    for reverse in ("0", "1"):
        assert len(names(sort=column, reverse=reverse)) == len(ROWS)


def test_a_second_click_on_a_column_turns_the_order_round():
    wanted = Wanted.of({"sort": "files", "page": "3", "name": "x y"})
    assert wanted.direction("files") == "descending"
    assert wanted.direction("name") is None
    assert wanted.sorted_by("files") == "name=x+y&sort=files&reverse=1"
    assert Wanted.of({"sort": "files", "reverse": "1"}).sorted_by("files") == "sort=files"


@pytest.mark.parametrize("page", ["0", "-1", "x", "", "9" * 400, "²"])
def test_an_odd_page_is_the_first_or_the_last(page):
    assert listing(ROWS, Wanted.of({"page": page, "sort": "; drop table"})).page == 1


def test_pages():
    many = ROWS * PAGE_ROWS
    first, last = (listing(many, Wanted(page=page)) for page in (1, 99))
    assert (first.found, first.pages, len(first.rows)) == (4 * PAGE_ROWS, 4, PAGE_ROWS)
    assert last.page == 4

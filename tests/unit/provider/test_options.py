from __future__ import annotations

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.definitions import OPTIONS, parse_options
from lakekeeper_provider.options.selection import Selection


@pytest.mark.parametrize(
    ("key", "given", "expected"),
    [
        ("dry_run", "false", False),
        ("dry_run", "True", True),
        ("dry_run", True, True),
        ("block_size_mb", "256", 256),
        ("compaction_ratio_threshold", "2.5", 2.5),
        ("sort_columns", "a, b", ["a", "b"]),
        ("sort_columns", '["a", "b"]', ["a", "b"]),
        ("sort_columns", ("a",), ["a"]),
        ("partitions", '[{"date": "2026-02-23"}]', [{"date": "2026-02-23"}]),
        ("partitions", {"date": None, "hour": 1}, [{"date": None, "hour": "1"}]),
        ("target_file_size", "512MB", "512MB"),
        ("older_than", "7d", "7d"),
        ("verify", "COUNT", "count"),
    ],
)
def test_values_from_templates_become_typed(key, given, expected):
    assert parse_options({key: given}) == {key: expected}


@pytest.mark.parametrize("nothing", [None, "", "None", "  "])
def test_an_option_that_a_template_leaves_empty_is_not_given(nothing):
    assert parse_options({"where": nothing, "dry_run": nothing}) == {}


@pytest.mark.parametrize(
    ("key", "given", "message"),
    [
        ("dry_run", "maybe", "dry_run: expected true or false, got 'maybe'"),
        ("dry_run", 0, "dry_run: expected true or false, got 0"),
        ("parallelism", 0, "parallelism: expected a whole number from 1 to 256, got 0"),
        ("keep_last", "-1", "keep_last: expected a whole number from 0 to 1000000, got '-1'"),
        ("compaction_ratio_threshold", "nan", "expected a number from 0.001"),
        ("partitions", "[{", "partitions: not valid JSON"),
        ("partitions", "date=2026", "partitions: expected a list of partitions"),
        ("partitions", [{"hour": 1.5}], "expected a partition value as a string, got 1.5"),
        ("partitions", [], "expected a list of partitions"),
        ("partitions", "[]", "expected a list of partitions"),
        ("sort_columns", 3, "sort_columns: expected a list, got 3"),
        ("sort_columns", "[]", "expected a list that is not empty"),
        ("target_file_size", "big", "expected a size such as 512mb, from 0b to 1tb, got 'big'"),
        ("older_than", "a week", "expected a duration such as 7d, from 0s to 36500d, got 'a week'"),
        ("verify", "sum", "expected one of count, hash, got 'sum'"),
    ],
)
def test_wrong_values_are_shown(key, given, message):
    with pytest.raises(UsageError) as error:
        parse_options({key: given})
    assert message in str(error.value)


def test_partitions_and_where_exclude_each_other():
    with pytest.raises(UsageError, match="mutually exclusive"):
        parse_options({"partitions": [{"a": "b"}], "where": "a = 'b'"})


@pytest.mark.parametrize("other", [{"where": "a = 'b'"}, {"partitions": [{"a": "b"}]}])
def test_idle_for_and_another_selection_exclude_each_other(other):
    with pytest.raises(UsageError, match=f"{next(iter(other))} and idle_for are mutually exclusive"):
        parse_options({**other, "idle_for": "7d"})
    assert parse_options({**other, "idle_for": "0s"}) == {**other, "idle_for": "0s"}


def test_every_default_passes_its_own_check():
    for option in OPTIONS.values():
        if option.default is not None:
            assert option.parse(option.key, option.default) == option.default


def test_a_selection_is_one_of_three():
    assert Selection.of(table="Sales.Events").tables == ("sales.events",)
    assert Selection.of(tables="a.b, a.c").tables == ("a.b", "a.c")
    assert Selection.of(tables='["a.b"]').tables == ("a.b",)
    assert Selection.of(tables=["a.b", "A.B"]).tables == ("a.b",)
    assert Selection.of(database="Sales").database == "sales"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "none of them"),
        ({"table": "None"}, "none of them"),
        ({"table": "a.b", "database": "c"}, "table='a.b' and database='c'"),
        ({"table": "events"}, "expected a table as db.table, got 'events'"),
        ({"table": "a.b.c"}, "got 'a.b.c'"),
        ({"table": "a.b; drop"}, "got 'a.b; drop'"),
        ({"tables": []}, "tables: expected a list that is not empty"),
        ({"tables": 7}, "tables: expected a list, got 7"),
        ({"database": "a.b"}, "expected the name of a database, got 'a.b'"),
    ],
)
def test_a_wrong_selection_is_shown(given, message):
    with pytest.raises(UsageError) as error:
        Selection.of(**given)
    assert message in str(error.value)


def test_the_key_of_a_selection_does_not_depend_on_the_order():
    assert Selection.of(tables="a.b,a.c").key == Selection.of(tables="a.c,a.b").key
    assert Selection.of(database="a").key != Selection.of(table="a.a").key

"""Flagged tables one by one, and in parts of the same size."""

from __future__ import annotations

import itertools
import json

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators.chunks import by_table, split
from lakekeeper_provider.operators.xcom import fingerprints, flagged_units
from lakekeeper_provider.report.pages import XCOM_LIMIT, move
from tests.airflow.support import TaskInstance


def table(name: str, units: int = 1, **more):
    flagged = [{"d": f"{name}{n:05}"} for n in range(units)]
    return {"table": f"s.{name}", "outcome": "done", "flagged": flagged, **more}


def analysis(*tables):
    return {"schema_version": 1, "verb": "analyze", "report": None, "tables": list(tables)}


def names(part):
    return [t["table"].removeprefix("s.") for summary in part for t in summary["tables"]]


def test_tables_that_were_deferred_come_first_then_the_highest_score():
    found = by_table(
        [
            analysis(table("a", score=1.0), table("healthy", units=0), table("b", score=900.5)),
            None,
            analysis(
                table("c", score=5.0, deferred_since="2026-02-22T00:00:00Z"),
                table("d", score=1.0, deferred_since="2026-02-20T00:00:00Z"),
                table("unknown"),
            ),
        ]
    )
    assert names(found) == ["d", "c", "b", "a", "unknown"]
    assert names(found) == names(by_table(json.dumps(list(reversed(found)))))


def test_tables_too_large_for_one_xcom_go_to_pages_of_the_task_that_lists_them():
    analyses = [analysis(table(name, 1000, score=1.0)) for name in "abcdef"]
    assert len(json.dumps(by_table(analyses))) > XCOM_LIMIT
    found = by_table(analyses, ti=TaskInstance(task_id="only_flagged"))
    assert len(json.dumps(found)) < XCOM_LIMIT
    assert flagged_units(found, TaskInstance()) == flagged_units(analyses, TaskInstance())


def test_a_table_of_several_analyses_is_compacted_by_one_task():
    some, all_of_it = analysis(table("a", 2, score=1.0)), analysis(table("a", 3, score=1.0), table("b"))
    found = by_table([some, all_of_it])
    assert [names([summary]) for summary in found] == [["a"], ["b"]]
    assert flagged_units(found, None)["s.a"] == table("a", 3)["flagged"]


SIZES = {"a": 100, "b": 60, "c": 50, "d": 30, "e": 20, "f": 1}


def sized(**sizes: int):
    return analysis(*(table(name, flagged_bytes=size) for name, size in sizes.items()))


def test_parts_are_balanced_by_bytes_and_no_table_is_in_two():
    parts = split(sized(**SIZES), 3)
    assert [sum(SIZES[name] for name in names(part)) for part in parts] == [100, 81, 80]
    assert sorted(itertools.chain(*map(names, parts))) == sorted(SIZES)


def test_parts_are_the_same_whatever_the_order_of_the_analysis():
    expected = split(sized(**SIZES), 3)
    for order in itertools.permutations(SIZES):
        assert split(sized(**{name: SIZES[name] for name in order}), 3) == expected


def test_units_count_where_bytes_are_not_known():
    parts = split(analysis(table("a", 1, flagged_bytes=10**12), table("b", 5), table("c", 4)), 2)
    assert [names(part) for part in parts] == [["a", "c"], ["b"]]


def test_there_are_no_empty_parts():
    assert [names(part) for part in split(sized(a=1, b=1), 5)] == [["a"], ["b"]]
    assert split(analysis(table("a", 0)), 5) == []
    assert split([], 5, within_tables=True) == []


@pytest.mark.parametrize("missing", [None, [None], "None"])
def test_of_an_analysis_whose_xcom_is_gone_nothing_is_divided(missing):
    """No parts would mean that nothing was flagged."""
    for divide in (by_table, lambda analysis: split(analysis, 5), lambda a: split(a, 5, within_tables=True)):
        with pytest.raises(UsageError, match="analysis: the XCom of that task is not there"):
            divide(missing)


def test_the_analyses_of_one_table_stay_together():
    parts = split([sized(a=5, b=9), sized(a=5)], 2)
    assert [names(part) for part in parts] == [["a", "a"], ["b"]]


def paged(*tables):
    return move([analysis(*tables)], TaskInstance(task_id="analyze"))


@pytest.mark.parametrize("pages", [False, True])
@pytest.mark.parametrize("chunks", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("within_tables", [False, True])
def test_the_parts_have_exactly_the_units_of_the_analysis(pages, chunks, within_tables):
    tables = [table("a", 3000, flagged_bytes=10), table("b", 20, flagged_bytes=10), table("c", 2)]
    whole = paged(*tables) if pages else [analysis(*tables)]
    parts = split(whole, chunks, within_tables=within_tables, ti=TaskInstance(task_id="split"))
    found = [
        (name, json.dumps(unit))
        for part in parts
        for name, units in flagged_units(part, TaskInstance()).items()
        for unit in units
    ]
    expected = flagged_units(whole, TaskInstance())
    assert sorted(found) == sorted((t, json.dumps(unit)) for t, units in expected.items() for unit in units)
    assert len(json.dumps(parts)) < XCOM_LIMIT or chunks == 40
    assert 1 <= len(parts) <= chunks


def test_within_tables_the_parts_are_balanced_and_in_the_order_of_compaction():
    later, first = table("a", 600, score=1.0), table("b", 300, score=2.0)
    parts = split(analysis(later, first), 3, within_tables=True)
    assert [names(part) for part in parts] == [["b"], ["a"], ["a"]]
    assert [len(part[0]["tables"][0]["flagged"]) for part in parts] == [300, 300, 300]
    assert [part[0]["part"] for part in parts] == ["1/3", "2/3", "3/3"]


def test_units_in_pages_cannot_be_divided_without_the_task_instance():
    with pytest.raises(UsageError, match="pass ti"):
        split(paged(table("a", 100)), 2, within_tables=True)


@pytest.mark.parametrize("wrong", [0, -1, True, "2", 1.5])
def test_a_wrong_number_of_parts_is_an_error(wrong):
    with pytest.raises(UsageError, match="chunks: expected a whole number from 1 on"):
        split(analysis(), wrong)


@pytest.mark.parametrize("wrong", [{"verb": "compact"}, 7, "x", [3]])
def test_something_else_than_an_analysis_is_an_error(wrong):
    with pytest.raises(UsageError, match="analysis: expected the output of a analyze task"):
        split(wrong, 2)


def plan(units: int):
    """The report of a plan of one table."""
    found = [
        {
            "unit": {"d": f"{n:05}"},
            "outcome": "flagged",
            "files": 9,
            "bytes": 9,
            "fingerprint": f"sha256:{n:05}",
        }
        for n in range(units)
    ]
    return {
        "schema_version": 1,
        "verb": "plan",
        "outcome": "done",
        "tables": [{"table": "s.a", "outcome": "done", "units": found}],
    }


@pytest.mark.parametrize("chunks", [1, 3])
def test_the_units_of_a_plan_keep_their_fingerprints_in_each_part(chunks):
    parts = [json.loads(json.dumps(part)) for part in split(plan(10), chunks, within_tables=True)]
    assert len(parts) == chunks
    for part in parts:
        units = flagged_units(part, None)
        assert fingerprints(part, units) == {"s.a": [f"sha256:{unit['d']}" for unit in units["s.a"]]}


def test_a_plan_that_is_too_large_for_one_xcom_loses_the_fingerprints_and_keeps_the_units():
    found = by_table(plan(3000), ti=TaskInstance(task_id="planned"))
    assert len(json.dumps(found)) < XCOM_LIMIT
    units = flagged_units(found, TaskInstance())
    assert len(units["s.a"]) == 3000
    assert fingerprints(found, units) == {}

"""Flagged units in pages: what is pushed, and what is refused when it is read."""

from __future__ import annotations

import json
import random
import string
from itertools import pairwise

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators.xcom import flagged_units
from lakekeeper_provider.report.pages import XCOM_LIMIT, move
from tests.airflow.support import XCOMS, TaskInstance


def summary(**tables: int):
    """An analysis with so many flagged units of each table; their values do not compress well."""
    letters = random.Random(7)
    found = [
        {
            "table": f"sales.{name}",
            "outcome": "done",
            "flagged": [{"k": "".join(letters.choices(string.ascii_letters, k=20))} for _ in range(count)],
        }
        for name, count in tables.items()
    ]
    return {"schema_version": 1, "verb": "analyze", "report": None, "tables": found}


def units_of(*summaries):
    return {t["table"]: t["flagged"] for s in summaries for t in s["tables"] if t["flagged"]}


@pytest.mark.parametrize("counts", [(1, 1), (7000, 3), (3, 0, 7000), (2500,) * 4, (0, 1)])
def test_all_units_come_back_from_pages_within_the_limit(counts):
    before, writer = summary(**{f"t{n}": count for n, count in enumerate(counts)}), TaskInstance()
    [moved] = move([before], writer)
    assert flagged_units([moved], TaskInstance()) == units_of(before)
    assert max(len(json.dumps(page)) for page in writer.pushed.values()) <= XCOM_LIMIT
    assert sum(moved["flagged_in"]["pages"]) == sum(counts)


def test_each_table_pulls_its_own_pages_only():
    [moved] = move([summary(a=5000, b=5000)], writer := TaskInstance())
    ends = [0, *(sum(moved["flagged_in"]["pages"][: n + 1]) for n in range(len(writer.pushed)))]
    of_a = {f"flagged_{n}" for n, (first, _) in enumerate(pairwise(ends)) if first < 5000}
    pulled = set()

    class Reader(TaskInstance):
        def xcom_pull(self, **kwargs):
            pulled.add(kwargs["key"])
            return super().xcom_pull(**kwargs)

    flagged_units([{**moved, "tables": moved["tables"][:1]}], Reader())
    assert pulled == of_a < set(writer.pushed)


def test_summaries_of_several_analyses_share_the_pages_of_one_task():
    before = [summary(a=3000), summary(), summary(b=3000), summary(c=0)]
    assert flagged_units(move(before, TaskInstance()), TaskInstance()) == units_of(*before)


def test_units_that_are_elsewhere_already_stay_there():
    once = move([summary(a=10)], TaskInstance(task_id="analyze"))
    twice = move([*once, summary(b=10)], TaskInstance(task_id="only_flagged"))
    assert [s["flagged_in"]["task_id"] for s in twice] == ["analyze", "only_flagged"]
    assert flagged_units(twice, TaskInstance()).keys() == {"sales.a", "sales.b"}


def damaged(change):
    """A summary of three pages, of which the second one is changed after they were pushed."""
    [moved] = move([summary(a=7000)], instance := TaskInstance())
    place = (instance.dag_id, instance.run_id, instance.task_id, instance.map_index, "flagged_1")
    XCOMS[place] = json.dumps(change(json.loads(XCOMS[place])))
    return moved


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda _: None,
            r"page 2 of \d+ of the flagged units \(XCom flagged_1 of the task task .* is missing",
        ),
        (lambda page: {**page, "token": "other"}, "is of another try than this summary: clear the analysis"),
        (lambda page: {**page, "units": page["units"][:-100]}, "cannot be read"),
        (lambda page: {"token": page["token"]}, "cannot be read"),
    ],
)
def test_a_page_that_is_missing_changed_or_of_another_try_is_an_error(change, message):
    with pytest.raises(UsageError, match=message):
        flagged_units([damaged(change)], TaskInstance())


def test_a_page_with_other_units_than_the_summary_says_is_an_error():
    [moved] = move([summary(a=10)], TaskInstance())
    fewer = {**moved, "flagged_in": {**moved["flagged_in"], "pages": [9]}}
    renamed = {**moved, "tables": [{**moved["tables"][0], "table": "sales.b"}]}
    beyond = {**moved, "tables": [{**moved["tables"][0], "flagged_at": [0, 11]}]}
    for wrong in (fewer, renamed, beyond):
        with pytest.raises(UsageError, match=r"has 10 units, expected 9|do not have the units of"):
            flagged_units([wrong], TaskInstance())


def test_an_analysis_that_ran_again_leaves_no_use_for_its_old_summary():
    [old] = move([summary(a=10)], TaskInstance())
    move([summary(a=10)], TaskInstance(try_number=2))
    with pytest.raises(UsageError, match="another try"):
        flagged_units([old], TaskInstance())


def test_pages_of_a_mapped_task_are_those_of_its_map_index():
    found = [move([summary(**{name: 10})], TaskInstance(map_index=n)) for n, name in enumerate("ab")]
    read = flagged_units([s for [s] in found], TaskInstance())
    assert read == units_of(summary(a=10), summary(b=10))

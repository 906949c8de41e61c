"""What the pages know of a table, from what jobs have seen of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from lakekeeper_provider.page import figures
from lakekeeper_provider.page.observations import Stored
from lakekeeper_provider.page.tables import add
from tests.unit.provider.page.seen import (
    ALL,
    ANALYSED,
    NOW,
    REWRITTEN,
    all_of,
    record,
    row_of,
    stored,
    tables_of,
)


def test_a_compaction_of_some_partitions_changes_what_the_analysis_has_counted():
    compacted = record(rewritten=REWRITTEN)
    row = row_of(stored(ANALYSED, at=NOW), stored(compacted, verb="compact", at=NOW + 60, number=2))
    assert (row.files, row.bytes, row.small) == (406, 4_800, 300)
    assert (row.verb, row.average) == ("compact", pytest.approx(4_800 / 406))


def test_a_rollback_by_another_dag_is_counted_on_what_the_first_dag_has_seen():
    back = {"files_before": 6, "files_after": 600, "bytes_before": 2_800, "bytes_after": 3_000}
    row = row_of(
        stored(ANALYSED, at=NOW),
        stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 60, number=2),
        stored(record(rewritten=back), verb="rollback", at=NOW + 90, number=3, dag_id="on_demand"),
    )
    assert (row.files, row.bytes, row.small) == (1_000, 5_000, 900)


@pytest.mark.parametrize("outcome", ["busy", "refused", "failed"])
@pytest.mark.parametrize("verb", ["analyze", "compact"])
def test_a_job_that_has_not_looked_at_a_table_changes_no_figure(verb, outcome):
    held = {**ANALYSED, "held_bytes": 10, "held_runs": 2}
    nothing = {"table": "sales.events", "outcome": outcome, "files": 0, "bytes": 0}
    pages = [stored(held), stored(nothing, verb=verb, whole=True, at=NOW + 60, number=2)]
    row = row_of(*pages)
    assert (row.files, row.small, all_of(*pages).removed) == (1_000, 900, 0)
    assert (row.held_bytes, row.held_runs, row.outcome) == (10, 2, outcome)


def test_a_retry_replaces_what_the_try_before_has_told():
    """It reports again what that try has swapped."""
    first = {**REWRITTEN, "files_before": 200, "files_after": 2}
    pages = [
        stored(ANALYSED),
        stored(record(rewritten=first), verb="compact", at=NOW + 60, number=0, run_id="r1"),
        stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 120, number=3, run_id="r1"),
    ]
    row = row_of(*pages)
    assert (row.files, row.small, all_of(*pages).removed) == (406, 300, 594)


@pytest.mark.parametrize("dag_id", ["nightly", "on_demand"])
def test_a_task_that_was_cleared_after_a_rollback_has_compacted_once_more(dag_id):
    """It has the same run id as before."""
    back = {"files_before": 6, "files_after": 600, "bytes_before": 2_800, "bytes_after": 3_000}
    pages = [
        stored(ANALYSED),
        stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 60, number=2, run_id="r1"),
        stored(record(rewritten=back), verb="rollback", at=NOW + 90, number=3, dag_id=dag_id, run_id="r1"),
        stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 120, number=4, run_id="r1"),
    ]
    row = row_of(*pages)
    assert (row.files, row.small, all_of(*pages).removed) == (406, 300, 594)
    assert row.undoable.number == 4
    again = stored(record(rewritten=back), verb="rollback", at=NOW + 150, number=5, run_id="r1")
    assert (row_of(*pages, again).files, all_of(*pages, again).removed) == (1_000, 0)


@pytest.mark.parametrize("outcome", ["refused", "busy", "failed", "nothing"])
def test_a_retry_that_could_not_look_takes_nothing_back(outcome):
    done = stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 60, number=0, run_id="r1")
    told = {"table": "sales.events", "outcome": outcome}
    retried = stored(told, verb="compact", at=NOW + 90, number=3, run_id="r1")
    assert row_of(stored(ANALYSED), done, retried).files == 406
    assert all_of(stored(ANALYSED), done, retried).removed == 594


def test_a_rollback_of_another_run_between_two_tries_changes_nothing_of_the_retry():
    back = {"files_before": 6, "files_after": 600}
    of_r0 = stored(record(rewritten=back), verb="rollback", at=NOW + 70, number=3, run_id="r0")
    first = stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 60, number=2, run_id="r1")
    retried = stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 90, number=4, run_id="r1")
    pages = [stored(record(files=5_000, bytes=9)), first, of_r0, retried]
    assert row_of(*pages).files == 5_000


def test_what_is_worth_a_compaction_after_several_jobs():
    def job(verb, number, **outcomes):
        told = record(rewritten=REWRITTEN, outcomes=outcomes)
        return stored(told, verb=verb, at=NOW + number, number=number, run_id=f"r{number}")

    analysed = stored({**ANALYSED, "flagged": 100})
    night, by_hand = job("compact", 2, compacted=60, deferred=40), job("compact", 3, compacted=40)
    assert row_of(analysed, night).flagged == 40
    assert row_of(analysed, night, by_hand).flagged == 0
    assert row_of(analysed, night, by_hand, job("rollback", 4, restored=60)).flagged == 60


def test_a_rollback_in_two_tries_has_restored_what_both_have():
    pages = [
        stored(ANALYSED),
        stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 60, number=2, run_id="r1"),
    ]
    for number, (before, after) in enumerate(((4, 400), (2, 200)), 3):
        told = record(rewritten={"files_before": before, "files_after": after})
        pages.append(stored(told, verb="rollback", at=NOW + 60 * number, number=number, run_id="r1"))
    assert (row_of(*pages).files, all_of(*pages).removed) == (1_000, 0)


def test_the_cleared_compaction_of_an_older_dag_run_is_counted_once():
    def compacted(run_id, minutes, number):
        page = stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 60 * minutes, number=number)
        return replace(page, extra={**page.extra, "run_id": run_id})

    pages = [stored(record(files=2_000, bytes=5_000)), compacted("r1", 1, 2), compacted("r2", 2, 3)]
    assert all_of(*pages, compacted("r1", 3, 4)).removed == all_of(*pages).removed == 2 * 594


def test_an_analysis_that_could_not_read_all_partitions_changes_no_figure():
    partly = record(files=400, bytes=2_000, partitions=9, outcomes={"failed": 5, "flagged": 4}, flagged=4)
    row = row_of(stored(ANALYSED), stored(partly, at=NOW + 60, number=2))
    assert (row.files, row.small, row.flagged) == (1_000, 900, 4)


@pytest.mark.parametrize(
    ("outcomes", "left"), [({"compacted": 1}, 3), ({"compacted": 3, "deferred": 1}, 1), ({"compacted": 9}, 0)]
)
def test_partitions_that_were_compacted_since_the_analysis_are_not_worth_it_any_more(outcomes, left):
    compacted = record(rewritten=REWRITTEN, outcomes=outcomes)
    refused = {"table": "sales.events", "outcome": "refused", "files": 0}
    pages = [stored(ANALYSED), stored(compacted, verb="compact", at=NOW + 60, number=2)]
    assert row_of(*pages).flagged == left
    assert row_of(*pages, stored(refused, at=NOW + 90, number=3)).flagged == left


def test_what_was_rolled_back_was_not_removed_and_is_not_offered_again():
    back = {"files_before": 6, "files_after": 600, "bytes_before": 2_800, "bytes_after": 3_000}
    done = stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 60, number=2, run_id="r1")
    nothing = stored(record(outcomes={"deferred": 3}), verb="compact", at=NOW + 90, number=3, run_id="r2")
    assert row_of(stored(ANALYSED), done, nothing).undoable.run_id == "r1"
    undone = stored(record(rewritten=back), verb="rollback", at=NOW + 99, number=4)
    assert row_of(stored(ANALYSED), done, nothing, undone).undoable is None
    assert all_of(stored(ANALYSED), done, nothing, undone).removed == 0


def test_when_a_run_was_rolled_back_by_jobs_of_the_dags_that_somebody_may_read():
    done = stored(record(rewritten=REWRITTEN), verb="compact", at=NOW + 60, number=2, run_id="r1")
    back = {"files_before": 6, "files_after": 600}
    undone = stored(
        record(rewritten=back), verb="rollback", at=NOW + 90, number=3, dag_id="team", run_id="r1"
    )
    tables, (seen,) = tables_of(done, undone), done.observations()
    assert tables.view("hive:10000", "sales.events", ALL).undone_at(seen) == NOW + 90
    assert tables.view("hive:10000", "sales.events", ("nightly",)).undone_at(seen) == -math.inf
    (other,) = replace(done, extra={**done.extra, "run_id": "r0"}).observations()
    assert tables.view("hive:10000", "sales.events", ALL).undone_at(other) == -math.inf


def test_what_no_analysis_has_counted_is_not_known():
    row = row_of(stored(record(rewritten=REWRITTEN), verb="compact"))
    assert (row.files, row.bytes, row.small, row.average) == (None, None, None, None)


def test_a_page_is_of_use_in_whatever_order_it_comes():
    pages = [stored(record(files=files, bytes=1), at=NOW + files, number=files) for files in (3, 1, 2)]
    assert list(row_of(*pages).spark) == [1, 2, 3]
    assert row_of(*pages).files == 3


def test_nobody_sees_what_jobs_of_other_dags_have_seen():
    pages = [stored(ANALYSED, dag_id="team"), stored(record(files=7, bytes=1), at=NOW + 1, number=2)]
    assert row_of(*pages).files == 7
    assert row_of(*pages, dags=("team",)).files == 1_000
    assert row_of(*pages, dags=("another",)) is None
    assert list(tables_of(*pages).views(())) == []


HELD = record(files=1, bytes=1, held_bytes=10, held_runs=2, held_since="2026-02-15T01:00:00Z")


def cleaned(number=2, **retention):
    return stored(record(), verb="cleanup", number=number, at=NOW + number, **retention)


def test_originals_are_held_until_the_retention_of_the_newest_cleanup_has_passed():
    row = row_of(stored(HELD), cleaned(older_than="7d"))
    assert row.can_be_rolled_back
    assert (row.cleanup, row.held_until) == (figures.AGED, figures.epoch("2026-02-22T01:00:00Z"))
    without = row_of(stored(HELD), cleaned(older_than="7d"), cleaned(3))
    assert without.held_until == row.held_until


@pytest.mark.parametrize(
    ("retention", "cleanup"),
    [
        (None, figures.NEVER),
        ({"older_than": "7d"}, figures.AGED),
        ({"older_than": "7d", "keep_last": 1}, figures.AGED),
        ({"older_than": "7d", "keep_last": 2}, figures.KEPT),
        ({"keep_last": 2}, figures.KEPT),
        ({"keep_last": 1}, figures.NEXT),
        ({"older_than": "1h"}, figures.NEXT),
        ({"older_than": "9" * 400 + "d"}, figures.UNCLEAR),
        ({"older_than": 7}, figures.UNCLEAR),
        ({"older_than": "7d", "keep_last": "two"}, figures.AGED),
    ],
)
def test_what_a_cleanup_like_the_newest_one_does_with_the_originals(retention, cleanup):
    pages = [stored(HELD), *([cleaned(**retention)] if retention else [])]
    assert row_of(*pages).cleanup == cleanup
    assert all_of(*pages).cleanups == {cleanup: 1}


def test_what_becomes_of_originals_is_counted_of_tables_that_have_any():
    none = record("sales.other", files=1, bytes=1, held_bytes=0, held_runs=0)
    assert all_of(stored(HELD, none)).cleanups == {figures.NEVER: 1}
    assert all_of(stored(none)).cleanups == {}


@pytest.mark.parametrize("verb", ["rollback", "cleanup", "compact", "analyze"])
def test_what_is_held_is_what_the_newest_job_says(verb):
    held = stored(record(files=1, bytes=1, held_bytes=100, held_runs=2, held_since="2026-02-20T01:00:00Z"))
    later = stored(record(held_bytes=30, held_runs=1), verb=verb, at=NOW + 1, number=2)
    row = row_of(held, later)
    assert (row.held_bytes, row.held_runs, row.held_since) == (30, 1, None)
    silent = {"table": "sales.events", "outcome": "busy"}
    assert row_of(held, stored(silent, verb=verb, at=NOW + 1, number=2)).held_runs == 2


def test_warnings_and_refusals_are_counted_by_their_codes():
    row = row_of(stored(record(code="QUOTA", warning_codes={"LOG_NOT_UPDATED": 2}, skipped={"TYPE": 1})))
    assert row.codes == {"QUOTA": 1, "LOG_NOT_UPDATED": 2, "TYPE": 1}


@pytest.mark.parametrize(
    "text", ["", "null", "{}", "[1, null, {}]", '[{"table": 7}]', "not JSON", '[{"table": "a.b"', "[[]]"]
)
def test_what_is_no_record_is_left_out(text):
    page = stored()
    broken = Stored(1, NOW, page.source, {**page.extra, "tables": text})
    assert len(tables_of(broken)) == 0


@pytest.mark.parametrize(
    "odd",
    [
        {"files": 10**400, "bytes": 1e999, "flagged": -1e999, "held_runs": 2**60},
        {"files": "many", "bytes": None},
        {"files": True, "bytes": [1], "rewritten": 7, "outcomes": "x", "warning_codes": [1], "skipped": 0},
        {"held_since": "yesterday", "held_runs": "2", "open": "long", "reason": 3},
    ],
)
def test_a_record_of_wrong_types_is_shown_as_far_as_it_is_one(odd):
    row = row_of(stored(record(**odd)))
    assert row.name == "sales.events"
    json.dumps(row.codes)


def test_results_of_a_newer_version_are_counted_and_left_out():
    tables = tables_of(stored(ANALYSED, version=99), stored(ANALYSED, version=None, number=2))
    assert (len(tables), tables.unread) == (0, {"nightly": 2})


def test_results_of_a_verb_that_is_not_known_are_left_out():
    assert len(tables_of(stored(ANALYSED, verb="optimize"))) == 0


def test_since_when_the_history_is_known():
    (view,) = tables_of(stored(ANALYSED, at=5.0), stored(ANALYSED, at=3.0, number=2)).views(ALL)
    assert view.since == 3.0


@pytest.mark.parametrize("depth", [400, 985, 100_000])
def test_a_record_that_is_nested_deeply_hides_no_other(depth):
    deep = '{"table":"sales.deep","outcome":"done","x":' + "[" * depth + "]" * depth + "}"
    page = stored(number=2)
    tables = tables_of(Stored(2, NOW, page.source, {**page.extra, "tables": f"[{deep}]"}))
    add(tables, [stored(ANALYSED)])
    tables.settle()
    rows, _ = figures.of_all(tables.views(ALL), NOW)
    assert "sales.events" in {row.name for row in rows}

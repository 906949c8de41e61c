"""What a journal becomes in the commit log: the change that a compaction, a rollback or a cleanup was."""

from __future__ import annotations

from datetime import timedelta

import pytest

from spark_jobs.core.records import journal
from spark_jobs.core.records.change import Change, change_of, changes_of
from spark_jobs.core.records.snapshots import ADD, CLEANUP, COMPACT, DELETE, ROLLBACK, Sizes, merge
from tests.unit.core.faulty_memory_fs import NOW, files, run_state, swap
from tests.unit.core.memory_log import ONE
from tests.unit.core.run_record import run_body


def names(change: Change) -> list[tuple[str, str]]:
    return [(entry.kind, entry.file) for entry in change.entries]


def test_a_compaction_deletes_the_originals_and_adds_the_new_files() -> None:
    change = change_of("r", ONE, COMPACT)
    assert names(change) == [(DELETE, "a"), (DELETE, "b"), (ADD, "c")]
    assert (change.before, change.after) == (Sizes(2, 20), Sizes(1, 10))
    assert (change.who, change.at, change.units[0].rows) == ("etl", NOW + timedelta(minutes=1), 5)


def test_a_rollback_is_the_reverse_and_its_compaction_stays_on_record() -> None:
    state = run_state(swap("1", files("a", "b"), files("c")), then=journal.ROLLED_BACK)
    back, forth = change_of("r", state, ROLLBACK, "anna"), change_of("r", state, COMPACT)
    assert names(back) == [(DELETE, "c"), (ADD, "a"), (ADD, "b")]
    assert (back.who, back.at) == ("anna", NOW + timedelta(minutes=2))
    assert (forth.at, forth.who) == (NOW + timedelta(minutes=1), "etl")
    assert merge([*forth.entries, *back.entries]) == []


def test_a_cleanup_moves_no_file_that_anybody_reads() -> None:
    state = run_state(swap("1", files("a", "b"), files("c")), then=journal.CLEANED)
    change = change_of("r", state, CLEANUP)
    assert (change.entries, change.before, change.after) == ((), Sizes(2, 20), Sizes())
    assert not change_of("r", state, ROLLBACK).units


@pytest.mark.parametrize("kind", [journal.DISCARDED, journal.ROLLED_BACK])
def test_a_unit_that_was_never_swapped_is_no_change(kind: str) -> None:
    one = swap("1", files("a"), files("b"))
    records = [
        journal.Record(journal.RUN, NOW, run_body()),
        journal.Record(journal.PREPARED, NOW, {"swaps": [one.to_json()]}),
        journal.Record(kind, NOW, {"units": [{"unit": one.unit.key}]}),
    ]
    state = journal.state_after(records)
    assert state is not None
    assert changes_of("r", [state]) == []


def test_a_run_in_several_homes_is_one_change() -> None:
    other = run_state(swap("2", files("x"), files("y")), then=journal.CLEANED)
    compact, cleanup = changes_of("r", [ONE, other])
    assert (len(compact.units), compact.before, cleanup.before) == (2, Sizes(3, 30), Sizes(1, 10))
    assert [e.file for e in compact.entries] == ["a", "b", "c", "x", "y"]

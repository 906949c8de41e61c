"""A journal's records: how they are read, and what a run is by them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from spark_jobs import __version__
from spark_jobs.core.messages.errors import OtherVersion, Unsafe
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import Record, state_after
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.model import FileEntry, FileListing
from tests.unit.core.run_record import run_body

NOW = datetime(2026, 2, 24, tzinfo=timezone.utc)


def swap(value: str | None = "1") -> Swap:
    files = FileListing.of([FileEntry("a", 1, 2, 3)])
    return Swap(
        spec=(("p", value),),
        live="file:/t/p",
        new="__compact_tmp_1/p",
        old="__originals_1/p",
        aside="__aside_1/p",
        conflict="__conflict_1/p",
        live_id="L",
        new_id="N",
        originals=files,
        compacted=files,
        rows=5,
    )


def record(kind: str, minute: int = 0, **body: object) -> Record:
    return Record(kind, NOW + timedelta(minutes=minute), body)


def test_records_survive_the_file_and_unreadable_ones_stop_everything() -> None:
    original = record(journal.PREPARED, swaps=[swap(None).to_json()])
    again = Record.decode(original.encode(), "000001.json")
    assert Swap.from_json(again.body["swaps"][0]) == swap(None)
    assert again.at == original.at
    for bad in (b"", b"{}", b"[]"):
        with pytest.raises(Unsafe, match="nothing is changed"):
            Record.decode(bad, "000007.json")
    later = b'{"schema_version": 2, "version": "0.9", "kind": "RUN", "at": "2026-01-01T00:00:00+00:00"}'
    with pytest.raises(OtherVersion, match=rf"000007\.json was written by version '0\.9'.* {__version__}"):
        Record.decode(later, "000007.json")


def test_a_run_is_what_its_records_add_up_to() -> None:
    one, two = swap("1"), swap("2")
    state = state_after(
        [
            record(journal.RUN, **run_body(homes=["a"])),
            record(journal.PREPARED, swaps=[one.to_json(), two.to_json()]),
            record(journal.COMMITTED, 5, units=[{"unit": one.unit.key}]),
            record(journal.DISCARDED, 6, units=[{"unit": two.unit.key}]),
            record(journal.BACKUP, backup_table="db.b"),
            record(journal.FINISHED, outcome="partial"),
            record(journal.ENTERED, verb="compact", homes=["b"]),
        ]
    )
    assert state is not None
    assert [(u.kind, u.final) for u in state.units.values()] == [("COMMITTED", False), ("DISCARDED", True)]
    assert (state.homes, state.backup_table, state.outcome) == (("a", "b"), "db.b", None)
    assert state.committed_at == NOW + timedelta(minutes=5)
    assert state_after([]) is None


def test_a_journal_that_makes_no_sense_is_not_acted_on() -> None:
    with pytest.raises(Unsafe):
        state_after([record(journal.COMMITTED, units=[])])
    with pytest.raises(Unsafe, match="never prepared"):
        state_after(
            [record(journal.RUN, **run_body(table="t")), record(journal.COMMITTED, units=[{"unit": "x"}])]
        )


def test_a_unit_that_still_holds_originals_is_never_prepared_again() -> None:
    first = [record(journal.RUN, **run_body(table="t")), record(journal.PREPARED, swaps=[swap().to_json()])]
    units = [{"unit": swap().unit.key}]
    for kind in (journal.COMMITTED, journal.ROLLBACK_PREPARED, journal.CLEANUP_CLAIMED):
        with pytest.raises(Unsafe, match=kind):
            state_after([*first, record(kind, units=units), first[1]])
    for kind in journal.FINAL:
        assert state_after([*first, record(kind, units=units), first[1]]) is not None


def test_a_claim_for_cleanup_does_not_make_a_run_younger() -> None:
    units = [{"unit": swap().unit.key}]
    state = state_after(
        [
            record(journal.RUN, **run_body(table="t")),
            record(journal.PREPARED, swaps=[swap().to_json()]),
            record(journal.COMMITTED, 1, units=units),
            record(journal.CLEANUP_CLAIMED, 90, units=units),
        ]
    )
    assert state is not None
    assert state.committed_at == NOW + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("records", "unfinished"),
    [
        ([], True),
        ([record(journal.FINISHED, outcome="done")], False),
        ([record(journal.FINISHED, outcome="done"), record(journal.ENTERED, verb="rollback")], True),
        (
            [
                record(journal.FINISHED, outcome="done"),
                record(journal.ENTERED, verb="rollback"),
                record(journal.LEFT),
            ],
            False,
        ),
        ([record(journal.PREPARED, swaps=[swap().to_json()]), record(journal.LEFT)], True),
    ],
)
def test_a_run_is_unfinished_while_somebody_is_in_it_or_an_intent_is_open(
    records: list[Record], unfinished: bool
) -> None:
    state = state_after([record(journal.RUN, **run_body(table="t")), *records])
    assert state is not None
    assert state.unfinished is unfinished


def test_a_rollback_does_not_take_the_outcome_of_the_compaction_back() -> None:
    done = [record(journal.RUN, **run_body(table="t")), record(journal.FINISHED, outcome="done")]
    outcomes = [state_after([*done, record(journal.ENTERED, verb=verb)]) for verb in ("rollback", "compact")]
    assert [state.outcome for state in outcomes if state] == ["done", None]


def test_what_could_not_be_carried_belongs_to_the_originals_then() -> None:
    more = FileListing.of([FileEntry("a", 1, 2, 3), FileEntry("late", 1, 2, 4)])
    units = [{"unit": swap().unit.key, "originals": more.to_json()}]
    first = [record(journal.RUN, **run_body(table="t")), record(journal.PREPARED, swaps=[swap().to_json()])]
    state = state_after([*first, record(journal.COMMITTED, units=units)])
    assert state is not None
    assert next(iter(state.units.values())).swap.originals == more


def test_the_directory_that_lies_aside_in_their_place_is_known_from_then_on() -> None:
    units = [{"unit": swap().unit.key, "live_id": "another"}]
    first = [record(journal.RUN, **run_body(table="t")), record(journal.PREPARED, swaps=[swap().to_json()])]
    state = state_after([*first, record(journal.COMMITTED, units=units)])
    assert state is not None
    assert next(iter(state.units.values())).swap == replace(swap(), live_id="another")

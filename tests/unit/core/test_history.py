"""history: its rows, what they say of a rollback, the table for a person, and its arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.records import history, journal
from spark_jobs.core.records.change import change_of
from spark_jobs.core.records.history import Row, Runs
from spark_jobs.core.records.journal import Record, RunState, state_after
from spark_jobs.core.records.snapshots import COMPACT, Snapshot
from spark_jobs.core.wire.report import TableReport
from spark_jobs.protocol.commit_log.publisher import log_of
from tests.unit.core.faulty_memory_fs import NOW, MemoryFs, files, run_state, swap
from tests.unit.core.journaled_runs import FACTS, ONE
from tests.unit.core.run_record import run_body

AGAIN = swap("1", files("c"), files("d"), stamp=2)
OTHER = swap("2", files("x"), files("y"))


def rows(runs: Runs) -> list[Row]:
    return history.rows([], runs, set())


# What a rollback would find


def rollback(run: RunState, later: RunState | None = None) -> str | None:
    runs = {"r": [run], **({"later": [later]} if later else {})}
    return history.rollback("r", runs)


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        (None, "possible"),
        (journal.CLEANUP_CLAIMED, "possible"),
        (journal.ROLLBACK_PREPARED, "possible"),
        (journal.ROLLED_BACK, "done"),
        (journal.CLEANED, "cleaned"),
        (journal.DISCARDED, None),
    ],
)
def test_a_rollback_is_what_the_journal_says(then: str | None, expected: str | None) -> None:
    assert rollback(run_state(ONE, then=then)) == expected


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        (None, "superseded"),
        (journal.CLEANED, "superseded"),
        (journal.ROLLBACK_PREPARED, "superseded"),
        (journal.ROLLED_BACK, "possible"),
    ],
)
def test_a_later_run_of_the_same_unit_comes_first(then: str | None, expected: str) -> None:
    assert rollback(run_state(ONE), run_state(AGAIN, minute=9, then=then)) == expected


def test_an_earlier_run_and_one_of_other_units_are_in_nobodys_way() -> None:
    assert rollback(run_state(AGAIN, minute=9), run_state(ONE)) == "possible"
    assert rollback(run_state(ONE), run_state(OTHER, minute=9)) == "possible"
    assert rollback(run_state(ONE, OTHER), run_state(AGAIN, minute=9)) == "possible"


def test_what_can_still_go_back_decides_for_a_run_in_several_homes() -> None:
    runs = {"r": [run_state(ONE, then=journal.CLEANED), run_state(OTHER)]}
    assert history.rollback("r", runs) == "possible"
    runs = {"r": [run_state(ONE, then=journal.CLEANED), run_state(OTHER, then=journal.ROLLED_BACK)]}
    assert history.rollback("r", runs) == "cleaned"


# The rows


def test_the_journals_alone_tell_the_whole_story() -> None:
    found = rows({"r": [run_state(ONE, then=journal.ROLLED_BACK)], "s": [run_state(OTHER, minute=5)]})
    assert [(row["run_id"], row["kind"], row["at"][14:16]) for row in found] == [
        ("s", "compact", "06"),
        ("r", "rollback", "02"),
        ("r", "compact", "01"),
    ]
    assert all(row["unlogged"] and row["snapshot"] is None for row in found)
    assert [row["rollback"] for row in found] == ["possible", None, "done"]
    assert (found[2]["who"], found[2]["before"], found[2]["after"]) == (
        "etl",
        {"files": 2, "bytes": 20},
        {"files": 1, "bytes": 10},
    )


def test_a_run_that_was_interrupted_is_on_record() -> None:
    records = [
        Record(journal.RUN, NOW, run_body(user="etl")),
        Record(journal.PREPARED, NOW, {"swaps": [ONE.to_json()]}),
    ]
    state = state_after(records)
    assert state is not None
    [row] = rows({"r": [state]})
    assert (row["units"], row["rollback"], row["unlogged"], row["at"]) == (
        0,
        "possible",
        True,
        "2026-02-24T00:00:00Z",
    )
    undone = state_after([*records, Record(journal.DISCARDED, NOW, {"units": [{"unit": ONE.unit.key}]})])
    assert undone is not None
    assert rows({"r": [undone]}) == []


def test_a_snapshot_whose_journal_is_gone_still_counts() -> None:
    fs = MemoryFs()
    snapshot = log_of(fs, FACTS, fs.now).publish(change_of("r", run_state(ONE), COMPACT))
    assert snapshot is not None
    [row] = history.rows([snapshot], {}, set())
    assert (row["snapshot"], row["rollback"], row["unlogged"]) == (1, None, False)


def test_a_home_may_hold_the_runs_of_another_table() -> None:
    fs = MemoryFs()
    found = log_of(fs, FACTS, fs.now).publish(change_of("r", run_state(ONE), COMPACT))
    assert found is not None
    both: list[Snapshot] = [found]
    assert history.of_table(both, "db.t", "f:/elsewhere") == both
    assert history.of_table(both, "db.renamed", "file:/t") == both
    assert history.of_table(both, "db.u", "f:/elsewhere") == []


def test_the_table_for_a_person() -> None:
    big = swap("1", files("a", "b", size=3 * 1024 * 1024), files("c", size=2048))
    found = rows({"nightly": [run_state(big)], "old": [run_state(OTHER, minute=-9, user=None)]})
    found[1].update(snapshot=7, unlogged=False)
    lines = history.render("db.t", found, older=3).splitlines()
    assert lines[0] == "db.t"
    assert " ".join(lines[1].split()) == "snapshot at (UTC) kind run who units files bytes seconds rollback"
    assert set(lines[2].strip()) == set(lines[6].strip()) == {"-"}
    assert " ".join(lines[3].split()) == (
        "unlogged 2026-02-24 00:01:00 compact nightly etl 1 2 -> 1 6.0 MB -> 2.0 KB - possible"
    )
    assert lines[4].split()[:6] == ["7", "2026-02-23", "23:52:00", "compact", "old", "-"]
    assert lines[5].strip() == "... and 3 older"
    assert lines[7].strip() == "2 entries, 2 can be rolled back: 3 original files, 6.0 MB"
    assert len({line.index("compact") for line in lines[3:5]}) == 1
    cleaned = [{**row, "rollback": "cleaned"} for row in found[:1]]
    assert history.render("db.t", cleaned).splitlines()[-1].strip() == "1 entry, none can be rolled back"
    assert history.render("db.t", []) == "db.t: no run is on record"


# Arguments and wire


def test_history_has_the_common_arguments_and_a_limit() -> None:
    line = parse("history", ["--table", "db.t", "--limit", "5", "--log-level", "debug"], "")
    assert (line.tables, line.limit, line.options) == (("db.t",), 5, {"log_level": "DEBUG"})
    assert parse("history", ["--database", "db"], "").limit is None
    for bad in ("0", "-1", "x", "1.5", ""):
        with pytest.raises(UsageError, match="whole number from 1"):
            parse("history", ["--table", "db.t", f"--limit={bad}"], "")
    with pytest.raises(UsageError, match="unrecognized"):
        parse("analyze", ["--table", "db.t", "--limit", "5"], "")


def test_only_a_history_report_has_a_history() -> None:
    assert "history" not in TableReport("db.t").to_json()
    assert TableReport("db.t", history=[]).to_json()["history"] == []


def test_rows_on_the_wire_are_those_of_the_golden_file() -> None:
    path = Path(__file__).parents[2] / "contract" / "golden" / "report_history_done.json"
    for row in json.loads(path.read_text())["tables"][0]["history"]:
        [mine] = rows({"r": [run_state(ONE)]})
        assert mine.keys() == row.keys()
        assert mine["before"].keys() == row["before"].keys()

"""history: the rows, what they say of a rollback, and the way from the journals through the log to the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from spark_jobs.core import history, journal
from spark_jobs.core.arguments import parse
from spark_jobs.core.commit_log import CLEANUP, COMPACT, ROLLBACK, Snapshot
from spark_jobs.core.eligibility import Storage, TableFacts
from spark_jobs.core.errors import UsageError
from spark_jobs.core.history import Row, Runs
from spark_jobs.core.journal import Record, RunState, fold
from spark_jobs.core.log_change import change_of, schema_hash
from spark_jobs.core.model import TableName, Unit
from spark_jobs.core.options import Layers
from spark_jobs.core.wire import TableReport
from spark_jobs.shell.job import Job
from spark_jobs.shell.state.journal_store import Journal, Run
from spark_jobs.shell.state.log_runs import log_of, log_runs
from spark_jobs.shell.verbs.history import history_table
from tests.unit.core.faulty_memory_fs import HOME, NOW, MemoryFs, files, fine, run_state, swap

ONE = swap("1", files("a", "b"), files("c"))
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
        Record(journal.RUN, NOW, {"table": "db.t", "user": "etl"}),
        Record(journal.PREPARED, NOW, {"swaps": [ONE.to_json()]}),
    ]
    state = fold(records)
    assert state is not None
    [row] = rows({"r": [state]})
    assert (row["units"], row["rollback"], row["unlogged"], row["at"]) == (
        0,
        "possible",
        True,
        "2026-02-24T00:00:00Z",
    )
    undone = fold([*records, Record(journal.DISCARDED, NOW, {"units": [{"unit": ONE.unit.key}]})])
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
    assert history.of_table(both, "db.renamed", "f:/t") == both
    assert history.of_table(both, "db.u", "f:/elsewhere") == []


def test_the_table_for_a_person() -> None:
    big = swap("1", files("a", "b", size=3 * 1024 * 1024), files("c", size=2048))
    found = rows({"nightly": [run_state(big)], "old": [run_state(OTHER, minute=-9, user=None)]})
    found[1].update(snapshot=7, unlogged=False)
    lines = history.render("db.t", found, older=3).splitlines()
    assert lines[0] == "db.t"
    assert " ".join(lines[1].split()) == "snapshot at kind run who units files bytes rollback"
    assert " ".join(lines[2].split()) == (
        "unlogged 2026-02-24T00:01:00Z compact nightly etl 1 2 -> 1 6.0 MB -> 2.0 KB possible"
    )
    assert lines[3].split()[:5] == ["7", "2026-02-23T23:52:00Z", "compact", "old", "-"]
    assert lines[4].strip() == "... and 3 older"
    assert len({line.index("compact") for line in lines[2:4]}) == 1
    assert history.render("db.t", []) == "db.t: no run is on record"
    assert [history.human(size) for size in (0, 1023, 5 * 1024**3, 2 * 1024**5)] == [
        "0 B",
        "1023 B",
        "5.0 GB",
        "2048.0 TB",
    ]


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


# From the journals through the log to the report

FACTS = TableFacts(
    "db.t", "EXTERNAL", Storage("f:/t", None, None), None, {}, (("id", "int"),), ("p",), ("string",)
)


def journaled(fs: MemoryFs, run_id: str, attempt: str, *kinds: str, minute: int = 0) -> Run:
    """A run's folder whose journal swaps ONE and goes on with these records."""
    folder = f"{HOME}/{run_id}.{attempt * 12}"
    fs.time, now = NOW + timedelta(minutes=minute), fs.time
    kept = Journal(fs, folder, now=fs.now)
    kept.open()
    kept.append(
        journal.RUN, table="db.t", location="f:/t", homes=[HOME], user="etl", home_id=fs.identity(HOME)
    )
    kept.append(journal.PREPARED, swaps=[ONE.to_json()])
    for kind in (journal.COMMITTED, *kinds):
        kept.append(kind, units=[{"unit": ONE.unit.key}])
    fs.time = now
    state = kept.state()
    assert state is not None
    return Run(run_id, folder, kept, state)


def publish(fs: MemoryFs, runs: Sequence[Run], verb: str) -> list[str]:
    return log_runs(fs, FACTS, runs, verb, fs.now)


def test_each_verb_logs_what_it_did_and_what_is_lacking() -> None:
    fs = MemoryFs()
    run = journaled(fs, "r", "a")
    assert publish(fs, [run], COMPACT) == []
    run.journal.append(journal.ROLLED_BACK, units=[{"unit": ONE.unit.key}])
    other = journaled(fs, "s", "b", journal.CLEANED, minute=-1)
    assert publish(fs, [run, other], ROLLBACK) == []
    assert publish(fs, [run, other], ROLLBACK) == []
    found = log_of(fs, FACTS, fs.now).snapshots()
    assert [(s.run_id, s.kind, s.who) for s in found] == [
        ("r", "compact", "etl"),
        ("s", "compact", "etl"),
        ("s", "cleanup", None),
        ("r", "rollback", "operator"),
    ]
    assert [s.schema_hash for s in found] == [schema_hash(FACTS), None, None, schema_hash(FACTS)]


def test_a_log_that_cannot_be_written_is_a_warning() -> None:
    fs = MemoryFs()
    run = journaled(fs, "r", "a")

    def full(number: int, name: str, done: bool) -> None:
        if name == "mkdirs":
            raise PermissionError("not yours")

    fs.fault = full
    [warning] = publish(fs, [run], COMPACT)
    assert "not yours" in warning
    fs.fault = fine
    assert publish(fs, [run], COMPACT) == []
    assert len(log_of(fs, FACTS, fs.now).snapshots()) == 1


def test_a_table_without_a_home_of_its_own_has_no_log() -> None:
    fs = MemoryFs()
    fs.folders.clear()
    assert publish(fs, [], COMPACT) == []
    assert fs.folders == set()


def test_a_cleanup_sweeps_what_crashes_left() -> None:
    fs = MemoryFs()
    run = journaled(fs, "r", "a", journal.CLEANED)
    publish(fs, [run], COMPACT)
    left = f"{HOME}/log/manifest/manifest-{1:032x}"
    fs.files[left] = b"", 0
    publish(fs, [run], COMPACT)
    assert left in fs.files
    assert publish(fs, [run], CLEANUP) == []
    assert left not in fs.files


def job(fs: MemoryFs, *arguments: str) -> Job:
    """A job whose metastore knows one table; what it has no business with is not there."""
    metastore = SimpleNamespace(
        table=lambda _: FACTS, units=lambda _: [(Unit((("p", "1"),), "f:/t/p=1"), None)]
    )
    cluster = SimpleNamespace(fs=fs, metastore=metastore, now=fs.now)
    return cast(
        Job,
        SimpleNamespace(
            cluster=cluster, layers=Layers(), invocation=parse("history", ["--table", "db.t", *arguments], "")
        ),
    )


def ask(fs: MemoryFs, *arguments: str) -> tuple[TableReport, list[tuple[Any, ...]]]:
    report = history_table(job(fs, *arguments), TableName("db", "t"))
    return report, [(row["snapshot"], row["run_id"], row["kind"]) for row in report.history or []]


def test_history_joins_the_log_with_the_journals_and_writes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fs = MemoryFs()
    publish(fs, [journaled(fs, "r", "a", journal.ROLLED_BACK)], COMPACT)
    journaled(fs, "s", "b", minute=5)
    before = dict(fs.files)
    fs.calls.clear()
    report, found = ask(fs)
    assert found == [(None, "s", "compact"), (2, "r", "rollback"), (1, "r", "compact")]
    assert (report.outcome, report.warnings) == ("done", [])
    assert fs.files == before
    assert set(fs.calls) == {"list", "read"}
    assert "unlogged" in capsys.readouterr().out
    assert ask(fs, "--limit", "1")[1] == found[:1]
    assert "... and 2 older" in capsys.readouterr().out


def test_a_log_that_cannot_be_read_hides_nothing() -> None:
    fs = MemoryFs()
    publish(fs, [journaled(fs, "r", "a")], COMPACT)
    fs.files[f"{HOME}/log/snapshot/snapshot-1"] = b"torn", 0
    report, found = ask(fs)
    assert found == [(None, "r", "compact")]
    assert "snapshot-1" in report.warnings[0]


def test_a_table_that_nobody_touched(capsys: pytest.CaptureFixture[str]) -> None:
    report, found = ask(MemoryFs())
    assert (report.outcome, report.history, found) == ("nothing", [], [])
    assert "no run is on record" in capsys.readouterr().out

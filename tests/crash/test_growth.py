"""A table that is compacted and cleaned up every day for a year: its home does not grow, nor does what a job costs."""

from __future__ import annotations

import pytest

from tests.crash.explorer import AT_ONCE, cleanup, compact
from tests.crash.scenario import EVENTS, FLAT, build, run
from tests.crash.settled import DAY, add_files, history, names_in
from tests.crash.simulated_cluster import SimulatedCluster

#: What docs/design/planning.md says: names in a home of one unit, while one run holds originals and one ended less than
#: a day ago, and names for each further run that holds originals.
NAMES, NAMES_PER_RUN = 80, 25


def day(sim: SimulatedCluster, table: str, run_id: str, *retention: str) -> None:
    """New files, a compaction, a cleanup, and a day."""
    request = {"units": {EVENTS: [{"k": "a"}]}} if table == EVENTS else None
    add_files(sim, table, 3 if table == FLAT else 2)
    report = run(sim.client(), "compact", "--table", table, "--run-id", run_id, request=request)
    assert (report["exit_code"], report["tables"][0]["outcome"]) == (0, "done"), report
    cleaned = cleanup(table, *(retention or (*AT_ONCE, "--skip-trash")))(sim.client())
    assert cleaned["exit_code"] == 0, cleaned
    assert report["tables"][0]["warnings"] == cleaned["tables"][0]["warnings"] == []
    sim.advance(DAY)


def calls_of_no_op(sim: SimulatedCluster, table: str) -> int:
    """What a compaction calls that finds nothing to do."""
    client = sim.copy().client()
    report = compact(table, "no-op", "--min-input-files", "100000")(client)
    assert report["tables"][0]["outcome"] == "nothing"
    return client.points


@pytest.mark.parametrize(
    ("table", "days"),
    [
        (FLAT, 60),
        (EVENTS, 60),
        *(pytest.param(table, 365, marks=pytest.mark.full) for table in (FLAT, EVENTS)),
    ],
)
def test_a_year_of_daily_runs(table: str, days: int) -> None:
    sim, most = build(files=2, rows=1), 0
    day(sim, table, "d0")
    first = calls_of_no_op(sim, table)
    for number in range(1, days + 1):
        day(sim, table, f"d{number}")
        most = max(most, len(names_in(sim, table)))
    assert most <= NAMES
    assert calls_of_no_op(sim, table) <= 1.5 * first
    rows = [(row["run_id"], row["kind"], row["rollback"]) for row in history(sim, table)]
    assert {(f"d{number}", "compact", "cleaned") for number in range(days + 1)} <= set(rows)
    assert len(rows) == 2 * (days + 1)


def test_a_retention_of_a_week() -> None:
    """Seven runs hold originals at any time; those before them cost nothing."""
    sim, names = build(files=2, rows=1), []
    for number in range(40):
        day(sim, FLAT, f"d{number}", "--older-than", "7d", "--skip-trash")
        names.append(len(names_in(sim)))
    assert max(names) <= NAMES + 7 * NAMES_PER_RUN
    assert max(names[20:]) <= max(names[:20]) + 30  # manifests are merged by 30 neighbours


def test_a_home_with_many_runs_that_an_earlier_version_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is folded in a few jobs, and not in one that takes long."""
    sim = build(files=2, rows=1)
    with monkeypatch.context() as patched:
        patched.setattr("spark_jobs.protocol.execution.folding.Folding.run", lambda _: None)
        for number in range(60):
            day(sim, FLAT, f"old{number}")
    before = history(sim)
    grown = len(names_in(sim))
    for number in range(3):
        day(sim, FLAT, f"new{number}")
    assert (grown > 8 * NAMES, len(names_in(sim)) <= NAMES) == (True, True)
    assert [row for row in history(sim) if row["run_id"].startswith("old")] == before

"""Files and runs whose times are in the future: they stop nothing for ever, and nothing is deleted because of them."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from tests.crash import writers
from tests.crash.flat_table import HOME, LIVE, compact, only, outcomes
from tests.crash.model_spark import encode_rows
from tests.crash.oracle import check
from tests.crash.other_writers.pending_files import PENDING, commit, pending
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.uneven_table import by_outcome, job, uneven

DAY = 86_400
IN_2099 = int(datetime(2099, 1, 1, tzinfo=timezone.utc).timestamp() * 1000)
#: Java's greatest and least time, which are in no calendar.
EXTREMES = (IN_2099, 2**63 - 1, 2**53)
CENTURY = 75.0 * 365 * DAY


def dated(sim: SimulatedCluster, path: str, mtime: int = IN_2099) -> None:
    number = sim.tree.find(path)
    assert number is not None
    sim.tree.change(number, mtime=mtime)


def warnings(report: dict[str, Any]) -> list[str]:
    return [
        text for table in report["tables"] for text in table["warnings"] if text.startswith("TIME_IN_FUTURE")
    ]


def held(sim: SimulatedCluster, run_id: str) -> bool:
    """Whether there are originals of a run."""
    return any(
        path.startswith(f"{HOME}/{run_id}.") and "/__originals_" in path for path, _, _ in sim.tree.walk(HOME)
    )


@pytest.mark.parametrize("mtime", EXTREMES)
def test_a_pending_file_of_2099_refuses_no_unit_and_is_named_and_kept(mtime: int) -> None:
    sim = build()
    ids = pending(sim)
    dated(sim, PENDING, mtime)
    report = compact(sim.client())
    assert outcomes(report) == ["compacted"]
    (warning,) = warnings(report)
    assert PENDING in warning
    assert commit(sim, ids)
    assert check(sim) == []


def test_a_pending_file_of_less_than_a_day_ahead_still_counts() -> None:
    sim = build()
    pending(sim)
    dated(sim, PENDING, sim.millis + DAY * 1000)
    assert only(compact(sim.client()))["code"] == "ACTIVE_WRITER"


def test_staging_of_2099_above_a_unit_refuses_no_unit() -> None:
    sim = build()
    staging = f"{WAREHOUSE}/events/.spark-staging-1"
    sim.tree.make_dirs(staging)
    dated(sim, staging)
    report = compact(sim.client(), EVENTS)
    assert set(outcomes(report)) == {"compacted"}
    assert staging in warnings(report)[0]
    assert check(sim) == []


@pytest.mark.parametrize("skew", [-3 * DAY, 3 * DAY])
def test_a_writer_is_seen_although_the_clock_of_the_driver_is_days_off(skew: float) -> None:
    """To a driver that is behind, each new file is in the future; to one that is ahead, each one is old."""
    sim = build()
    ids = pending(sim)
    live = list(sim.tree.files(LIVE))
    report = compact(sim.client(skew=skew))
    assert "compacted" not in outcomes(report)
    assert list(sim.tree.files(LIVE)) == live
    assert commit(sim, ids)
    assert check(sim) == []


@pytest.mark.parametrize("mtime", EXTREMES)
def test_a_data_file_of_2099_is_not_young_for_ever(mtime: int) -> None:
    sim = build()
    sim.advance(2 * DAY)
    name = next(name for name, _ in sim.tree.files(LIVE))
    dated(sim, f"{LIVE}/{name}", mtime)
    for verb in (("analyze",), ("compact", "--dry-run")):
        assert outcomes(run(sim.client(), *verb, "--table", FLAT, "--idle-for", "1d")) == ["flagged"]
    report = compact(sim.client(), FLAT, "r1", "--idle-for", "1d")
    assert outcomes(report) == ["compacted"]
    assert f"{LIVE}/{name}" in warnings(report)[0]
    assert check(sim) == []


def test_the_other_files_of_its_unit_still_tell_that_it_is_young() -> None:
    sim = build()
    sim.advance(2 * DAY)
    name = next(name for name, _ in sim.tree.files(LIVE))
    dated(sim, f"{LIVE}/{name}")
    writers.append(sim, LIVE, sim.ledger.fresh(1))
    assert outcomes(compact(sim.client(), FLAT, "r1", "--idle-for", "1d")) == ["healthy"]


def test_a_young_unit_is_seen_although_the_clock_of_the_driver_is_days_behind() -> None:
    sim = build()
    writers.append(sim, LIVE, sim.ledger.fresh(1))
    report = compact(sim.client(skew=-3 * DAY), FLAT, "r1", "--idle-for", "1d")
    assert outcomes(report) == ["changed"]
    assert "idle_for is 1d" in report["tables"][0]["units"][0]["reason"]


def test_a_unit_whose_figures_an_analysis_has_kept_is_not_young_for_ever() -> None:
    """The kept figures have no time of a file in the future."""
    sim = uneven()
    sim.advance(2 * DAY)
    name = next(name for name, _ in sim.tree.files(f"{WAREHOUSE}/uneven/k=a"))
    dated(sim, f"{WAREHOUSE}/uneven/k=a/{name}")
    for _ in range(2):
        assert "a" in by_outcome(job(sim, "analyze", "--idle-for", "1d"), "flagged")


def test_a_compaction_of_2099_does_not_keep_its_table_from_being_due() -> None:
    sim = build()
    assert outcomes(compact(sim.client(skew=CENTURY), FLAT, "r1")) == ["compacted"]
    for _ in range(3):
        writers.append(sim, LIVE, sim.ledger.fresh(2))
    report = compact(sim.client(), FLAT, "r2", "--trigger-interval", "1d")
    assert outcomes(report) == ["compacted"]
    assert "trigger_interval does not count" in warnings(report)[0]
    assert check(sim) == []


def test_originals_of_a_run_of_2099_are_kept_and_the_run_is_named() -> None:
    sim = build()
    compact(sim.client(skew=CENTURY), FLAT, "r1")
    sim.advance(30 * DAY)
    for words in (("--dry-run",), ()):
        report = run(sim.client(), "cleanup", "--table", FLAT, "--older-than", "7d", *words)
        assert outcomes(report) == []
        assert "run r1" in warnings(report)[0]
    assert held(sim, "r1")
    assert outcomes(run(sim.client(), "cleanup", "--table", FLAT, "--older-than", "0d")) == ["cleaned"]
    assert check(sim) == []


def test_a_run_of_2099_takes_no_place_among_the_newest_ones() -> None:
    sim = build()
    for run_id, skew in (("r1", CENTURY), ("r2", 0.0), ("r3", 0.0)):
        for _ in range(3):
            writers.append(sim, LIVE, sim.ledger.fresh(2))
        assert outcomes(compact(sim.client(skew=skew), FLAT, run_id)) == ["compacted"]
        sim.advance(DAY)
    run(sim.client(), "cleanup", "--table", FLAT, "--keep-last", "1")
    assert [held(sim, name) for name in ("r1", "r2", "r3")] == [True, False, True]


@pytest.mark.parametrize("ahead", [8 * DAY, CENTURY])
def test_a_file_system_whose_clock_is_ahead_ends_no_retention(ahead: float) -> None:
    """The clock of the driver that cleans up is right: the second run is of today."""
    sim = build()
    for run_id in ("r1", "r2"):
        for _ in range(3):
            writers.append(sim, LIVE, sim.ledger.fresh(2))
        compact(sim.client(), FLAT, run_id)
        sim.advance(30 * DAY if run_id == "r1" else ahead)
    report = run(sim.client(skew=-ahead), "cleanup", "--table", FLAT, "--older-than", "7d")
    assert [held(sim, name) for name in ("r1", "r2")] == [False, True]
    assert any("the clock of the file system says" in text for text in warnings(report))


def test_a_folder_of_2099_that_has_no_journal_is_kept_and_named() -> None:
    sim = build()
    compact(sim.client(), FLAT, "r1")
    folder = f"{HOME}/r9.0badcafe0bad"
    sim.tree.make_dirs(f"{folder}/__compact_tmp_1700000000")
    dated(sim, folder)
    sim.advance(30 * DAY)
    report = run(sim.client(), "rollback", "--table", FLAT)
    assert sim.tree.find(folder) is not None
    assert any(folder in text for text in warnings(report))


def test_a_lease_of_2099_is_of_no_job_that_is_at_work() -> None:
    sim = build()
    compact(sim.client(), FLAT, "r1")
    lease = f"{HOME}/lease-000099"
    sim.tree.write(lease, b"{}")
    dated(sim, lease)
    report = run(sim.client(), "check", "--table", FLAT)
    table = only(report)
    assert [finding["code"] for finding in table["findings"]] == ["LEASE_STALE"]
    assert "2099-01-01" in table["findings"][0]["message"]
    assert not [text for text in table["warnings"] if text.startswith("JOB_AT_WORK")]


@pytest.mark.parametrize("mtime", [*EXTREMES, -(2**63)])
def test_an_analysis_says_who_makes_small_files_whatever_their_times_are(mtime: int) -> None:
    sim = build()
    for name, _ in list(sim.tree.files(LIVE)):
        dated(sim, f"{LIVE}/{name}", mtime)
    for verb in ("analyze", "plan"):
        table = only(run(sim.client(), verb, "--table", FLAT))
        assert table["outcome"] == "done"
        assert table["small_file_writers"]
        assert table["files_per_day"] == 0.0


def test_rows_of_a_file_of_2099_are_those_of_any_other() -> None:
    sim = build()
    ids = sim.ledger.fresh(3)
    sim.tree.write(f"{LIVE}/part-2099", encode_rows(ids))
    sim.ledger.committed.update(ids)
    dated(sim, f"{LIVE}/part-2099")
    assert outcomes(compact(sim.client())) == ["compacted"]
    assert check(sim) == []

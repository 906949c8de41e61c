"""Two tables at one location, and one table that a later run has compacted again: which run is to be rolled back."""

from __future__ import annotations

import re

from tests.crash import writers
from tests.crash.exits import CLEAN, ROLL, ask, compacted, must_end, reasons, twice
from tests.crash.flat_table import LIVE, append, only
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import FLAT
from tests.crash.simulated_cluster import SimulatedCluster

TWIN = "sales.twin"


def compacted_again(table: str) -> SimulatedCluster:
    sim = compacted()
    if table != FLAT:
        writers.create_table(sim, table, LIVE)
    for _ in range(6):
        append(sim)()
    must_end(sim, "compact", "--table", table, "--run-id", "r2")
    return sim


def do(sim: SimulatedCluster, text: str) -> None:
    """Run the rollback that the message names."""
    found = re.search(r"`lakekeeper rollback --table (\S+) --run-id (\S+)`", text)
    assert found, text
    must_end(sim, "rollback", "--table", found[1], "--run-id", found[2])


def test_a_run_of_another_table_at_the_location_is_named_with_its_table() -> None:
    sim = compacted_again(TWIN)
    before, text = live_rows(sim, FLAT), twice(sim, *ROLL)
    assert f"`lakekeeper rollback --table {TWIN} --run-id r2`" in text
    do(sim, text)
    must_end(sim, *ROLL)
    assert live_rows(sim, FLAT) == before


def test_a_later_run_of_the_table_is_named() -> None:
    sim = compacted_again(FLAT)
    text = twice(sim, *ROLL, "--run-id", "r1")
    do(sim, text)
    must_end(sim, *ROLL, "--run-id", "r1")
    assert check(sim) == []


def test_a_later_run_whose_originals_are_deleted_is_not_to_be_rolled_back() -> None:
    sim = compacted_again(TWIN)
    must_end(sim, "cleanup", "--table", TWIN, *CLEAN[3:])
    text = twice(sim, *ROLL)
    assert "lakekeeper rollback" not in text
    assert f"`lakekeeper cleanup --table {FLAT}`" in text
    must_end(sim, *CLEAN)
    must_end(sim, *ROLL)


def test_a_directory_that_a_writer_recreated_names_no_run() -> None:
    sim = compacted()
    writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2))
    text = twice(sim, *ROLL)
    assert "a writer" in text
    assert "lakekeeper rollback" not in text


def test_a_rollback_of_a_run_of_another_table_names_that_table() -> None:
    """The history of a table lists it too."""
    sim = compacted_again(TWIN)
    report = ask(sim, *ROLL, "--run-id", "r2")
    assert (report["exit_code"], only(report)["outcome"]) == (0, "nothing")
    before = live_rows(sim, FLAT)
    do(sim, reasons(report))
    assert live_rows(sim, FLAT) == before


def test_forget_of_a_run_of_another_table_names_that_table() -> None:
    sim = compacted_again(TWIN)
    text = twice(sim, "forget", "--table", FLAT, "--run-id", "r2")
    assert f"`lakekeeper forget --table {TWIN} --run-id r2 --yes`" in text

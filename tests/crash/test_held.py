"""What a table's report says of the originals that it keeps, whatever job asks, by the last record of each run."""

from __future__ import annotations

from typing import Any

from tests.crash import writers
from tests.crash.flat_table import only
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster


def held(sim: SimulatedCluster, verb: str = "analyze", *words: str, table: str = FLAT) -> dict[str, Any]:
    found = only(run(sim.client(), verb, "--table", table, *words))
    return {key: found.get(f"held_{key}") for key in ("runs", "bytes", "since")}


def test_an_analysis_says_what_a_compaction_and_a_plan_say() -> None:
    sim = build()
    assert held(sim) == {"runs": 0, "bytes": 0, "since": None}
    of_compaction = held(sim, "compact", "--run-id", "r1")
    assert of_compaction["runs"] == 1
    assert of_compaction["bytes"] > 0
    assert held(sim) == held(sim, "plan") == of_compaction


def test_two_runs_are_two_and_the_older_one_says_since_when() -> None:
    sim = build()
    first = held(sim, "compact", "--run-id", "r1", table=EVENTS)
    sim.advance(24 * 3600)
    for value in ("a", "b"):
        for _ in range(4):
            writers.append(sim, f"{WAREHOUSE}/events/k={value}", sim.ledger.fresh(2))
    run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r2")
    both = held(sim, table=EVENTS)
    assert (both["runs"], both["since"]) == (2, first["since"])
    assert both["bytes"] > first["bytes"]


def test_what_was_rolled_back_or_cleaned_up_is_held_no_more() -> None:
    for verb, *words in (("rollback",), ("cleanup", "--older-than", "0s", "--skip-trash")):
        sim = build()
        run(sim.client(), "compact", "--table", FLAT, "--run-id", "r1")
        assert run(sim.client(), verb, "--table", FLAT, *words)["exit_code"] == 0
        assert held(sim) == {"runs": 0, "bytes": 0, "since": None}, verb


def test_a_table_that_is_refused_while_it_is_written_says_what_it_holds() -> None:
    sim = build()
    before = held(sim, "compact", "--run-id", "r1")
    sim.tree.write(f"{WAREHOUSE}/flat/_temporary/0/x", b"", parents=True)
    for verb in ("analyze", "plan", "compact"):
        assert held(sim, verb) == before, verb


def test_a_cleanup_says_if_originals_stay_because_of_their_number() -> None:
    sim = build()
    run(sim.client(), "compact", "--table", FLAT, "--run-id", "r1")
    sim.advance(8 * 24 * 3600)
    kept = only(run(sim.client(), "cleanup", "--table", FLAT, "--older-than", "7d", "--keep-last", "1"))
    assert kept["reason"] == "no originals are past the retention; keep_last=1 keeps 1 that would be"
    young = only(run(sim.client(), "cleanup", "--table", FLAT, "--older-than", "30d", "--keep-last", "1"))
    assert young["reason"] == "no originals are past the retention"

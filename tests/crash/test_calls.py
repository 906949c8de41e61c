"""How many calls of file system, metastore and Spark a verb makes: no more than in proportion to the partitions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.crash import writers
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

WIDE = "sales.wide"
#: Longer than a directory must be unchanged before its listing is kept.
LATER = 7200


def wide(partitions: int, files: int = 2) -> SimulatedCluster:
    """A table with partitions of small files, all of them two hours old, and a home."""
    sim = SimulatedCluster()
    writers.create_table(sim, WIDE, f"{WAREHOUSE}/wide", keys=("k",))
    for number in range(partitions):
        location = writers.add_partition(sim, WIDE, f"{number:04}")
        for _ in range(files):
            writers.append(sim, location, sim.ledger.fresh(1))
    sim.tree.make_dirs(f"{WAREHOUSE}/wide/.lakekeeper")
    sim.advance(LATER)
    return sim


_OF_LISTINGS = ("small_file_writers", "files_per_day", "listed_units")


def done(sim: SimulatedCluster, *argv: str) -> tuple[dict[str, Any], Counter[str], list[str]]:
    """The table's report of a verb, its calls by kind, and the directories that it listed."""
    client = sim.client()
    report = run(client, argv[0], "--table", WIDE, *argv[1:])
    assert report["exit_code"] == 0, report
    calls = Counter(point.op for point in client.trace)
    return without_listings(report["tables"][0]), calls, [p.args[0] for p in client.trace if p.op == "list"]


def without_listings(table: dict[str, Any]) -> dict[str, Any]:
    """A table's report without what is said of the units only that this very job has listed."""
    return {key: value for key, value in table.items() if key not in _OF_LISTINGS}


def units_in(listed: list[str]) -> list[str]:
    return [path for path in listed if path.rpartition("/")[2].startswith("k=")]


def test_an_analysis_of_twice_the_files_makes_no_more_calls() -> None:
    assert done(wide(20, files=8), "analyze")[1] == done(wide(20, files=4), "analyze")[1]


def test_an_analysis_of_twice_the_partitions_makes_at_most_twice_the_calls() -> None:
    _, half, _ = done(wide(100), "analyze")
    _, calls, listed = done(wide(200), "analyze")
    assert calls.total() <= 2.05 * half.total()
    # For each unit: its listing, and what only the NameNode tells (encryption zone, snapshots, quota).
    assert calls.total() - half.total() <= 4 * 100 + 1
    assert len(units_in(listed)) == 200
    assert [calls[op] for op in ("units", "table", "tables")] == [
        half[op] for op in ("units", "table", "tables")
    ]


def test_the_directory_above_all_tables_is_not_listed_for_each_of_them() -> None:
    """Thousands of tables in one directory: each of its listings has all of them."""
    sim = SimulatedCluster()
    for number in range(5):
        writers.create_table(sim, f"sales.t{number}", f"{WAREHOUSE}/t{number}")
        writers.append(sim, f"{WAREHOUSE}/t{number}", sim.ledger.fresh(1))
    client = sim.client()
    assert run(client, "analyze", "--database", "sales")["exit_code"] == 0
    assert [point.args[0] for point in client.trace if point.op == "list"].count(WAREHOUSE) == 1


def test_an_analysis_of_unchanged_partitions_lists_and_reads_none_of_them() -> None:
    counts = []
    for partitions in (50, 100):
        sim = wide(partitions)
        first, _, _ = done(sim, "analyze")
        second, calls, listed = done(sim, "analyze")
        assert second == first
        assert [unit["outcome"] for unit in second["units"]] == ["flagged"] * partitions
        assert (units_in(listed), calls["footers"], calls["quota"]) == ([], 0, 1)
        counts.append(calls.total())
    assert counts[0] == counts[1]


def test_only_what_has_changed_is_read_again() -> None:
    sim = wide(10)
    done(sim, "analyze")
    writers.append(sim, f"{WAREHOUSE}/wide/k=0003", sim.ledger.fresh(1))
    report, calls, listed = done(sim, "analyze")
    assert (units_in(listed), calls["footers"]) == ([f"{WAREHOUSE}/wide/k=0003"], 1)
    assert [unit["files"] for unit in report["units"]] == [2, 2, 2, 3, 2, 2, 2, 2, 2, 2]
    assert units_in(done(sim, "analyze")[2]) == [f"{WAREHOUSE}/wide/k=0003"]  # it has changed just now
    sim.advance(LATER)
    assert units_in(done(sim, "analyze")[2]) == [f"{WAREHOUSE}/wide/k=0003"]
    assert units_in(done(sim, "analyze")[2]) == []


def test_a_full_scan_reads_all_again() -> None:
    sim = wide(10)
    done(sim, "analyze")
    _, calls, listed = done(sim, "analyze", "--full-scan")
    assert (len(units_in(listed)), calls["footers"]) == (10, 1)


@pytest.mark.parametrize(
    "argv", [("analyze", "--target-file-size", "1mb"), ("compact", "--dry-run", "--run-id", "r")]
)
def test_a_verdict_is_for_an_analysis_with_the_same_options(argv: tuple[str, ...]) -> None:
    sim = wide(10)
    done(sim, "analyze")
    _, calls, listed = done(sim, *argv)
    assert (len(units_in(listed)), calls["footers"]) == (10, 1)


def test_a_compaction_lists_what_an_analysis_has_flagged() -> None:
    sim = wide(3)
    done(sim, "analyze")
    report, _, listed = done(sim, "compact", "--run-id", "r")
    assert [unit["outcome"] for unit in report["units"]] == ["compacted"] * 3
    assert len(set(units_in(listed))) >= 3

"""What verbs leave in the directory of a run: originals, and files that the run did not write; no empty directories."""

from __future__ import annotations

import pytest

from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed
from tests.crash.oracle import check
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

DAYS = "sales.days"
ROOT = f"{WAREHOUSE}/days"
AT_ONCE = ("--older-than", "0s", "--skip-trash")


@pytest.fixture
def days() -> SimulatedCluster:
    """Two keys: three days with two partitions each."""
    sim = SimulatedCluster()
    writers.create_table(sim, DAYS, ROOT, keys=("day", "hour"))
    for day in "abc":
        for hour in "12":
            place = writers.add_partition(sim, DAYS, day, hour)
            for _ in range(3):
                writers.append(sim, place, sim.ledger.fresh(1))
    assert run(sim.client(), "compact", "--table", DAYS, "--run-id", "r1")["exit_code"] == 0
    return sim


def working(sim: SimulatedCluster, folder: str = f"{ROOT}/.lakekeeper") -> list[str]:
    """The working directories of runs, and what is below them, by their paths in the home."""
    number = sim.tree.find(folder)
    found: list[str] = []
    for name, child in sorted(sim.tree.inodes[number].children.items()) if number is not None else ():
        path = f"{folder}/{name}"
        found += [path] if "/__" in path else []
        found += working(sim, path) if sim.tree.inodes[child].is_dir else []
    return found


def test_a_compaction_leaves_the_originals_only(days: SimulatedCluster) -> None:
    left = [path for path in working(days) if not path.endswith(".parquet")]
    (top,) = [path for path in left if path.count("/__") and "/day=" not in path]
    assert "/__originals_" in top
    assert sorted(left) == sorted(
        [
            top,
            *(f"{top}/day={day}" for day in "abc"),
            *(f"{top}/day={d}/hour={h}" for d in "abc" for h in "12"),
        ]
    )


@pytest.mark.parametrize("verb", [("rollback",), ("cleanup", *AT_ONCE)], ids=lambda verb: verb[0])
def test_a_rollback_and_a_cleanup_leave_nothing(days: SimulatedCluster, verb: tuple[str, ...]) -> None:
    assert run(days.client(), verb[0], "--table", DAYS, *verb[1:])["exit_code"] == 0
    assert working(days) == []
    assert check(days) == []


def test_files_of_others_stay_with_the_directories_above_them(days: SimulatedCluster) -> None:
    (top,) = [path for path in working(days) if "/day=" not in path]
    days.tree.write(f"{top}/day=b/note.txt", b"mine")
    assert run(days.client(), "rollback", "--table", DAYS)["exit_code"] == 0
    assert working(days) == [top, f"{top}/day=b", f"{top}/day=b/note.txt"]


def test_what_a_dead_rollback_has_left_is_deleted_by_the_next_job(days: SimulatedCluster) -> None:
    """It died after the record that says that the rewritten directories are not needed any more."""
    with pytest.raises(Killed):
        run(
            days.client(
                Fault.crash_before(lambda point: point.op == "delete_file" and "/__aside_" in point.args[0])
            ),
            "rollback",
            "--table",
            DAYS,
        )
    assert [path for path in working(days) if path.endswith(".parquet")] != []
    assert run(days.client(), "rollback", "--table", DAYS)["exit_code"] == 0
    assert [path for path in working(days) if path.endswith(".parquet")] == []
    assert check(days) == []

"""Partitions whose paths do not say what they are, and marks of other formats on the way to a unit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.model_spark import visible_rows
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

ROOT = f"{WAREHOUSE}/events"
AT_ONCE = ("--older-than", "0s", "--skip-trash")


@pytest.fixture
def sim() -> SimulatedCluster:
    """The table has one partition more, the directory of a load, and is compacted."""
    built = build()
    filled(built, writers.add_partition(built, EVENTS, "d", location=f"{ROOT}/loads/17"))
    assert run(built.client(), "compact", "--tables", EVENTS, "--run-id", "r1")["exit_code"] == 0
    return built


def filled(sim: SimulatedCluster, place: str) -> None:
    for _ in range(4):
        writers.append(sim, place, sim.ledger.fresh(3))


def point_at_next_load(sim: SimulatedCluster) -> None:
    """ALTER TABLE ... SET LOCATION: the rows of the load before are given up."""
    name, place = TableName.parse(EVENTS), f"{ROOT}/loads/18"
    sim.ledger.overwritten.update(visible_rows(sim.tree, f"{ROOT}/loads/17"))
    sim.tree.make_dirs(place)
    known, spec = sim.metastore.get(name), writers.spec_of(sim, EVENTS, ("d",))
    sim.metastore.put(name, replace(known, partitions={**known.partitions, spec: place}))
    filled(sim, place)


@pytest.mark.parametrize("repointed", [False, True], ids=["dropped", "repointed"])
@pytest.mark.parametrize(
    ("verb", "exit_code"), [(("compact",), 0), (("rollback",), 1), (("cleanup", *AT_ONCE), 0)]
)
def test_a_partition_that_is_no_more_where_it_was_stops_no_other(
    sim: SimulatedCluster, verb: tuple[str, ...], exit_code: int, repointed: bool
) -> None:
    point_at_next_load(sim) if repointed else writers.drop_partition(sim, EVENTS, "d")
    report = run(sim.client(), verb[0], "--tables", EVENTS, *verb[1:])
    assert report["exit_code"] == exit_code
    outcomes = {unit["unit"]["k"]: unit["outcome"] for unit in report["tables"][0]["units"]}
    if verb[0] == "rollback":
        assert {outcomes[key] for key in "abc"} == {"restored"}
    assert check(sim) == []


def test_a_table_may_share_its_root_with_one_of_other_keys(sim: SimulatedCluster) -> None:
    writers.create_table(sim, "sales.other", ROOT, keys=("day",))
    filled(sim, writers.add_partition(sim, "sales.other", "1"))
    assert run(sim.client(), "compact", "--tables", "sales.other")["exit_code"] == 0
    assert check(sim) == []


@pytest.mark.parametrize(
    ("mark", "code"), [("_delta_log", "DELTA"), ("_spark_metadata", "STREAMING_SINK"), (".hoodie", "HUDI")]
)
def test_a_table_of_another_format_between_the_root_and_a_unit_is_a_refusal(mark: str, code: str) -> None:
    sim, root = build(), f"{WAREHOUSE}/raw"
    writers.create_table(sim, "sales.raw", root, keys=("source", "day"))
    for day in "12":
        filled(sim, writers.add_partition(sim, "sales.raw", "web", day))
    sim.tree.make_dirs(f"{root}/source=web/{mark}")
    report = run(sim.client(), "compact", "--tables", "sales.raw")
    assert [(unit["outcome"], unit["code"]) for unit in report["tables"][0]["units"]] == [
        ("skipped", code)
    ] * 2

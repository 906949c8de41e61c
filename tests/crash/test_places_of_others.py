"""Whoever may alter a table, or write to a directory that others share, leads the jobs to no place of somebody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.model_spark import encode_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import declare

LEDGER, PLACE = "finance.ledger", f"{AUTHORITY}/finance/ledger"
LANDING = f"{AUTHORITY}/landing"
DAY = 86400


def give_away(sim: SimulatedCluster, path: str) -> None:
    for _, number, _ in list(sim.tree.walk(path)):
        sim.tree.change(number, owner="finance")
    sim.tree.superuser = True


def filled(sim: SimulatedCluster, place: str) -> None:
    for _ in range(4):
        writers.append(sim, place, sim.ledger.fresh(3))


@pytest.fixture
def shared() -> SimulatedCluster:
    """Two tables on one root; the first one is compacted, and wants to keep its originals for long."""
    sim = build()
    writers.create_table(sim, LEDGER, PLACE, keys=("d",))
    for day in "12":
        filled(sim, writers.add_partition(sim, LEDGER, day))
    declare(sim, LEDGER, "lakekeeper.older_than", "90d")
    assert run(sim.client(), "compact", "--tables", LEDGER)["exit_code"] == 0
    writers.create_table(sim, "other.ledger", PLACE, keys=("d",))
    return sim


def test_a_table_on_the_root_of_another_does_not_clean_up_its_runs(shared: SimulatedCluster) -> None:
    """Before, its retention counted, and what it has no partitions for was deleted."""
    shared.advance(8 * DAY)
    shared.tree.remove(f"{PLACE}/d=2", recursive=True)
    report = run(shared.client(), "cleanup", "--tables", "other.ledger", "--older-than", "7d", "--skip-trash")
    assert (report["tables"][0]["outcome"], report["tables"][0]["units"]) == ("nothing", [])
    assert [
        path for path, _, _ in shared.tree.walk(PLACE) if "/__originals_" in path and path.endswith("/d=2")
    ]


def test_nor_does_it_roll_them_back(shared: SimulatedCluster) -> None:
    writers.add_partition(shared, "other.ledger", "1")
    before = shared.tree.find(f"{PLACE}/d=1")
    run(shared.client(), "rollback", "--tables", "other.ledger")
    assert shared.tree.find(f"{PLACE}/d=1") == before
    assert run(shared.client(), "rollback", "--tables", LEDGER)["exit_code"] == 0
    assert shared.tree.find(f"{PLACE}/d=1") != before


def test_a_table_that_was_renamed_still_has_its_runs(shared: SimulatedCluster) -> None:
    """Dropped under its old name, and made again under the new one."""
    shared.metastore.drop(TableName.parse(LEDGER))
    for day in "12":
        writers.add_partition(shared, "other.ledger", day)
    report = run(shared.client(), "rollback", "--tables", "other.ledger")
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["restored"] * 2


def move_home(sim: SimulatedCluster) -> None:
    """The home of a partition goes beside a directory of others, in a folder to which all may write, and so goes the
    partition."""
    sim.tree.rename(f"{AUTHORITY}/elsewhere/.lakekeeper-c", f"{LANDING}/.lakekeeper-ledger")
    name = TableName.parse(EVENTS)
    known = sim.metastore.get(name)
    places = {**known.partitions, (("k", "c"),): f"{LANDING}/ledger"}
    sim.metastore.put(name, replace(known, partitions=places))


def landing(sim: SimulatedCluster) -> dict[str, int]:
    filled(sim, f"{LANDING}/ledger")
    sim.tree.write(f"{LANDING}/ledger/_SUCCESS", b"")
    give_away(sim, LANDING)
    return files(sim)


def files(sim: SimulatedCluster) -> dict[str, int]:
    return {path: number for path, number, _ in sim.tree.walk(f"{LANDING}/ledger")}


@pytest.mark.parametrize(
    "verb", [("compact",), ("rollback",), ("cleanup", "--older-than", "0s", "--skip-trash")]
)
def test_a_home_that_was_moved_leads_to_no_directory_of_others(verb: tuple[str, ...]) -> None:
    """Before, her files were carried there, took the place of others, or the whole directory was moved aside."""
    start = build()
    before = landing(start)
    declare(start, EVENTS, "lakekeeper.writers", "append")
    refused = 0
    for state in crash_states(
        start, lambda client: run(client, "compact", "--tables", EVENTS, "--run-id", "r1")
    ):
        sim = state.sim
        if sim.tree.find(f"{AUTHORITY}/elsewhere/.lakekeeper-c") is None:
            continue
        for path, _, _ in list(sim.tree.walk(f"{AUTHORITY}/elsewhere/.lakekeeper-c")):
            if "/__originals_" in path and path.endswith("/c"):
                sim.tree.write(f"{path}/part-hers-c000.snappy.parquet", encode_rows([999999]))
                sim.tree.write(f"{path}/_SUCCESS", b"hers", overwrite=True)
        move_home(sim)
        report = run(sim.client(), verb[0], "--tables", EVENTS, *verb[1:])
        refused += report["tables"][0]["code"] == "UNTRUSTED_OWNER"
        assert files(sim) == before, str(state)
    assert refused


@pytest.mark.parametrize("verb", ["analyze", "compact", "rollback"])
def test_a_local_disk_is_no_place_where_the_default_file_system_is_another(verb: str) -> None:
    """The driver's own programs are files, too."""
    sim, name = build(), TableName.parse(EVENTS)
    known = sim.metastore.get(name)
    storage = replace(known.facts.storage, location="file:///opt/programs")
    sim.metastore.put(name, replace(known, facts=replace(known.facts, storage=storage)))
    report = run(sim.client(), verb, "--tables", EVENTS)
    assert report["tables"][0]["code"] == "OBJECT_STORE"


def test_nor_is_it_for_a_partition() -> None:
    sim, name = build(), TableName.parse(EVENTS)
    known = sim.metastore.get(name)
    places = {**known.partitions, (("k", "d"),): "file:///opt/programs"}
    sim.metastore.put(name, replace(known, partitions=places))
    report = run(sim.client(), "compact", "--tables", EVENTS)
    units = {unit["unit"]["k"]: unit for unit in report["tables"][0]["units"]}
    assert (units["d"]["outcome"], units["d"]["code"]) == ("skipped", "OBJECT_STORE")
    assert units["a"]["outcome"] == "compacted"

"""A directory above the partitions that only its owner may pass: what lies below it is not open in a run either."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from spark_jobs.core.values.attributes import GROUP, Attributes, LostAttribute
from spark_jobs.core.values.model import parent
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault, Point
from tests.crash.flat_table import AT_ONCE, outcomes
from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_tree import ModelTree
from tests.crash.oracle import check
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

DEEP, ROOT = "sales.deep", f"{WAREHOUSE}/deep"
LIVE = f"{ROOT}/d=1/r=A"
PASS = 0o011


@pytest.fixture
def deep() -> SimulatedCluster:
    """sales.deep: two levels of partitions; `d=1` is closed to all but its owner, and what lies in it is not."""
    sim = SimulatedCluster()
    writers.create_table(sim, DEEP, ROOT, keys=("d", "r"), **{"lakekeeper.writers": "append"})
    for values in (("1", "A"), ("1", "B"), ("2", "A")):
        place = writers.add_partition(sim, DEEP, *values)
        for _ in range(4):
            writers.append(sim, place, sim.ledger.fresh(3))
    chmod(sim, f"{ROOT}/d=1", 0o700)
    return sim


def chmod(sim: SimulatedCluster, path: str, mode: int) -> None:
    number = sim.tree.find(path)
    assert number is not None
    sim.tree.change(number, mode=mode)


def verb(client: Client, name: str, *more: str) -> dict[str, object]:
    return run(client, name, "--table", DEEP, *more)


def open_to_others(tree: ModelTree) -> list[str]:
    """The directories that hold rows of `d=1` and that another account reaches. Their own modes let all read."""
    found = []
    for path, _, inode in tree.walk(ROOT):
        rows = inode.is_dir and any(file.content for _, file in tree.files(path))
        if rows and "/d=1/" in path and all(each.mode & PASS for each in tree.trail(path)):
            found.append(path)
    return found


def watched(sim: SimulatedCluster, *faults: Fault) -> tuple[Client, list[str]]:
    """A client whose every effect is looked at; and the directories that have been open after one of them."""
    found: list[str] = []
    client = sim.client(*faults, observer=lambda *_: found.extend(open_to_others(sim.tree)))
    return client, found


def gap(point: Point) -> bool:
    """The originals have left the live path, and the rewritten directory is not there yet."""
    return point.op == "rename" and point.args[1] == LIVE


def writer_recreates(sim: SimulatedCluster) -> Fault:
    return Fault.hook(gap, lambda: writers.append(sim, LIVE, sim.ledger.fresh(2)))


def test_the_places_of_a_run_are_as_closed_as_the_table(deep: SimulatedCluster) -> None:
    for words in (("compact",), ("rollback",), ("compact",), ("cleanup", *AT_ONCE)):
        client, found = watched(deep)
        assert verb(client, *words)["exit_code"] == 0
        assert found == [], words
    assert check(deep) == []


def test_what_a_writer_adds_between_the_renames_stays_closed(deep: SimulatedCluster) -> None:
    client, found = watched(deep, writer_recreates(deep))
    assert "compacted" in outcomes(verb(client, "compact"))
    assert any("/__conflict_" in str(point) for point in client.trace)
    assert (found, check(deep)) == ([], [])


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("compact",), id="compact"),
        pytest.param(("rollback",), id="rollback", marks=pytest.mark.full),
        pytest.param(("cleanup", *AT_ONCE), id="cleanup", marks=pytest.mark.full),
    ],
)
def test_what_a_kill_leaves_is_closed_and_stays_so(deep: SimulatedCluster, words: Sequence[str]) -> None:
    """Whoever goes on with it: the same job, or a rollback, which also takes back what a cleanup has claimed."""
    faults = [writer_recreates(deep)] if words[0] == "compact" else []
    if not faults:
        verb(deep.client(), "compact")
    for state in crash_states(deep, lambda client: verb(client, *words), faults=faults):
        assert open_to_others(state.sim.tree) == [], str(state)
        for after in (words, ("rollback",)):
            sim = state.sim.copy()
            client, found = watched(sim)
            verb(client, *after)
            assert (found, check(sim)) == ([], []), (str(state), after)


def test_a_place_that_cannot_have_the_group_of_its_original_is_closed(
    deep: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its permissions would be those of another group."""
    modes: list[int] = []
    chmod(deep, f"{ROOT}/d=1", 0o750)
    verb(deep.client(), "compact")
    set_attributes = ModelFileSystem.set_attributes

    def without_group(self: ModelFileSystem, path: str, wanted: Attributes) -> Sequence[LostAttribute]:
        lost = [*set_attributes(self, path, wanted)]
        return [*lost, LostAttribute(GROUP, "no member")] if wanted.mode & 0o070 else lost

    def look(point: Point) -> bool:
        if point.op == "rename" and point.args[1].endswith("/d=1/r=A"):
            found = deep.tree.get(parent(point.args[1]))
            modes.extend([found.mode] if found else [])
        return False

    monkeypatch.setattr(ModelFileSystem, "set_attributes", without_group)
    report = verb(deep.client(Fault.hook(look, lambda: None)), "cleanup", *AT_ONCE)
    assert (outcomes(report), modes) == (["cleaned"] * 3, [0o700])


def test_a_place_is_closed_where_nothing_is_above_the_live_directory_any_more(deep: SimulatedCluster) -> None:
    """Nobody is known who may read it."""
    modes: list[int] = []
    verb(deep.client(), "compact")
    deep.tree.remove(f"{ROOT}/d=1", recursive=True)

    def look(*_: object) -> None:
        modes.extend(
            inode.mode
            for path, _, inode in deep.tree.walk(ROOT)
            if "/__aside_" in path and path.endswith("/d=1")
        )

    verb(deep.client(observer=look), "rollback")
    assert modes[-1] == 0o700

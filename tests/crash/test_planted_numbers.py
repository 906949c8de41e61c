"""Files whose numbers no job reaches, in the directories of the jobs: the next number must still make a name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.runs.home_format import MARKER
from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed
from tests.crash.flat_table import AT_ONCE, LIVE, into, outcomes
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

HOME = f"{WAREHOUSE}/events/.lakekeeper"
#: Where such a name can be put; `#` is the number.
NAMES = {
    "lease": "lease-#",
    "released lease": "lease-#.released",
    "snapshot": "log/snapshot/snapshot-#",
    "survey": "log/survey/analysis-#",
    "deferred": "log/survey/deferred-#",
    "open": "log/survey/open-#",
    "settled record": "settled/#.json.gz",
    "staged settled record": "settled/.#-0123456789abcdef0123456789abcdef",
    "journal record": "<run>/journal/#.json",
    "working directory": "<run>/__originals_#/",
    "generation": "r1-g#.0123456789ab/journal/",
}
NUMBERS = {
    "as long as a name may be": lambda length: "9" * (255 - length),
    "eighteen digits": lambda _: "9" * 18,
    "fifteen digits": lambda _: "9" * 15,
    "other digits": lambda _: "\u0663\u0663\u0663",
    "with another number of zeros": lambda _: "0000007",
}
VERBS = (("analyze",), ("compact", "--run-id", "r1"), ("rollback",), ("cleanup", *AT_ONCE), ("check",))


def plant(sim: SimulatedCluster, name: str, digits: Callable[[int], str]) -> str:
    """A file, or a directory where the name ends with a slash. The longest part of the path has the number."""
    (found,) = runs_of(sim, [EVENTS])[:1]
    part = next(each for each in name.split("/") if "#" in each)
    number = digits(len(part.encode()) - 1)
    if name.startswith("<run>/"):
        return plant_in(sim, found.directory, name[len("<run>/") :], number)
    return plant_in(sim, HOME, name, number)


def plant_in(sim: SimulatedCluster, folder: str, name: str, number: str) -> str:
    path = f"{folder}/{name}".replace("#", number)
    if path.endswith("/"):
        sim.tree.make_dirs(path.rstrip("/"))
    else:
        sim.tree.write(path, b"x", parents=True)
    return path


@pytest.mark.parametrize("digits", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_number_in_a_name_fails_a_job(name: str, digits: Callable[[int], str]) -> None:
    sim = build()
    assert run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")["exit_code"] == 0
    path = plant(sim, name, digits)
    for words in VERBS:
        report = run(sim.client(), words[0], "--tables", f"{EVENTS},{FLAT}", *words[1:])
        tables = {table["table"]: table for table in report["tables"]}
        assert report["exit_code"] == 0, (words, tables[EVENTS]["reason"])
        if tables[EVENTS]["outcome"] == "refused":
            assert path in tables[EVENTS]["reason"]
    assert check(sim, journaled=True) == []


@pytest.mark.parametrize("name", ["lease-#", "lease-#.released"])
def test_where_no_number_is_left_the_table_alone_is_refused(name: str) -> None:
    """The name is one that a job could give, and the next one is not."""
    sim = build()
    sim.tree.write(f"{HOME}/{MARKER}", b"{}", parents=True)
    path = plant_in(sim, HOME, name, "9" * 12)
    report = run(sim.client(), "compact", "--database", "sales")
    tables = {table["table"]: table for table in report["tables"]}
    assert (report["exit_code"], tables[FLAT]["outcome"]) == (0, "done")
    assert (tables[EVENTS]["outcome"], tables[EVENTS]["code"]) == ("refused", "NUMBER_TOO_HIGH")
    assert f"{HOME} has the number {'9' * 12}" in tables[EVENTS]["reason"]
    sim.tree.remove(path)
    assert run(sim.client(), "compact", "--database", "sales")["exit_code"] == 0
    assert check(sim) == []


@pytest.mark.parametrize("digits", ["9" * 243, "9" * 18], ids=len)
def test_a_run_goes_on_beside_a_directory_with_such_a_number(digits: str) -> None:
    sim = build()
    killed = Fault.crash_before(lambda point: point.op == "rename" and point.args[0].endswith("/k=b"))
    with pytest.raises(Killed):
        run(sim.client(killed), "compact", "--table", EVENTS, "--run-id", "r1")
    (found,) = runs_of(sim, [EVENTS])[:1]
    plant_in(sim, found.directory, "__originals_#/", digits)
    assert run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")["exit_code"] == 0
    assert check(sim) == []


@pytest.mark.parametrize("name", ["9" * 255, "\u0663", "x"])
def test_what_a_writer_has_made_again_is_moved_beside_a_directory_with_such_a_name(name: str) -> None:
    sim = build()
    sim.metastore.get(TableName.parse(FLAT)).facts.properties["lakekeeper.writers"] = "append"

    def recreate() -> None:
        (found,) = runs_of(sim, [FLAT])
        swap = next(iter(found.state.units.values())).swap
        sim.tree.make_dirs(f"{found.path(swap.conflict)}/{name}")
        writers.append(sim, LIVE, sim.ledger.fresh(2))

    report = run(sim.client(Fault.hook(into, recreate)), "compact", "--database", "sales")
    assert (report["exit_code"], "failed" in outcomes(report)) == (0, False)
    assert check(sim) == []

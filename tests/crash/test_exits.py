"""Of each state that two jobs in a row fail on, the report names the command that ends it, and the command does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import AT_ONCE, LIVE, compact, into, originals
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check
from tests.crash.scenario import FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

#: What a person can do: a command of this program, of HDFS, or SQL; and for records of another version, that version.
COMMAND = re.compile(
    r"`?lakekeeper (rollback|forget|cleanup|check|history) --table \S+|hdfs dfs -|ALTER TABLE \S+ "
    r"|--skip-trash|trusted_owners|MSCK REPAIR TABLE|use that version"
)
VERBS = {
    "compact": ("compact", "--run-id", "r2"),
    "rollback": ("rollback",),
    "cleanup": ("cleanup", *AT_ONCE),
}
ASIDE = f"{AUTHORITY}/aside"
ROLLBACK = ("rollback", "--table", FLAT, "--run-id", "r1")
FORGET = ("forget", "--table", FLAT, "--run-id", "r1", "--yes")


def compacted() -> SimulatedCluster:
    sim = build()
    assert compact(sim.client())["exit_code"] == 0
    return sim


def _paths(sim: SimulatedCluster) -> list[str]:
    return [path for path, _, _ in sim.tree.walk(WAREHOUSE)]


def _remove_files(sim: SimulatedCluster, folder: str) -> None:
    for name, _ in sim.tree.files(folder):
        sim.tree.remove(f"{folder}/{name}")


def originals_deleted() -> SimulatedCluster:
    sim = compacted()
    sim.tree.remove(originals(sim), recursive=True)
    return sim


def original_file_deleted() -> SimulatedCluster:
    sim = compacted()
    name, _ = sim.tree.files(originals(sim))[0]
    sim.tree.remove(f"{originals(sim)}/{name}")
    return sim


def originals_replaced() -> SimulatedCluster:
    sim, place = compacted(), ""
    place = originals(sim)
    sim.tree.remove(place, recursive=True)
    sim.tree.make_dirs(place)
    return sim


def originals_with_a_directory() -> SimulatedCluster:
    sim = compacted()
    sim.tree.write(f"{originals(sim)}/of-somebody/part-0.parquet", b"x", parents=True)
    return sim


def restored_by_hand() -> SimulatedCluster:
    sim = compacted()
    place = originals(sim)
    sim.tree.remove(LIVE, recursive=True)
    sim.tree.rename(place, LIVE)
    return sim


def live_deleted() -> SimulatedCluster:
    sim = compacted()
    sim.tree.remove(LIVE, recursive=True)
    return sim


def live_emptied() -> SimulatedCluster:
    sim = compacted()
    _remove_files(sim, LIVE)
    return sim


def live_overwritten() -> SimulatedCluster:
    sim = compacted()
    writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(3))
    return sim


def compacted_file_deleted() -> SimulatedCluster:
    sim = compacted()
    writers.append(sim, LIVE, sim.ledger.fresh(2))
    name = next(file for file, _ in sim.tree.files(LIVE) if "-w" not in file)
    sim.tree.remove(f"{LIVE}/{name}")
    return sim


def torn_swap() -> SimulatedCluster:
    """A compaction dies after the second rename, and somebody deletes the originals."""
    sim = build()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(into)))
    sim.tree.remove(originals(sim), recursive=True)
    return sim


def unknown_writer() -> SimulatedCluster:
    sim = build()
    replaced = Fault.hook(into, lambda: writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2)))
    compact(sim.client(replaced))
    return sim


def claimed_folder_with_another_file() -> SimulatedCluster:
    sim = compacted()
    with pytest.raises(Killed):
        run(sim.client(Fault.crash_before(_deletes)), "cleanup", "--table", FLAT, *AT_ONCE)
    claimed = next(path for path in _paths(sim) if path.endswith("/flat") and "__claimed" in path)
    sim.tree.write(f"{claimed}/part-of-somebody.parquet", b"x")
    return sim


def record_unreadable() -> SimulatedCluster:
    sim = compacted()
    sim.tree.write(_records(sim)[1], b"{", overwrite=True)
    return sim


def record_missing() -> SimulatedCluster:
    sim = compacted()
    sim.tree.remove(_records(sim)[1])
    return sim


def record_of_a_newer_version() -> SimulatedCluster:
    sim = compacted()
    sim.tree.write(_records(sim)[-1], b'{"schema_version": 2, "version": "9.0"}', overwrite=True)
    return sim


def _deletes(point: Point) -> bool:
    return point.op == "delete_tree"


def _records(sim: SimulatedCluster) -> list[str]:
    (found,) = runs_of(sim, [FLAT])
    return [
        f"{found.directory}/journal/{name}"
        for name, _ in sorted(sim.tree.files(f"{found.directory}/journal"))
    ]


def _asks(*words: str) -> Callable[[SimulatedCluster], None]:
    def ask(sim: SimulatedCluster) -> None:
        run(sim.client(), *words)

    return ask


def _says_append(sim: SimulatedCluster) -> None:
    run(sim.client(), "compact", "--table", FLAT, request={"arguments": {"writers": "append"}})


def _moves_live_away(sim: SimulatedCluster) -> None:
    """`hdfs dfs -mv`, and a rollback."""
    sim.tree.make_dirs(ASIDE)
    sim.tree.rename(LIVE, f"{ASIDE}/live")
    run(sim.client(), *ROLLBACK)


def _drops_folder(sim: SimulatedCluster) -> None:
    """`hdfs dfs -mv`, to look at it elsewhere."""
    folder = next(path for path in _paths(sim) if re.search(r"/r1\.[0-9a-f]{12}$", path))
    sim.tree.make_dirs(ASIDE)
    sim.tree.rename(folder, f"{ASIDE}/r1")


@dataclass(frozen=True)
class State:
    """A state that a person has made, and what ends it; None where waiting, or nothing at all, does."""

    make: Callable[[], SimulatedCluster]
    end: Callable[[SimulatedCluster], None] | None
    lost: bool = False


STATES = {
    state.make.__name__: state
    for state in (
        State(originals_deleted, _asks(*FORGET)),
        State(original_file_deleted, _asks(*FORGET)),
        State(originals_replaced, _asks(*FORGET)),
        State(originals_with_a_directory, _asks(*FORGET)),
        State(restored_by_hand, _asks(*FORGET)),
        State(live_deleted, _asks(*ROLLBACK)),
        State(live_emptied, _moves_live_away),
        State(live_overwritten, _asks("cleanup", "--table", FLAT, *AT_ONCE)),
        State(compacted_file_deleted, _moves_live_away, lost=True),
        State(torn_swap, _asks(*FORGET)),
        State(unknown_writer, _says_append),
        State(claimed_folder_with_another_file, _asks(*FORGET)),
        State(record_unreadable, _drops_folder),
        State(record_missing, _drops_folder),
        State(record_of_a_newer_version, _drops_folder),
    )
}


def _words(verb: str) -> tuple[str, ...]:
    return (VERBS[verb][0], "--table", FLAT, *VERBS[verb][1:])


def _reasons(report: dict[str, Any]) -> list[str]:
    tables = [
        table for table in report["tables"] if table["outcome"] in ("failed", "partial", "refused", "busy")
    ]
    bad = [
        unit for table in tables for unit in table["units"] if unit["outcome"] in ("failed", "quarantined")
    ]
    return [each["reason"] or "" for each in (bad or tables)]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", STATES)
def test_a_job_that_fails_twice_names_the_command_that_ends_it(name: str, verb: str) -> None:
    sim = STATES[name].make()
    reports = [run(sim.client(), *_words(verb)) for _ in range(2)]
    if all(report["exit_code"] for report in reports):
        for reason in _reasons(reports[-1]):
            assert COMMAND.search(reason), reason


@pytest.mark.parametrize("name", STATES)
def test_the_command_ends_it(name: str) -> None:
    state = STATES[name]
    sim = state.make()
    failed = [run(sim.copy().client(), *_words(verb))["exit_code"] for verb in VERBS]
    assert any(failed), "no job fails on it"
    if state.end is not None:
        state.end(sim)
    for verb in ("rollback", "cleanup", "compact"):
        report = run(sim.client(), *_words(verb))
        assert report["exit_code"] == 0, (verb, _reasons(report))
    assert check(sim) == [] or state.lost

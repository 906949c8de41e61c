"""Tables with settled runs: how they come about, and what is asked of them before and after they are folded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from unittest import mock

from spark_jobs.core.records.snapshots import Snapshot
from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.commit_log.publisher import log_of
from tests.crash import writers
from tests.crash.explorer import Act, cleanup, compact, runs_of
from tests.crash.fault_injection import Fault, Killed
from tests.crash.flat_table import HOME as FLAT_HOME
from tests.crash.flat_table import LIVE, out
from tests.crash.process import acting_as
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

DAY = 86400
#: The runs of `settled`: r0 died before its swap and was recovered, r1 was cleaned up.
OLD = ("r0", "r1")
HOMES = {FLAT: FLAT_HOME, EVENTS: f"{WAREHOUSE}/events/.lakekeeper"}


def first_rename(table: str) -> Any:
    return out if table == FLAT else (lambda point: point.op == "rename" and point.args[0].endswith("/k=a"))


def settled(table: str = FLAT, age: float = 2 * DAY) -> SimulatedCluster:
    """Two settled runs, which are two days old, and files that are to be compacted."""
    sim = build(files=3, rows=1)
    try:
        compact(table, "r0")(sim.client(Fault.crash_before(first_rename(table))))
    except Killed:
        sim.advance(60)
    for act in (compact(table, "r1"), cleanup(table)):
        assert act(sim.client())["exit_code"] == 0
    sim.advance(age)
    add_files(sim, table)
    return sim


def add_files(sim: SimulatedCluster, table: str = FLAT, files: int = 3) -> None:
    places = [LIVE] if table == FLAT else [unit.location for unit in sim.units(table)]
    for place in places:
        for _ in range(files):
            writers.append(sim, place, sim.ledger.fresh(1))


def folded(table: str = FLAT) -> SimulatedCluster:
    """The same, after a compaction has folded them."""
    sim = settled(table)
    assert compact(table, "r2")(sim.client())["exit_code"] == 0
    assert not present(sim, table, OLD)
    return sim


def present(sim: SimulatedCluster, table: str, run_ids: Iterable[str]) -> list[str]:
    """Those of these runs that have a directory."""
    return sorted({each.run_id for each in runs_of(sim, [table])} & set(run_ids))


def history(sim: SimulatedCluster, table: str = FLAT) -> list[dict[str, Any]]:
    report = run(sim.copy().client(), "history", "--table", table, "--limit", "10000")
    assert report["exit_code"] == 0, report
    rows: list[dict[str, Any]] = report["tables"][0]["history"]
    return rows


def answers(sim: SimulatedCluster, table: str = FLAT, run_ids: Iterable[str] = OLD) -> list[Any]:
    """What a person learns of these runs: their rows of the history, and why a rollback of them restores nothing."""
    known = [row for row in history(sim, table) if row["run_id"] in run_ids]
    return [known, *(rollback_of(sim, run_id, table) for run_id in run_ids)]


def rollback_of(sim: SimulatedCluster, run_id: str, table: str = FLAT) -> tuple[str, str | None, list[str]]:
    report = run(sim.copy().client(), "rollback", "--table", table, "--run-id", run_id)
    (found,) = report["tables"]
    return found["outcome"], found["reason"], [unit["outcome"] for unit in found["units"]]


def names_in(sim: SimulatedCluster, table: str = FLAT) -> list[str]:
    """All files and directories in the table's own home."""
    home = HOMES[table]
    return [path[len(home) + 1 :] for path, _, _ in sim.tree.walk(home) if path != home]


def snapshots(sim: SimulatedCluster, table: str = FLAT) -> list[Snapshot]:
    client = sim.copy().client()
    with acting_as(client):
        facts = client.metastore.table(TableName.parse(table))
        return log_of(client.fs, facts, client.clock.now).snapshots()


@dataclass(frozen=True)
class WithNewFiles:
    """An act of a process that finds new files."""

    act: Act

    @property
    def tables(self) -> list[str]:
        return self.act.tables

    def __str__(self) -> str:
        return f"{self.act} of new files"

    def __call__(self, client: Client) -> dict[str, Any]:
        add_files(client.sim, self.act.tables[0])
        return self.act(client)


@dataclass(frozen=True)
class Later:
    """Acts of other processes, with time between them."""

    table: str
    acts: tuple[Act, ...]
    seconds: float = 2 * DAY

    @property
    def tables(self) -> list[str]:
        return [self.table]

    def __str__(self) -> str:
        return ", later ".join(map(str, self.acts))

    def __call__(self, client: Client) -> dict[str, Any]:
        for act in self.acts:
            report = act(client.sim.client())
            assert report["exit_code"] == 0, report
            client.sim.advance(self.seconds)
            add_files(client.sim, self.table)
        return report


def folds_at(sim: SimulatedCluster, act: Act) -> range:
    """The numbers of the calls of an act that it makes to fold runs; after them it gives its leases up."""
    client = sim.copy().client()
    act(client)
    with mock.patch.multiple("spark_jobs.protocol.execution.folding.Folding", run=lambda _: None):
        without = sim.copy().client()
        act(without)
    first = next(
        number
        for number, (one, other) in enumerate(zip(client.trace, without.trace, strict=False), 1)
        if one != other
    )
    return range(first, first + client.points - without.points)

"""What every proof does: break an act somewhere, recover, break the recovery, recover again; then ask the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.run_finder import TableRuns
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault
from tests.crash.figures import Figures
from tests.crash.oracle import check
from tests.crash.process import acting_as
from tests.crash.scenario import EVENTS, FLAT, run
from tests.crash.simulated_cluster import Client, SimulatedCluster
from tests.crash.state_digest import live, state_digest

AT_ONCE = ("--older-than", "0s")


@dataclass(frozen=True)
class Act:
    """A verb with its arguments; calling it runs it in a process and returns the report."""

    verb: str
    args: tuple[str, ...]

    def __call__(self, client: Client) -> dict[str, Any]:
        return run(client, self.verb, *self.args)

    def __str__(self) -> str:
        return " ".join([self.verb, *self.args[2:]])

    @property
    def tables(self) -> list[str]:
        return self.args[1].split(",")


def compact(tables: str, run_id: str = "r1", *args: str) -> Act:
    return Act("compact", ("--tables", tables, "--run-id", run_id, *args))


def rollback(tables: str, *args: str) -> Act:
    return Act("rollback", ("--tables", tables, *args))


def cleanup(tables: str, *args: str) -> Act:
    return Act("cleanup", ("--tables", tables, *(args or (*AT_ONCE, "--skip-trash"))))


def recoveries(act: Act) -> list[Act]:
    """A retry of the task, the next day's run, and what a person may try instead."""
    tables = act.args[1]
    found = [act, compact(tables, "other"), rollback(tables), cleanup(tables)]
    return list(dict.fromkeys(found))


def acts(tables: str) -> list[tuple[Act, list[Act]]]:
    """The acts to break, each with what happened before it."""
    first = compact(tables)
    return [
        (first, []),
        (rollback(tables), [first]),
        (cleanup(tables), [first]),
        (cleanup(tables, *AT_ONCE), [first]),
    ]


def after(sim: SimulatedCluster, before: Iterable[Act]) -> SimulatedCluster:
    """The cluster once these acts are done."""
    twin = sim.copy()
    for act in before:
        assert act(twin.client())["exit_code"] == 0
    return twin


def points(sim: SimulatedCluster, act: Act, seed: int | None = None) -> int:
    """How many effects the act has when nothing goes wrong."""
    client = sim.copy().client(seed=seed)
    act(client)
    return client.points


def at(client: Client, number: int) -> str:
    """The effect of this number, for whoever reads a failed test; a heartbeat may have come in its place."""
    return str(client.trace[number - 1]) if number <= client.points else "the end"


def runs_of(sim: SimulatedCluster, tables: Sequence[str]) -> list[Run]:
    """The runs of these tables, as another process would find them; it may be asked of a cluster that goes on."""
    client = sim.copy().client()
    with acting_as(client):
        facts = [client.metastore.table(TableName.parse(table)) for table in tables]
        return [run for each in facts for run in TableRuns(client.fs, each, sim.units(each.name)).all()]


def unfinished(sim: SimulatedCluster, tables: Sequence[str]) -> list[str]:
    return [f"run {run.run_id} is unfinished: stuck" for run in runs_of(sim, tables) if run.state.unfinished]


def quarantined(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [unit for table in report["tables"] for unit in table["units"] if unit["outcome"] == "quarantined"]


def restored_what_was_left(report: dict[str, Any]) -> bool:
    """A rollback after a cleanup that died: it restores what is left, and names each unit that it cannot restore."""
    units = {(unit["outcome"], unit["code"]) for table in report["tables"] for unit in table["units"]}
    whole = {("restored", None), ("skipped", "ORIGINALS_DELETED")}
    tables = {table["outcome"] for table in report["tables"]} <= {"done", "nothing", "partial"}
    return report["verb"] == "rollback" and report["outcome"] == "partial" and tables and units == whole


def says_no(report: dict[str, Any]) -> bool:
    return report["verb"] == "rollback" and not quarantined(report)


def keeps_originals(report: dict[str, Any]) -> bool:
    """A cleanup where files of the run were overwritten in place, and nobody has said that writers do so."""
    reasons = [unit["reason"] for unit in quarantined(report) if report["verb"] == "cleanup"]
    return bool(reasons) and all(" is gone or changed; the originals in " in text for text in reasons)


def complaint(report: dict[str, Any]) -> list[str]:
    """Why a report is not that of a job that did all that it should."""
    if report["exit_code"] == 0 and not quarantined(report):
        return []
    if restored_what_was_left(report):
        return []
    tables = [
        (t["outcome"], t["code"], t["reason"], [u["reason"] for u in t["units"] if u["outcome"] != "healthy"])
        for t in report["tables"]
    ]
    return [f"exit {report['exit_code']} of {report['verb']}: stuck: {report['error']} {tables}"]


class Proof:
    """Recoveries of one suite; from clusters that differ in times and random ids only, each is run once."""

    def __init__(
        self,
        line: Figures,
        tables: Sequence[str] = (EVENTS, FLAT),
        resurrected: bool = True,
        mirrors: bool = True,
    ) -> None:
        self.line = line
        self.tables = list(tables)
        self._resurrected = resurrected
        self._mirrors = mirrors
        self._ends: dict[tuple[str, Act], SimulatedCluster] = {}
        self._fine: set[str] = set()
        self._seen: set[str] = set()

    def broken(self, where: object, sim: SimulatedCluster) -> None:
        """Right after a crash a row may lie in a folder of ours instead of the table, but never nowhere."""
        self.line.violated(where, check(sim, journaled=True, resurrected=self._resurrected))

    def ended(self, where: object, sim: SimulatedCluster, report: dict[str, Any]) -> None:
        """A job that says that all is well must have left it so; else a row may still lie in a folder of ours."""
        failed = report["exit_code"] != 0
        self.line.violated(where, check(sim, journaled=failed, resurrected=self._resurrected))

    def fresh(self, sim: SimulatedCluster) -> bool:
        """Is it a state that this proof has not seen yet?"""
        name = state_digest(sim, self._mirrors)
        new = name not in self._seen
        self._seen.add(name)
        self.line.states += new
        return new

    def settle(
        self, where: object, sim: SimulatedCluster, act: Act, rest: bool = True, refuses: bool = False
    ) -> SimulatedCluster:
        """Recovers a copy of the cluster, and returns it at rest. With `rest` it is also shown that it is.

        `refuses`: somebody overwrote the table, so that a rollback may say no, and a cleanup may keep the originals.
        """
        key = (state_digest(sim, self._mirrors), act)
        if key not in self._ends:
            twin = sim.copy()
            report = act(twin.client())
            self.line.recoveries += 1
            refused = refuses and (says_no(report) or keeps_originals(report))
            complaints = [] if refused else complaint(report)
            self.line.violated(f"{where}; then {act}", [*complaints, *self._amiss(twin)])
            self._ends[key] = twin
            if rest:
                self._at_rest(f"{where}; then {act}", twin)
        return self._ends[key]

    def _amiss(self, sim: SimulatedCluster) -> list[str]:
        return [*check(sim, resurrected=self._resurrected), *unfinished(sim, self.tables)]

    def _at_rest(self, where: object, sim: SimulatedCluster) -> None:
        """Recovering once more changes nothing, and the table can be compacted."""
        name = state_digest(sim, mirrors=False)
        if name in self._fine:
            return
        self._fine.add(name)
        tables = ",".join(self.tables)
        again = sim.copy()
        cleanup(tables, "--older-than", "3650d")(again.client())
        if live(again, self.tables) != live(sim, self.tables):
            self.line.violated(where, ["recovering twice is not recovering once"])
        last = sim.copy()
        report = compact(tables, "next")(last.client())
        self.line.violated(f"{where}; then a new run", [*complaint(report), *self._amiss(last)])

    def crashes(
        self, sim: SimulatedCluster, act: Act, where: str = "", seed: int | None = None
    ) -> list[tuple[str, SimulatedCluster]]:
        """The distinct states in which a killed `act` leaves the cluster."""
        found = [(f"{where}{act} {state}", state.sim) for state in crash_states(sim, act, seed)]
        fresh = [(name, state) for name, state in found if self.fresh(state)]
        for name, state in fresh:
            self.broken(name, state)
        return fresh

    def errors(
        self, sim: SimulatedCluster, act: Act, where: str = "", seed: int | None = None
    ) -> list[tuple[str, SimulatedCluster]]:
        """The distinct states in which `act` leaves the cluster when one of its calls fails, or loses its answer."""
        found = []
        for number in range(1, points(sim, act, seed) + 1):
            for fault in (Fault.error_before, Fault.error_after):
                twin = sim.copy()
                client = twin.client(fault(number), seed=seed)
                report = act(client)
                name = f"{where}{act} with {fault.__name__} {at(client, number)}"
                self.ended(name, twin, report)
                if self.fresh(twin):
                    found.append((name, twin))
        return found

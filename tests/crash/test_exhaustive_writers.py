"""Other people's jobs at every step of ours: they append, overwrite, hold files open, stage, drop and discover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.explorer import (
    Act,
    Proof,
    acts,
    after,
    at,
    compact,
    points,
    quarantined,
    recoveries,
    unfinished,
)
from tests.crash.fault_injection import Fault
from tests.crash.figures import Figures, figures
from tests.crash.oracle import check, journaled_rows
from tests.crash.scenario import EVENTS, FLAT, build
from tests.crash.simulated_cluster import SimulatedCluster

Writer = Callable[[SimulatedCluster, str, Sequence[int]], object]
#: The rows of the partition that is written to; `scenario.build` numbers them in order.
FIRST_ROWS = range(1, 13)
#: How many steps of ours two writers may lie apart: more than there are between any two looks at a directory.
NEAR = 6
OVERWRITERS = {"recreation": writers.overwrite_by_recreation, "in place": writers.overwrite_in_place}


def declare(sim: SimulatedCluster, table: str, kind: str) -> None:
    """ALTER TABLE SET TBLPROPERTIES: what writers of the table do."""
    name = TableName.parse(table)
    known = sim.metastore.get(name)
    properties = {**known.facts.properties, "lakekeeper.writers": kind}
    sim.metastore.put(name, replace(known, facts=replace(known.facts, properties=properties)))


def place(sim: SimulatedCluster, table: str) -> str:
    return writers.location_of(sim, table, *(["a"] if table == EVENTS else []))


def start_of(verb: str, table: str, kind: str | None = None) -> tuple[Act, SimulatedCluster]:
    act, before = next((act, before) for act, before in acts(table) if act.verb == verb)
    sim = after(build(), before)
    if kind is not None:
        declare(sim, table, kind)
    return act, sim


def overwrites(sim: SimulatedCluster, table: str, writer: Writer) -> None:
    """Where a writer says so, it replaces what it finds and what it would have found a moment before."""
    due = set(sim.ledger.due)
    here = writers.location_of(sim, table)
    writer(sim, here, sim.ledger.fresh(2))
    sim.ledger.overwritten |= due & journaled_rows(sim) if table == FLAT else set()


def interrupted(
    line: Figures, sim: SimulatedCluster, act: Act, number: int, hook: Callable[[SimulatedCluster], object]
) -> tuple[str, SimulatedCluster, bool]:
    """An act with somebody at work before one of its calls; was a unit left for a person to judge?"""
    twin = sim.copy()
    client = twin.client(Fault.hook(number, partial(hook, twin)))
    report = act(client)
    line.points += 1
    name = f"{act} with a writer before {at(client, number)}"
    waits = bool(quarantined(report))
    line.violated(name, check(twin, journaled=report["exit_code"] != 0))
    return name, twin, waits


def judged(
    line: Figures, proof: Proof, name: str, sim: SimulatedCluster, act: Act, kinds: Sequence[str]
) -> None:
    """A unit in quarantine has lost nothing, stays as it is while nobody judges, and is settled once somebody does."""
    line.note("quarantined")
    line.violated(
        name, [text.replace("are lost", "are lost in quarantine") for text in check(sim, journaled=True)]
    )
    again = sim.copy()
    report = compact(proof.tables[0], "again")(again.client())
    if not quarantined(report):
        line.violated(name, ["nobody judged, and yet it is settled"])
    for kind in kinds:
        twin = sim.copy()
        declare(twin, proof.tables[0], kind)
        proof.settle(f"{name}; declared {kind}", twin, recoveries(act)[1], refuses=True)


@pytest.mark.parametrize("kind", [None, "append"])
@pytest.mark.parametrize("verb", ["compact", "rollback"])
@pytest.mark.parametrize("table", [FLAT, pytest.param(EVENTS, marks=pytest.mark.full)])
def test_an_appender_at_every_step(table: str, verb: str, kind: str | None) -> None:
    act, start = start_of(verb, table, kind)
    line = figures(f"{verb} {table}, an append, writers={kind}", "1 writer")
    proof = Proof(line, [table], mirrors=False)
    for number in range(1, points(start, act) + 1, 1 if table == FLAT else 3):
        name, sim, waits = interrupted(
            line, start, act, number, lambda w: writers.append(w, place(w, table), w.ledger.fresh(2))
        )
        if waits:
            judged(line, proof, name, sim, act, ["append"])
        elif proof.fresh(sim):
            proof.settle(name, sim, recoveries(act)[number % 3], rest=number % 5 == 0)
    assert line.violations == []
    assert kind is None or "quarantined" not in line.notes


@pytest.mark.parametrize("how", OVERWRITERS)
@pytest.mark.parametrize("kind", [None, "append", "overwrite"])
@pytest.mark.parametrize("verb", ["compact", "rollback"])
def test_an_overwriter_at_every_step(verb: str, kind: str | None, how: str) -> None:
    """What was replaced does not come back, and what replaced it stays."""
    act, start = start_of(verb, FLAT, kind)
    line = figures(f"{verb}, an overwrite by {how}, writers={kind}", "1 writer")
    proof = Proof(line, [FLAT], mirrors=False)
    hook = partial(overwrites, table=FLAT, writer=OVERWRITERS[how]) if kind == "overwrite" else None
    for number in range(1, points(start, act) + 1):
        name, sim, waits = interrupted(
            line,
            start,
            act,
            number,
            hook or (lambda w: OVERWRITERS[how](w, place(w, FLAT), w.ledger.fresh(2))),
        )
        if waits:
            judged(line, proof, name, sim, act, ["append"])
        else:
            line.violated(name, check(sim, journaled=True, resurrected=True))
            if proof.fresh(sim):
                proof.settle(name, sim, recoveries(act)[number % 3], rest=number % 5 == 0, refuses=True)
    assert line.violations == []


@pytest.mark.parametrize("kind", [pytest.param("append", marks=pytest.mark.full), "overwrite"])
@pytest.mark.parametrize("verb", ["compact", pytest.param("rollback", marks=pytest.mark.full)])
def test_two_overwriters_close_together(verb: str, kind: str) -> None:
    """The second replaces what the first has left, wherever that is by then; nobody is asked what it means."""
    act, start = start_of(verb, FLAT, kind)
    line = figures(f"{verb}, two overwrites, writers={kind}", "2 writers")
    proof, last = Proof(line, [FLAT], mirrors=False), points(start, act)
    for first in range(1, last + 1):
        for second in range(first + 1, min(first + NEAR, last) + 1):
            sim = start.copy()
            hook = partial(_overwrite, sim, kind)
            client = sim.client(Fault.hook(first, hook), Fault.hook(second, hook))
            report = act(client)
            line.points += 1
            name = f"{act} with writers before {at(client, first)} and {at(client, second)}"
            line.violated(name, check(sim, journaled=True, resurrected=kind == "overwrite"))
            line.violated(name, ["in quarantine: stuck"] if quarantined(report) else [])
            if proof.fresh(sim):
                proof.settle(name, sim, recoveries(act)[second % 3], rest=second % 5 == 0, refuses=True)
    assert line.violations == []


def _overwrite(sim: SimulatedCluster, kind: str) -> None:
    """One that only appends gives up what the directory holds, and nothing else."""
    writer = OVERWRITERS["recreation"]
    if kind == "overwrite":
        overwrites(sim, FLAT, writer)
    else:
        writer(sim, place(sim, FLAT), sim.ledger.fresh(2))


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("verb", ["compact", "rollback"])
def test_a_stream_that_is_closed_later(verb: str, flush: bool) -> None:
    """Opened before the run, or at some call of it; closed at each later one. Its rows are in the table then."""
    act, start = start_of(verb, FLAT)
    line = figures(f"{verb}, a stream{' with flushed bytes' if flush else ''}", "1 writer")
    proof, last = Proof(line, [FLAT], mirrors=False), points(start, act)
    pairs = [(1, end) for end in range(1, last + 1)]
    pairs += [(begin, end) for begin in range(9, last, 18) for end in range(begin, last + 1, 11)]
    for begin, end in pairs:
        sim, opened, closed = start.copy(), [], []
        client = sim.client(
            Fault.hook(begin, partial(_open, sim, opened, flush)),
            Fault.hook(end, partial(_close, opened, closed)),
        )
        report = act(client)
        line.points += 1
        for stream in opened[len(closed) :]:
            stream.close()
        name = f"stream from {begin} to {end} ({at(client, end)})"
        if quarantined(report):
            line.note("quarantined")
            line.violated(name, check(sim, journaled=True))
            continue
        proof.ended(name, sim, report)
        if proof.fresh(sim):
            proof.settle(name, sim, recoveries(act)[end % 3], rest=end % 5 == 0)
    assert line.violations == []


def _open(sim: SimulatedCluster, opened: list[writers.OpenAppend], flush: bool) -> None:
    opened.append(writers.open_append(sim, place(sim, FLAT), sim.ledger.fresh(2)))
    if flush:
        opened[-1].flush()


def _close(opened: list[writers.OpenAppend], closed: list[bool]) -> None:
    closed += [stream.close() for stream in opened]


@pytest.mark.parametrize("verb", ["compact", "rollback"])
def test_a_job_with_a_committer(verb: str) -> None:
    """It begins, publishes and finishes at three calls of ours; where it says that it succeeded its rows are there."""
    act, start = start_of(verb, FLAT)
    line = figures(f"{verb}, a staged append", "1 writer")
    proof, last = Proof(line, [FLAT], mirrors=False), points(start, act)
    for begin in range(1, last + 1, 4):
        for publish in range(begin, last + 2, 11):
            sim = start.copy()
            job = writers.staged_append(sim, place(sim, FLAT), sim.ledger.fresh(2))
            finish = min(publish + begin % 6, last + 1)
            report = act(
                sim.client(
                    Fault.hook(begin, job.stage),
                    Fault.hook(publish, job.publish),
                    Fault.hook(finish, job.finish),
                )
            )
            line.points += 1
            name = f"staged at {begin}, published at {publish}, finished at {finish}"
            job.finish()
            if quarantined(report):
                line.note("quarantined")
                line.violated(name, check(sim, journaled=True))
                declare(sim, FLAT, "append")
                proof.settle(name, sim, compact(FLAT, "other"), rest=False)
            else:
                proof.ended(name, sim, report)
    assert line.violations == []


@pytest.mark.parametrize("verb", ["compact", "rollback"])
def test_the_metastore_is_tidied_after_a_crash(verb: str) -> None:
    """`discover.partitions` drops a partition between its renames: recovery finds its files, and says so."""
    act, start = start_of(verb, EVENTS)
    line = figures(f"{verb}, a crash, then discovery", "crashes")
    for state in crash_states(start, act):
        sim = state.sim
        writers.msck(sim, EVENTS, sync=True)
        for recovery in recoveries(act):
            twin = sim.copy()
            report = recovery(twin.client())
            line.recoveries += 1
            gone = set("abc") - {str(dict(unit.spec)["k"]) for unit in twin.units(EVENTS)}
            told = [text for text in report["tables"][0]["warnings"] if "no such partition" in text]
            if len(told) != len(gone):
                line.violated(f"{state}; {recovery}", [f"{sorted(gone)} are gone, and told is {told}"])
            for value in sorted(gone):
                home = writers.location_of(start, EVENTS, value)
                writers.add_partition(twin, EVENTS, value, location=home)
            line.note("dropped", len(gone))
            line.violated(f"{state}; {recovery}", [*check(twin), *unfinished(twin, [EVENTS])])
    assert line.violations == []
    assert line.notes["dropped"] > 0


@pytest.mark.parametrize("sync", [True, False], ids=["discovery", "drop with data"])
@pytest.mark.parametrize("verb", ["compact", "rollback"])
def test_a_partition_goes_at_every_step(verb: str, sync: bool) -> None:
    """Nothing that somebody has not given up is lost, and a partition that is gone although we worked on it is told."""
    act, start = start_of(verb, EVENTS)
    line = figures(f"{verb}, {'discovery' if sync else 'a partition dropped with its data'}", "1 writer")
    for number in range(1, points(start, act) + 1):
        twin = start.copy()
        client = twin.client(Fault.hook(number, partial(_tidy if sync else _drop, twin)))
        report = act(client)
        line.points += 1
        line.violated(at(client, number), check(twin, journaled=True, repaired=False) if not sync else [])
        warned = any("no such partition" in text for text in report["tables"][0]["warnings"])
        if sync and len(twin.units(EVENTS)) < 3 and not warned:
            line.violated(at(client, number), ["a partition went, and nobody was told"])
    assert line.violations == []


def _tidy(sim: SimulatedCluster) -> None:
    writers.msck(sim, EVENTS, sync=True)


def _drop(sim: SimulatedCluster) -> None:
    """Between two renames the rows are not where the partition is, and given up all the same."""
    sim.ledger.overwritten.update(FIRST_ROWS)
    writers.drop_partition(sim, EVENTS, "a", delete_data=True)

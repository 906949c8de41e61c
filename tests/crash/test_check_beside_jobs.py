"""`check` reports no damage because of a job that works on the table meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.crash import writers
from tests.crash.checked import findings
from tests.crash.explorer import Act, acts, after
from tests.crash.explorer import compact as compacts
from tests.crash.fault_injection import Fault, Point
from tests.crash.flat_table import LIVE, append, clean_up, compact
from tests.crash.paused_process import PausedProcess
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster
from tests.crash.test_check_sound import BOTH

#: The calls that change what a check looks at.
STEPS = ("rename", "delete_tree", "delete_file", "trash", "replace", "drop_backup", "create_backup")


def damage(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(f["code"], f["path"], f["message"]) for f in findings(report) if f["severity"] == "damage"]


def _points(sim: SimulatedCluster, tables: str = FLAT) -> int:
    client = sim.client()
    run(client, "check", "--tables", tables)
    return client.points


@pytest.mark.parametrize(("act", "before"), acts(BOTH), ids=str)
def test_a_whole_job_at_any_call(act: Act, before: list[Act]) -> None:
    base = after(build(), before)
    for number in range(1, _points(base, BOTH) + 1):
        sim = base.copy()
        client = sim.client(Fault.hook(number, lambda sim=sim: act(sim.client())))
        report = run(client, "check", "--tables", BOTH)
        assert (damage(report), report["exit_code"]) == ([], 0), client.trace[number - 1]


def _again(sim: SimulatedCluster, places: tuple[str, ...] = (LIVE,)) -> SimulatedCluster:
    """Appenders leave small files again."""
    for place in places:
        for _ in range(6):
            append(sim, place)()
    return sim


def _expiring() -> SimulatedCluster:
    """Runs r1 to r3 are settled; the next job folds r3, and deletes the snapshots of the earlier ones."""
    sim = build()
    for run_id, tables in (("r1", BOTH), ("r2", BOTH), ("r3", FLAT)):
        assert compact(sim.client(), tables, run_id)["exit_code"] == 0
        clean_up(sim)
        clean_up(sim, EVENTS)
        sim.advance(2 * 24 * 3600)
        _again(sim, (LIVE, f"{WAREHOUSE}/events/k=a"))
    return sim


JOBS: dict[str, tuple[Act, Callable[[], SimulatedCluster]]] = {
    f"{number} {act.verb}": (act, lambda before=before: after(build(), before))  # type: ignore[misc]
    for number, (act, before) in enumerate(acts(FLAT))
}
JOBS["again"] = (compacts(FLAT, "r2"), lambda: _again(after(build(), [compacts(FLAT)])))
JOBS["fold"] = (compacts(FLAT, "r4"), _expiring)


def _after_step(job: PausedProcess) -> Callable[[], None]:
    def go_on() -> None:
        if not job.ended:
            job.go_on()

    return go_on


def _looks_beside(act: Act, base: SimulatedCluster, step: Point, number: int) -> dict[str, Any] | None:
    """Stop a job before one of its calls, and let it do this one at a call of the check; it keeps its lease."""
    sim = base.copy()

    def stop(point: Point) -> bool:
        return point.number == step.number

    def next_stop(point: Point) -> bool:
        return point.number > step.number and point.op not in ("units", "table")

    job = PausedProcess(sim, act, [stop, next_stop], frozen=False)
    job.go_on()
    if job.ended:
        return None
    report = run(sim.client(Fault.hook(number, _after_step(job))), "check", "--table", FLAT)
    job.kill()
    return report


@pytest.mark.parametrize(
    "stride", [5, pytest.param(1, marks=pytest.mark.full)], ids=["some calls", "all calls"]
)
@pytest.mark.parametrize("name", JOBS)
def test_one_step_of_a_job_at_any_call(name: str, stride: int) -> None:
    act, make = JOBS[name]
    base = make()
    client = base.copy().client()
    act(client)
    steps = [point for point in client.trace if point.op in STEPS]
    tried = 0
    for index, step in enumerate(steps):
        for number in range(1 + index % stride, _points(base.copy()) + 12, stride):
            report = _looks_beside(act, base, step, number)
            if report is not None:
                assert damage(report) == [], (step, number)
                tried += 1
    assert tried


def _before_each_record(point: Point, seen: set[int]) -> bool:
    if point.op != "create" or "/journal/" not in str(point.args[0]) or point.number in seen:
        return False
    seen.add(point.number)
    return True


@pytest.mark.parametrize("verb", ["cleanup", "rollback", "compact"])
def test_a_long_job_whose_waves_go_on_between_the_looks(verb: str) -> None:
    sim = _many_units()
    if verb == "compact":
        _again(sim, tuple(unit.location for unit in sim.units(EVENTS)))
    words = {"cleanup": ("--older-than", "0s", "--skip-trash"), "compact": ("--run-id", "r9")}.get(verb, ())

    def work(client: Client) -> object:
        return run(client, verb, "--table", EVENTS, *words, "--parallelism", "1")

    seen: set[int] = set()
    job = PausedProcess(sim, work, [lambda point: _before_each_record(point, seen)] * 60, frozen=False)
    for _ in range(4):
        job.go_on()
    looks: list[int] = []

    def new_look(point: Point) -> bool:
        number = sum(each.op == "table" for each in client.trace)
        first = point.op == "identity" and "/__originals_" in str(point.args[0]) and number not in looks
        looks.extend([number] if first else ())
        return first

    def wave() -> None:
        for _ in range(2):
            _after_step(job)()

    client = sim.client(*[Fault.hook(new_look, wave) for _ in range(3)])
    report = run(client, "check", "--table", EVENTS)
    job.kill()
    assert damage(report) == []
    for found in findings(report):
        assert "not confirmed" not in found["message"] or found["command"] is None


def _many_units() -> SimulatedCluster:
    sim = build()
    for number in range(20):
        place = writers.add_partition(sim, EVENTS, f"x{number:02d}")
        for _ in range(4):
            writers.append(sim, place, sim.ledger.fresh(3))
    assert compact(sim.client(), EVENTS, "r0")["exit_code"] == 0
    return sim

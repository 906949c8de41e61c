"""One cycle: files come, a job is killed in the middle of its work, another one repairs, and everything is counted."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.soak.appender import PAUSE
from tests.soak.drivers import Driver, DriverError
from tests.soak.figures import ENDED, NOTHING, Cycle
from tests.soak.journals import Watch, left
from tests.soak.ledger import Ledger
from tests.soak.plan import Aim, Plan
from tests.soak.tables import EVENTS, FLAT, Writer, home, read

AIM_LIMIT = 120
TRIES = 3
POLL = 0.0005


@dataclass
class Soak:
    """What all cycles share. `victim` hands out a driver that is ready, `warm` has the next one started."""

    folder: Path
    units: Mapping[str, Path]
    ledger: Ledger
    writer: Writer
    mechanic: Driver
    victim: Callable[[], Driver]
    warm: Callable[[], None]

    def run(self, plan: Plan) -> Cycle:
        cycle = Cycle(plan, time.monotonic())
        self._append(plan.appending)
        self._fill(plan)
        if plan.verb != "compact":
            self._compacted(cycle)
        for aim in plan.kills:
            self._kill(cycle, aim)
        self._repair(cycle)
        self._check(cycle)
        return cycle

    def homes(self, plan: Plan) -> list[Path]:
        return [home(self.units, table) for table in plan.tables]

    def _append(self, wanted: bool) -> None:
        pause = self.folder / PAUSE
        if wanted:
            pause.unlink(missing_ok=True)
        else:
            pause.touch()

    def _fill(self, plan: Plan) -> None:
        for unit in self.units:
            for _ in range(plan.files):
                self.writer.add(unit)

    def _compacted(self, cycle: Cycle) -> None:
        """A rollback or a cleanup needs something to work on."""
        plan = cycle.plan
        self.mechanic.job("compact", ["--tables", ",".join(plan.tables), "--run-id", plan.run_id])
        answer = self.mechanic.answer()
        if answer["exit_code"]:
            cycle.problems.append(f"the compaction before ended with {_explain(answer)}")

    def _kill(self, cycle: Cycle, aim: Aim) -> None:
        driver = self.victim()
        watch = Watch(self.homes(cycle.plan))
        driver.job(cycle.plan.verb, cycle.plan.words)
        busy = _strike(driver, watch, aim, self._is_gap)
        driver.kill()
        cycle.killed.append(time.monotonic())
        cycle.states.append(self._state(cycle.plan, busy or bool(watch.news())))
        self.warm()

    def _is_gap(self) -> bool:
        return not all(place.exists() for place in self.units.values())

    def _state(self, plan: Plan, began: bool) -> str:
        """Of the run that stands open: where this kill has left it; one before, if this job had not begun to write."""
        if not began:
            return NOTHING
        runs = [run for home in self.homes(plan) for run in left(home) if run.unfinished]
        runs.sort(key=lambda run: bool(run.intents))
        return str(runs[-1]) if runs else ENDED

    def _repair(self, cycle: Cycle) -> None:
        """As a task with retries does: it must end well."""
        plan, begun = cycle.plan, time.monotonic()
        for _ in range(TRIES):
            held = {home: _lease(home) for home in self.homes(plan)}
            self.mechanic.job(plan.repair_verb, plan.repair_words)
            self._measure_takeover(cycle, held)
            answer = self.mechanic.answer()
            cycle.codes.append(answer["exit_code"])
            if not answer["exit_code"]:
                break
            cycle.problems.append(_explain(answer))
        cycle.recovered = time.monotonic()
        cycle.seconds = cycle.recovered - begun
        cycle.stuck += bool(cycle.codes[-1])
        cycle.stuck += any("quarantined" in problem for problem in cycle.problems)

    def _measure_takeover(self, cycle: Cycle, held: Mapping[Path, str | None]) -> None:
        """From the start of the job to its own lease, where a dead job's stood in the way."""
        begun = time.monotonic()
        dead = {home: name for home, name in held.items() if name and not name.endswith(".released")}
        while dead and not self.mechanic.answered and time.monotonic() < begun + AIM_LIMIT:
            if any(_lease(home) != name for home, name in dead.items()):
                cycle.takeover = cycle.takeover or time.monotonic() - begun
                return
            time.sleep(0.01)

    def _check(self, cycle: Cycle) -> None:
        """By the files themselves, then by Spark after the metastore was asked to find what it does not know yet."""
        open_runs = [run for home in self.homes(cycle.plan) for run in left(home) if run.unfinished]
        cycle.stuck += len(open_runs)
        cycle.problems += [f"run {run.run_id} is unfinished: {run}" for run in open_runs]
        for count in (self._by_files, self._by_spark):
            self._compare(cycle, {unit: frozenset(ids) for unit, ids in self.ledger.ids().items()}, count)

    def _compare(
        self,
        cycle: Cycle,
        committed: Mapping[str, frozenset[int]],
        count: Callable[[Cycle], Iterator[tuple[str, Counter[int]]]],
    ) -> None:
        cycle.rows, lost, double = sum(map(len, committed.values())), 0, 0
        for name, found in count(cycle):
            expected = frozenset().union(*(ids for unit, ids in committed.items() if unit.startswith(name)))
            lost += _name(cycle, f"{name} has lost", expected - found.keys())
            double += _name(cycle, f"{name} has doubled", {row for row, n in found.items() if n > 1})
        cycle.lost, cycle.duplicated = max(cycle.lost, lost), max(cycle.duplicated, double)

    def _by_files(self, cycle: Cycle) -> Iterator[tuple[str, Counter[int]]]:
        for unit, place in self.units.items():
            try:
                yield unit, read(place)
            except OSError as error:
                cycle.problems.append(f"{unit} cannot be read: {error}")
                yield unit, Counter()

    def _by_spark(self, _: Cycle) -> Iterator[tuple[str, Counter[int]]]:
        *_, events, flat = self.mechanic.sql(
            f"MSCK REPAIR TABLE {EVENTS}",
            f"REFRESH TABLE {EVENTS}",
            f"REFRESH TABLE {FLAT}",
            f"SELECT id FROM {EVENTS}",
            f"SELECT id FROM {FLAT}",
        )
        yield "events", Counter(row[0] for row in events)
        yield "flat", Counter(row[0] for row in flat)


def _strike(driver: Driver, watch: Watch, aim: Aim, is_gap: Callable[[], bool]) -> bool:
    """Returns when the moment has come, or the job has ended; was anything recorded until then?"""
    begun, recorded = time.monotonic(), False
    while aim.event != "any" and not driver.answered:
        kinds = {event.kind for event in watch.news()}
        recorded = recorded or bool(kinds)
        if aim.event in kinds or (aim.event == "gap" and is_gap()):
            break
        if time.monotonic() - begun > AIM_LIMIT:
            raise DriverError(f"{driver.folder.name} did not get to {aim.event}; see {driver.log}")
        time.sleep(POLL)
    _sleep(aim.delay, driver)
    return recorded


def _sleep(seconds: float, driver: Driver) -> None:
    """Short delays to the point: a sleep may last milliseconds longer."""
    until = time.monotonic() + seconds
    while (rest := until - time.monotonic()) > 0 and not driver.answered:
        if rest > 0.005:
            time.sleep(min(rest - 0.003, 0.05))


def _lease(home: Path) -> str | None:
    """The highest lease. One that is released counts after the same one that is not."""
    return max((path.name for path in home.glob("lease-*")), default=None)


def _name(cycle: Cycle, what: str, ids: frozenset[int] | set[int]) -> int:
    if ids:
        cycle.problems.append(f"{what} {len(ids)} rows: {sorted(ids)[:10]} ...")
    return len(ids)


def _explain(answer: Mapping[str, Any]) -> str:
    report = answer["report"]
    said = [report["error"], *(table["reason"] for table in report["tables"])]
    for table in report["tables"]:
        bad = [unit for unit in table["units"] if unit["outcome"] in ("failed", "quarantined")]
        said += [f"{unit['unit']} {unit['outcome']}: {unit['reason']}" for unit in bad]
    return f"exit {answer['exit_code']}: {'; '.join(text for text in said if text)}"

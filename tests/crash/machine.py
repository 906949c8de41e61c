"""Anything may happen to a table, in any order: writers, and jobs that crash, or fall asleep and wake up too late."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.crash.fault_injection import Fault, Killed
from tests.crash.paused_process import PausedProcess
from tests.crash.process import acting_as
from tests.crash.quiescence import complaints, held_by_design, open_runs
from tests.crash.scenario import EVENTS, FLAT, run
from tests.crash.strategies import (
    NUMBERS,
    SEEDS,
    SKEWS,
    Nap,
    Other,
    Trouble,
    Work,
    compactions,
    crashes,
    meanwhiles,
    naps,
    others,
    troubles,
    works,
)
from tests.crash.workload import Workload, town

#: How often a job is run at the end, until nothing is unfinished any more.
ATTEMPTS = 3
COUNTS: Counter[str] = Counter()


class Tables(RuleBasedStateMachine):
    """The rules. `kind` is what writers of this example do, and what the property `lakekeeper.writers` says of them;
    None: they do both, and it says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.sim = town()
        self.stack = ExitStack()
        self.stack.enter_context(acting_as(self.sim.client(name="nobody")))
        self.paused_processes: list[PausedProcess] = []
        self.kind: str | None = None
        COUNTS["examples"] += 1

    @initialize(
        tables=st.sampled_from([(FLAT,), (EVENTS,), (EVENTS, FLAT)]),
        kind=st.sampled_from([None, "append", "append", "overwrite"]),
    )
    def begin(self, tables: tuple[str, ...], kind: str | None) -> None:
        self.workload = Workload(self.sim, tables)
        self.kind = kind
        if kind:
            self.workload.declare(kind)

    # Writers

    @rule(item=others())
    def other(self, item: Other) -> None:
        self._act(item)

    @precondition(lambda self: self.workload.pending)
    @rule(number=NUMBERS, flush=st.booleans())
    def go_on_writing(self, number: int, flush: bool) -> None:
        self.workload.step(number, flush)
        self._look()

    def _act(self, item: Other) -> None:
        """Only what writers of this example's kind do, and only where there is something to do it to."""
        item.on(self.workload, self.kind)
        COUNTS[item.what] += 1
        self._look()

    # Jobs

    @rule(work=compactions())
    def compact(self, work: Work) -> None:
        self._run(work)

    @rule(work=works(), seed=SEEDS, skew=SKEWS)
    def work(self, work: Work, seed: int | None, skew: float) -> None:
        self._run(work, seed=seed, skew=skew)

    @rule(work=works(), trouble=st.lists(troubles(), min_size=1, max_size=3), seed=SEEDS, skew=SKEWS)
    def trouble(self, work: Work, trouble: list[Trouble], seed: int | None, skew: float) -> None:
        self._run(work, *(item.fault() for item in trouble), seed=seed, skew=skew)

    @precondition(lambda self: len(self.paused_processes) < 3)
    @rule(nap=naps())
    def begin_work(self, nap: Nap) -> None:
        self._sleep(nap)

    @precondition(lambda self: len(self.paused_processes) < 3)
    @rule(nap=naps(), meanwhile=meanwhiles())
    def overtaken(self, nap: Nap, meanwhile: list[Work | Other]) -> None:
        """The story that fences are for: it sleeps, others act, it wakes up and goes on as if nothing had been."""
        self._give_work(nap.work)
        paused = self._sleep(nap)
        for item in meanwhile:
            if isinstance(item, Work):
                self._run(item)
            else:
                self._act(item)
        if not paused.ended:
            self._wake(paused)

    @rule(work=works(), trouble=crashes(), meanwhile=st.lists(others(), max_size=2), then=works())
    def recovered(self, work: Work, trouble: Trouble, meanwhile: list[Other], then: Work) -> None:
        """The story that journals are for."""
        self._give_work(work)
        self._run(work, trouble.fault())
        for item in meanwhile:
            self._act(item)
        self._run(then)

    def _give_work(self, work: Work) -> None:
        """Without small files, or without a run, there would be nothing to be disturbed at."""
        for place in self.workload.places():
            self.workload.write(place, self.kind)
        if work.verb != "compact":
            self._run(Work("compact", ("--run-id", "before"), None))

    def _sleep(self, nap: Nap) -> PausedProcess:
        paused = PausedProcess(
            self.sim, nap.work.on(self.workload.tables), nap.predicates(), *nap.faults(),
            frozen=nap.frozen, seed=nap.seed, skew=nap.skew,
        )  # fmt: skip
        self.paused_processes.append(paused)
        paused.go_on()
        COUNTS["paused"] += not paused.ended
        self._look()
        return paused

    def _wake(self, paused: PausedProcess) -> None:
        paused.go_on()
        COUNTS["woken"] += 1
        self._look()

    @precondition(lambda self: self.paused_processes)
    @rule(number=NUMBERS)
    def go_on_working(self, number: int) -> None:
        self._wake(self.paused_processes[number % len(self.paused_processes)])

    @precondition(lambda self: self.paused_processes)
    @rule(number=NUMBERS)
    def kill(self, number: int) -> None:
        self.paused_processes[number % len(self.paused_processes)].kill()
        COUNTS["killed"] += 1
        self._look()

    @rule(seconds=st.sampled_from([5, 15, 30, 300, 7200, 90_000]))
    def time_passes(self, seconds: int) -> None:
        self.sim.advance(seconds)
        self._look()

    def _run(self, work: Work, *faults: Fault, seed: int | None = None, skew: float = 0.0) -> None:
        client = self.sim.client(*faults, seed=seed, skew=skew)
        try:
            work.on(self.workload.tables)(client)
        except Killed:
            COUNTS["killed"] += 1
        COUNTS["jobs"] += 1
        self._look()

    # What must hold

    def _look(self) -> None:
        """No row is ever lost or twice. Only while a run is unfinished it may lie in a folder of ours."""
        COUNTS["steps"] += 1
        self.paused_processes = [paused for paused in self.paused_processes if not paused.ended]
        self._empty_the_trash()
        unfinished = open_runs(self.sim, self.workload.tables)
        self._must_hold(journaled=bool(unfinished))

    def _must_hold(self, journaled: bool = False, where: object = "") -> None:
        violations = self.workload.check(journaled)
        assert not violations, f"{violations} {where}"

    def _empty_the_trash(self) -> None:
        """What lies there is not kept."""
        self.sim.tree.remove("hdfs://model/user/me/.Trash", recursive=True)

    def teardown(self) -> None:
        """Also after a rule has failed; then only the threads must go."""
        try:
            if sys.exc_info()[1] is None and hasattr(self, "workload"):
                self._come_to_rest()
        finally:
            for paused in self.paused_processes:
                paused.kill()
            self.stack.close()

    def _come_to_rest(self) -> None:
        """Everybody ends what he has begun; then whatever is still unfinished is settled."""
        while self.paused_processes:
            self.paused_processes[0].go_on()
            self._look()
        self.workload.finish_all()
        self._look()
        reports = self._recover()
        decided = self.kind is None and held_by_design(reports)
        if decided:
            COUNTS["quarantined by design"] += 1
            self._look()
            self.workload.declare("append")
            reports = self._recover()
        stuck = open_runs(self.sim, self.workload.tables)
        assert not stuck, f"{stuck} are stuck: {complaints(reports)}"
        self.workload.restore_partitions()
        self._must_hold()
        self._go_on_for_good()
        back = self.workload.back()
        assert decided or not back, f"rows {back} are live although they were replaced"

    def _recover(self) -> list[dict[str, Any]]:
        reports = []
        for _ in range(ATTEMPTS):
            self.sim.advance(30)
            for table in self.workload.tables:
                reports.append(run(self.sim.client(), "cleanup", "--table", table, "--older-than", "3650d"))
            if not open_runs(self.sim, self.workload.tables):
                break
        return reports

    def _go_on_for_good(self) -> None:
        """Tables at rest are tables to work with: they can be compacted, rolled back and cleaned up."""
        names = ",".join(self.workload.tables)
        for verb, *options in (
            ("compact", "--run-id", "last"),
            ("rollback",),
            ("cleanup", "--older-than", "0s"),
        ):
            report = run(self.sim.client(), verb, "--tables", names, *options)
            self._must_hold(where=complaints([report]) or verb)
            assert verb != "compact" or not complaints([report]), f"stuck: {complaints([report])}"

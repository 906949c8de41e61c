"""Anything may happen to a table, in any order: writers, and jobs that crash, or fall asleep and wake up too late."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.crash.gate import Fault, Killed
from tests.crash.moves import (
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
from tests.crash.process import acting_as
from tests.crash.rest import complaints, held_by_design, open_runs
from tests.crash.scenario import EVENTS, FLAT, run
from tests.crash.sleeper import Sleeper
from tests.crash.traffic import Traffic, town

#: How often a job is run at the end, until nothing is unfinished any more.
ATTEMPTS = 3
COUNTS: Counter[str] = Counter()


class Tables(RuleBasedStateMachine):
    """The rules. `kind` is what writers of this example do, and what the property `lakekeeper.writers` says of them;
    None: they do both, and it says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.world = town()
        self.stack = ExitStack()
        self.stack.enter_context(acting_as(self.world.client(name="nobody")))
        self.sleepers: list[Sleeper] = []
        self.kind: str | None = None
        COUNTS["examples"] += 1

    @initialize(
        tables=st.sampled_from([(FLAT,), (EVENTS,), (EVENTS, FLAT)]),
        kind=st.sampled_from([None, "append", "append", "overwrite"]),
    )
    def begin(self, tables: tuple[str, ...], kind: str | None) -> None:
        self.traffic = Traffic(self.world, tables)
        self.kind = kind
        if kind:
            self.traffic.declare(kind)

    # Writers

    @rule(item=others())
    def other(self, item: Other) -> None:
        self._act(item)

    @precondition(lambda self: self.traffic.pending)
    @rule(number=NUMBERS, flush=st.booleans())
    def go_on_writing(self, number: int, flush: bool) -> None:
        self.traffic.step(number, flush)
        self._look()

    def _act(self, item: Other) -> None:
        """Only what writers of this example's kind do, and only where there is something to do it to."""
        item.on(self.traffic, self.kind)
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

    @precondition(lambda self: len(self.sleepers) < 3)
    @rule(nap=naps())
    def begin_work(self, nap: Nap) -> None:
        self._sleep(nap)

    @precondition(lambda self: len(self.sleepers) < 3)
    @rule(nap=naps(), meanwhile=meanwhiles())
    def overtaken(self, nap: Nap, meanwhile: list[Work | Other]) -> None:
        """The story that fences are for: it sleeps, others act, it wakes up and goes on as if nothing had been."""
        self._give_work(nap.work)
        sleeper = self._sleep(nap)
        for item in meanwhile:
            if isinstance(item, Work):
                self._run(item)
            else:
                self._act(item)
        if not sleeper.ended:
            self._wake(sleeper)

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
        for place in self.traffic.places():
            self.traffic.write(place, self.kind)
        if work.verb != "compact":
            self._run(Work("compact", ("--run-id", "before"), None))

    def _sleep(self, nap: Nap) -> Sleeper:
        sleeper = Sleeper(
            self.world, nap.work.on(self.traffic.tables), nap.predicates(), *nap.faults(),
            frozen=nap.frozen, seed=nap.seed, skew=nap.skew,
        )  # fmt: skip
        self.sleepers.append(sleeper)
        sleeper.go_on()
        COUNTS["paused"] += not sleeper.ended
        self._look()
        return sleeper

    def _wake(self, sleeper: Sleeper) -> None:
        sleeper.go_on()
        COUNTS["woken"] += 1
        self._look()

    @precondition(lambda self: self.sleepers)
    @rule(number=NUMBERS)
    def go_on_working(self, number: int) -> None:
        self._wake(self.sleepers[number % len(self.sleepers)])

    @precondition(lambda self: self.sleepers)
    @rule(number=NUMBERS)
    def kill(self, number: int) -> None:
        self.sleepers[number % len(self.sleepers)].kill()
        COUNTS["killed"] += 1
        self._look()

    @rule(seconds=st.sampled_from([5, 15, 30, 300, 7200, 90_000]))
    def time_passes(self, seconds: int) -> None:
        self.world.advance(seconds)
        self._look()

    def _run(self, work: Work, *faults: Fault, seed: int | None = None, skew: float = 0.0) -> None:
        client = self.world.client(*faults, seed=seed, skew=skew)
        try:
            work.on(self.traffic.tables)(client)
        except Killed:
            COUNTS["killed"] += 1
        COUNTS["jobs"] += 1
        self._look()

    # What must hold

    def _look(self) -> None:
        """No row is ever lost or twice. Only while a run is unfinished it may lie in a folder of ours."""
        COUNTS["steps"] += 1
        self.sleepers = [sleeper for sleeper in self.sleepers if not sleeper.ended]
        self._empty_the_trash()
        unfinished = open_runs(self.world, self.traffic.tables)
        self._must_hold(journaled=bool(unfinished))

    def _must_hold(self, journaled: bool = False, where: object = "") -> None:
        violations = self.traffic.check(journaled)
        assert not violations, f"{violations} {where}"

    def _empty_the_trash(self) -> None:
        """What lies there is not kept."""
        self.world.tree.remove("hdfs://model/user/me/.Trash", recursive=True)

    def teardown(self) -> None:
        """Also after a rule has failed; then only the threads must go."""
        try:
            if sys.exc_info()[1] is None and hasattr(self, "traffic"):
                self._come_to_rest()
        finally:
            for sleeper in self.sleepers:
                sleeper.kill()
            self.stack.close()

    def _come_to_rest(self) -> None:
        """Everybody ends what he has begun; then whatever is still unfinished is settled."""
        while self.sleepers:
            self.sleepers[0].go_on()
            self._look()
        self.traffic.finish_all()
        self._look()
        reports = self._recover()
        decided = self.kind is None and held_by_design(reports)
        if decided:
            COUNTS["quarantined by design"] += 1
            self._look()
            self.traffic.declare("append")
            reports = self._recover()
        stuck = open_runs(self.world, self.traffic.tables)
        assert not stuck, f"{stuck} are stuck: {complaints(reports)}"
        self.traffic.restore_partitions()
        self._must_hold()
        self._go_on_for_good()
        back = self.traffic.back()
        assert decided or not back, f"rows {back} are live although they were replaced"

    def _recover(self) -> list[dict[str, Any]]:
        reports = []
        for _ in range(ATTEMPTS):
            self.world.advance(30)
            for table in self.traffic.tables:
                reports.append(run(self.world.client(), "cleanup", "--table", table, "--older-than", "3650d"))
            if not open_runs(self.world, self.traffic.tables):
                break
        return reports

    def _go_on_for_good(self) -> None:
        """Tables at rest are tables to work with: they can be compacted, rolled back and cleaned up."""
        names = ",".join(self.traffic.tables)
        for verb, *options in (
            ("compact", "--run-id", "last"),
            ("rollback",),
            ("cleanup", "--older-than", "0s"),
        ):
            report = run(self.world.client(), verb, "--tables", names, *options)
            self._must_hold(where=complaints([report]) or verb)
            assert verb != "compact" or not complaints([report]), f"stuck: {complaints([report])}"

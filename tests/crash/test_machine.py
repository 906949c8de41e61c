"""Hypothesis plays with the tables: writers, crashes, paused processes and clocks, in any order that it can think of.

The suite plays the same rounds each time: it is to say whether a change broke something.
LAKEKEEPER_CRASH_PROFILE=soak looks for what nobody has thought of, for hours, from a seed of its own;
`--hypothesis-seed=<seed>` plays one round again.
"""

from __future__ import annotations

import os
import random
import sys
import time
from dataclasses import dataclass

import hypothesis
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.stateful import run_state_machine_as_test

from demo.services import paths
from tests.crash import figures, machine

set_hypothesis_home_dir(paths.SCRATCH / "hypothesis")

#: There is no database, so that a seed says it all: it stands for one round.
ROUND = settings(
    max_examples=20,
    stateful_step_count=12,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
FIRST_SEED, SOAK_SECONDS = 20_261_121, 7200
#: The rounds of each set of tests.
ROUNDS = {"default": 3, "all": 8}


@dataclass
class Played(figures.Figures):
    """The line of the machine; what it counts is what happened."""

    seed: int = 0
    seconds: float = 0.0
    rounds: int = 0

    def __str__(self) -> str:
        counts = dict(machine.COUNTS)
        head = ", ".join(f"{counts.pop(name, 0)} {name}" for name in ("examples", "steps", "jobs"))
        rest = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
        broken = ", ".join(f"{what} {self._count(word)}" for what, word in _BROKEN.items())
        return (
            f"crash: {self.subject}: {head} in {self.seconds:.0f} s, {self.rounds} rounds from seed"
            f" {self.seed}: {broken}; {rest}"
        )


_BROKEN = {"lost": "are lost", "duplicated": "live twice", "stuck": "stuck"}


def test_anything_in_any_order(pytestconfig: pytest.Config) -> None:
    asked = pytestconfig.getoption("--hypothesis-seed", None)
    if asked not in (None, "random"):
        first, rounds, budget = int(asked), 1, float("inf")
    elif os.environ.get("LAKEKEEPER_CRASH_PROFILE") == "soak":
        first, rounds, budget = random.SystemRandom().randrange(2**32), sys.maxsize, SOAK_SECONDS
    else:
        first, budget = FIRST_SEED, float("inf")
        rounds = ROUNDS[pytestconfig.getoption("--test-set")]
    line = Played("anything in any order", seed=first)
    figures.TABLE.append(line)
    started = time.monotonic()
    while line.rounds < rounds and line.seconds < budget:
        _play(line, first + line.rounds)
        line.rounds += 1
        line.seconds = time.monotonic() - started


def _play(line: Played, seed: int) -> None:
    try:
        run_state_machine_as_test(hypothesis.seed(seed)(machine.Tables), settings=ROUND)
    except AssertionError as error:
        line.violated(f"--hypothesis-seed={seed}", [str(error)])
        again = f"the same again: pytest tests/crash/test_machine.py --hypothesis-seed={seed}"
        raise AssertionError(f"{error}\n{again}") from error

"""Run the benchmarks, and write docs/benchmarks.md with a chart.

    python3 -m benchmarks.run                                   every case
    python3 -m benchmarks.run partitions-200 --rounds 3         one case
    python3 -m benchmarks.run files-65000 --steps ours,bare     without Lakekeeper
    python3 -m benchmarks.run --page                            only write the page, from the results of earlier runs

The page is written after a run of every case, and with --page; a run of some cases prints what it has measured.

Results are kept in .scratch/bench/results, one file for each case, and written after each step. A run that was
interrupted continues where it stopped; a case that is complete is not run again, unless the jobs have changed, or
--again asks for it. The tables are deleted at the end, unless --keep is given: then the next run finds them.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import FrameType

from benchmarks import machine
from benchmarks.cases import CASES
from benchmarks.cases.case import Bench, Case, Prepared
from benchmarks.measuring import RunFailed
from benchmarks.page import section
from benchmarks.publish import publish
from benchmarks.results import Result, Results, Store, now
from benchmarks.workspace import CHART, LAKEKEEPER, SPARK, Workspace
from demo.services import environments, paths
from demo.services.machine import MachineError
from tests.harness.maven import NoJars

STARTED = time.monotonic()


class NoSpace(Exception):
    """The disk is too small; the message says what is needed where."""


@dataclass(frozen=True)
class Asked:
    """The command line."""

    cases: tuple[Case, ...]
    rounds: int | None
    steps: tuple[str, ...]
    again: bool
    keep: bool
    page: bool
    workspace: Workspace

    @property
    def store(self) -> Store:
        return Store(self.workspace.root / "results")


def main() -> int:
    asked = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        if not asked.page:
            run(asked)
        show(asked)
    except (MachineError, NoJars, NoSpace, RunFailed, RuntimeError) as error:
        print(f"\nerror: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the same command continues", file=sys.stderr)
        return 130
    return 0


def _interrupt(_: int, __: FrameType | None) -> None:
    """End as after Ctrl-C: services and programs are stopped, and the tables deleted."""
    raise KeyboardInterrupt


def parse(argv: Sequence[str]) -> Asked:
    """Return what the command line asks for; print a message and exit where it cannot be understood."""
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.run",
        description=__doc__,
        epilog="cases:\n" + "\n".join(map(_described, CASES.values())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="all, unless some are named")
    parser.add_argument("--rounds", type=int, help="rounds of each case (3, or 5 where a ratio is a target)")
    parser.add_argument("--steps", default="", metavar="A,B", help="only these steps")
    parser.add_argument("--again", action="store_true", help="forget the results of these cases first")
    parser.add_argument("--keep", action="store_true", help="keep the tables for the next run (5 GB)")
    parser.add_argument(
        "--scratch", type=Path, default=paths.SCRATCH / "bench", help="the folder to work in (.scratch/bench)"
    )
    parser.add_argument("--page", action="store_true", help="measure nothing, only write the page")
    asked = parser.parse_args(argv)
    if unknown := sorted(set(asked.cases) - set(CASES)):
        parser.error(f"no such case: {', '.join(unknown)} (there are {', '.join(CASES)})")
    if asked.rounds is not None and asked.rounds < 1:
        parser.error(f"--rounds must be 1 or more, not {asked.rounds}")
    cases = tuple(CASES[name] for name in (dict.fromkeys(asked.cases) or CASES))
    steps = tuple(filter(None, asked.steps.split(",")))
    if unknown := sorted(set(steps) - {step for case in cases for step in case.steps}):
        parser.error(f"no such step: {', '.join(unknown)}")
    return Asked(
        cases, asked.rounds, steps, asked.again, asked.keep, asked.page, Workspace(asked.scratch.resolve())
    )


def _described(case: Case) -> str:
    return f"  {case.name:24} {case.title}: {', '.join(case.steps)}"


def run(asked: Asked) -> None:
    """Run all cases that are not complete."""
    environments.ensure([SPARK, LAKEKEEPER, CHART])
    with asked.workspace.opened(keep=asked.keep) as workspace, ExitStack() as stack:
        bench = Bench(workspace, stack)
        for _, cases in groupby(asked.cases, key=lambda case: case.line or case.name):
            run_cases(bench, list(cases), asked)


def run_cases(bench: Bench, cases: Sequence[Case], asked: Asked) -> None:
    """Run the steps of the cases that have no result yet. Cases that alternate see the same changes of the machine."""
    results = {case.name: asked.store.begin(case.name, again=asked.again) for case in cases}
    open_turns = [(case, _open_turns(case, results[case.name], asked)) for case in cases]
    for case, turns in open_turns:
        if not turns:
            announce(f"{case.name}: complete")
    with ExitStack() as stack:
        prepared = {
            case.name: _prepare(bench, case, results[case.name], asked, stack)
            for case, turns in open_turns
            if turns
        }
        for number, step, case in alternating(open_turns):
            _run_step(prepared[case.name], results[case.name], asked.store, step, number)


def _open_turns(case: Case, results: Results, asked: Asked) -> list[tuple[int, str]]:
    """Return the turns of a case that have no result."""
    return [turn for turn in case.turns(asked.rounds, asked.steps) if results.find(turn[1], turn[0]) is None]


def alternating(turns: Sequence[tuple[Case, Sequence[tuple[int, str]]]]) -> list[tuple[int, str, Case]]:
    """Return the turns of some cases round by round, and in each round step by step."""
    steps = list(dict.fromkeys(step for case, _ in turns for step in case.steps))
    all_turns = [(number, step, case) for case, own in turns for number, step in own]
    return sorted(all_turns, key=lambda turn: (turn[0], steps.index(turn[1])))


def _prepare(bench: Bench, case: Case, results: Results, asked: Asked, stack: ExitStack) -> Prepared:
    """Return a case whose tables are there until the stack is closed; note its tables and the machine."""
    require_space(case, asked.workspace)
    announce(f"{case.name}: preparing the tables")
    prepared = stack.enter_context(case.opened(bench))
    results.facts, results.context = dict(prepared.facts), machine.context()
    return prepared


def _run_step(prepared: Prepared, results: Results, store: Store, step: str, number: int) -> None:
    """Run one step, and keep its result."""
    measured, figures = prepared.run(step, number)
    results.results.append(Result(step, number, measured, figures, now()))
    store.save(results)
    announce(f"{results.case}: round {number}, {step}: {_describe(results)}")


def show(asked: Asked) -> None:
    """Write the page after a run of all cases; else print what was measured, and leave the page as it is."""
    if asked.page or asked.cases == tuple(CASES.values()):
        announce(f"written: {publish(asked.store)}")
        return
    for case in asked.cases:
        if results := asked.store.load(case.name):
            print(f"\n{section(case, results)}")


def require_space(case: Case, workspace: Workspace) -> None:
    """Raise NoSpace if the disk has less free space than the case needs."""
    free = shutil.disk_usage(workspace.root).free / 1e9
    if free < case.disk_gb:
        raise NoSpace(f"{case.name} needs {case.disk_gb} GB in {workspace.root}, and {free:.1f} GB are free")


def _describe(results: Results) -> str:
    done = results.results[-1].measured
    return f"{done.wall:.1f} s, processor {done.cpu:.1f} s, JVM {done.jvm_mb} MB, Python {done.python_mb} MB"


def announce(text: str) -> None:
    """Print a line, with the seconds since the start."""
    print(f"[{time.monotonic() - STARTED:5.0f} s] {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Flip each setting that the jobs read, and see what becomes of the tables.

    .envs/spark-3.5/bin/python -m tests.sweep.run                     all single flips, resumed where it was stopped
    .envs/spark-3.5/bin/python -m tests.sweep.run --sample 0.1 --seed 7 --minutes 10
    .envs/spark-3.5/bin/python -m tests.sweep.run --pairs 200 --seed 7

Verdicts are kept in .scratch/sweep/, one line each. A trial that takes longer than a minute is stopped with its JVM.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tests.sweep.flips import flips
from tests.sweep.recording import HADOOP, SQL
from tests.sweep.trial import DIFFERENT

_HERE = Path(__file__).parent
RESULTS = Path(".scratch/sweep/results.jsonl")
#: Flips that have made a difference at some time: they are always tried.
KNOWN = _HERE / "known.json"
SECONDS, START_SECONDS = 60.0, 300.0
HUNG = "hung"


class Worker:
    """A process with a session. It is started anew after a trial that does not end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: dict[str, Any]) -> Any:
        """Return the answer to a request; None if there is none in time."""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer(SECONDS)

    def _start(self) -> None:
        self._answers: Queue[str] = Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.sweep.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, args=(self._process, self._answers), daemon=True).start()
        if self._answer(START_SECONDS) != "ready":
            raise SystemExit("the session of the sweep could not be started")

    @staticmethod
    def _read(process: subprocess.Popen[str], answers: Queue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line)

    def _answer(self, seconds: float) -> Any:
        try:
            return json.loads(self._answers.get(timeout=seconds))
        except Empty:
            self.stop()
            return None

    def stop(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


def singles(worker: Worker) -> list[dict[str, Any]]:
    """Return all single flips of what each table reads."""
    read: dict[str, list[str]] = json.loads((_HERE / "settings.json").read_text())
    names = sorted({name for of in read.values() for name in of if name.split(" ")[0] in (HADOOP, SQL)})
    values = worker.ask({"values": names})
    return [
        {"table": table, "settings": {name: value}}
        for table, of in read.items()
        for name in of
        if name in values
        for value in flips(values[name])
    ]


def pairs(trials: Sequence[dict[str, Any]], count: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Return random pairs of flips of one table."""
    by_table: dict[str, list[dict[str, Any]]] = {}
    for trial in trials:
        by_table.setdefault(trial["table"], []).append(trial["settings"])
    for _ in range(count):
        table = chance.choice(sorted(by_table))
        one, other = chance.sample(by_table[table], 2)
        yield {"table": table, "settings": {**one, **other}}


def chosen(arguments: argparse.Namespace, trials: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    chance = random.Random(arguments.seed)
    if arguments.pairs:
        return list(pairs(trials, arguments.pairs, chance))
    if arguments.sample >= 1:
        return list(trials)
    known = json.loads(KNOWN.read_text()) if KNOWN.exists() else []
    return [*known, *chance.sample(list(trials), int(len(trials) * arguments.sample))]


def done_before() -> dict[str, dict[str, Any]]:
    if not RESULTS.exists():
        return {}
    rows = map(json.loads, RESULTS.read_text().splitlines())
    return {json.dumps(row["trial"], sort_keys=True): row["verdict"] for row in rows}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=float, default=1.0)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--again", action="store_true", help="do not skip what has a verdict")
    arguments = parser.parse_args()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    worker, counts, until = Worker(), Counter[str](), time.monotonic() + 60 * arguments.minutes
    before = {} if arguments.again else done_before()
    try:
        trials = chosen(arguments, singles(worker))
        print(f"{len(trials)} trials, {len(before)} with a verdict", flush=True)
        for number, trial in enumerate(trials):
            key = json.dumps(trial, sort_keys=True)
            verdict = before.get(key)
            if verdict is None:
                if time.monotonic() > until:
                    break
                verdict = worker.ask(trial) or {"kind": HUNG, "text": ""}
                with RESULTS.open("a") as file:
                    file.write(json.dumps({"trial": trial, "verdict": verdict}) + "\n")
            counts[verdict["kind"]] += 1
            if verdict["kind"] == DIFFERENT:
                print(f"DIFFERENT {key} {verdict['text']}", flush=True)
            if number % 200 == 199:
                print(f"{number + 1}: {dict(counts)}", flush=True)
    finally:
        worker.stop()
    print(f"{sum(counts.values())} of {len(trials)} trials: {dict(counts)}")
    return 1 if counts[DIFFERENT] else 0


if __name__ == "__main__":
    sys.exit(main())

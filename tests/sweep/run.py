"""Flip each setting that the jobs read, and see what becomes of the tables.

    .envs/spark-3.5/bin/python -m tests.sweep.run                     all single flips, resumed where it was stopped
    .envs/spark-3.5/bin/python -m tests.sweep.run --sample 0.1 --seed 7 --minutes 10
    .envs/spark-3.5/bin/python -m tests.sweep.run --pairs 200 --seed 7
    .envs/spark-3.5/bin/python -m tests.sweep.run --static            each in a driver that has started with it

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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tests.sweep.flips import flips
from tests.sweep.recording import SPARK
from tests.sweep.trial import DIFFERENT, FAILED, UNUSABLE

_HERE = Path(__file__).parent
RESULTS = Path(".scratch/sweep/results.jsonl")
#: Flips that have made a difference at some time: they are always tried.
KNOWN = _HERE / "known.json"
SECONDS, START_SECONDS = 60.0, 300.0
HUNG = "hung"
_ENDLESS = "neither job ends, or the driver does"
#: Verdicts that nobody may get. A failure that plain Spark does not share must be a refusal with a code.
FAULTS = (DIFFERENT, FAILED, HUNG)
#: Settings of which some values end in a failure that plain Spark does not share, and why nobody has them.
DECIDED = {
    "spark spark.default.parallelism": "no partitions, or a negative number of them: Spark divides by it",
    "spark spark.network.timeout": "no time: each task that asks another process for anything fails",
    "spark spark.python.authenticate.socketTimeout": "a negative timeout: each connection to Python fails",
    "spark spark.shuffle.sort.initialBufferSize": "one byte: each sort in a shuffle fails",
}
#: Tables that are tried with each setting of a driver's start, and more such settings, with values.
STATIC_TABLES = ("parquet joint", "parquet by records", "sequence BLOCK", "text gz")
AT_START = {
    f"{SPARK} spark.serializer": ("org.apache.spark.serializer.KryoSerializer",),
    f"{SPARK} spark.kryo.registrationRequired": ("true",),
    f"{SPARK} spark.speculation": ("true",),
    f"{SPARK} spark.task.maxFailures": ("1",),
    f"{SPARK} spark.files.ignoreCorruptFiles": ("true",),
    f"{SPARK} spark.files.ignoreMissingFiles": ("true",),
    f"{SPARK} spark.hadoopRDD.ignoreEmptySplits": ("false",),
    f"{SPARK} spark.io.encryption.enabled": ("true",),
    f"{SPARK} spark.eventLog.enabled": ("true",),
    f"{SPARK} spark.default.parallelism": ("1", "1000"),
}


class NotStarted(Exception):
    """The session cannot be started."""


class Worker:
    """A process with a session. It is started anew after a trial that does not end."""

    def __init__(self) -> None:
        self._static: Mapping[str, str] = {}
        self._process: subprocess.Popen[str] | None = None

    def has(self, static: Mapping[str, str]) -> None:
        """Let the session have started with these settings, and no others."""
        if static != self._static:
            self.stop()
            self._static = static

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
            [
                sys.executable,
                "-m",
                "tests.sweep.worker",
                *(f"{name}={value}" for name, value in self._static.items()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, args=(self._process, self._answers), daemon=True).start()
        if self._answer(START_SECONDS) != "ready":
            raise NotStarted

    @staticmethod
    def _read(process: subprocess.Popen[str], answers: Queue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line)
        answers.put("")

    def _answer(self, seconds: float) -> Any:
        try:
            line = self._answers.get(timeout=seconds)
        except Empty:
            line = ""
        if not line:  # too late, or the process has ended
            self.stop()
        return json.loads(line or "null")

    def stop(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


def _recorded() -> dict[str, list[str]]:
    found = json.loads((_HERE / "settings.json").read_text())
    return {table: [*read, *found["declared"][table]] for table, read in found["read"].items()}


def singles(worker: Worker) -> list[dict[str, Any]]:
    """Return all single flips of what each table reads: each setting with one table first, then with the others."""
    read = _recorded()
    names = sorted({name for of in read.values() for name in of if not _is_static(name)})
    values = worker.ask({"values": names})
    tables = {name: [table for table, of in read.items() if name in of] for name in values}
    return [
        {"table": tables[name][turn], "settings": {name: value}}
        for turn in range(len(read))
        for name in values
        if turn < len(tables[name])
        for value in flips(name.partition(" ")[2], *values[name])
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


def statics(worker: Worker) -> list[dict[str, Any]]:
    """Return the flips of settings that a driver has from its start, and the tables to try with each."""
    names = sorted({name for of in _recorded().values() for name in of if _is_static(name)} | set(AT_START))
    values = worker.ask({"values": names})
    return [
        {"static": {name.partition(" ")[2]: value}, "table": table, "settings": {}}
        for name in names
        for value in AT_START.get(name) or flips(name.partition(" ")[2], *values[name])
        for table in STATIC_TABLES
    ]


def _is_static(name: str) -> bool:
    return name.startswith(f"{SPARK} spark.sql.")


def done_before() -> dict[str, dict[str, Any]]:
    if not RESULTS.exists():
        return {}
    rows = map(json.loads, RESULTS.read_text().splitlines())
    return {json.dumps(row["trial"], sort_keys=True): row["verdict"] for row in rows}


def _one(trial: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the flip of a trial with only one."""
    flips = trial["settings"].items()
    return set(flips) if len(flips) == 1 else set()


def _decided(trial: dict[str, Any], verdict: dict[str, Any]) -> dict[str, Any]:
    """Return the verdict; another one for a failure by a value that nobody has. Other rows are never decided."""
    if verdict["kind"] != DIFFERENT and verdict["kind"] in FAULTS and set(trial["settings"]) & set(DECIDED):
        return {**verdict, "kind": "decided"}
    return verdict


class Sweep:
    """Runs trials that have no verdict yet, and writes each verdict down at once."""

    def __init__(self, worker: Worker, before: Mapping[str, dict[str, Any]], until: float) -> None:
        self._worker = worker
        self._before = before
        self._until = until
        self._endless: set[tuple[str, str]] = set()
        for key, verdict in before.items():
            if verdict["text"] == _ENDLESS:
                self._endless |= _one(json.loads(key))
        self.counts = Counter[str]()

    def run(self, trials: Sequence[dict[str, Any]]) -> None:
        print(f"{len(trials)} trials, {len(self._before)} with a verdict", flush=True)
        for number, trial in enumerate(trials, 1):
            key = json.dumps(trial, sort_keys=True)
            if key not in self._before and time.monotonic() > self._until:
                break
            verdict = _decided(trial, self._before.get(key) or self._tried(trial))
            self.counts[verdict["kind"]] += 1
            if verdict["kind"] in FAULTS:
                print(f"{verdict['kind'].upper()} {key} {verdict['text']}", flush=True)
            if number % 200 == 0:
                print(f"{number}: {dict(self.counts)}", flush=True)
        print(f"{self.counts.total()} of {len(trials)} trials: {dict(self.counts)}")

    def _tried(self, trial: dict[str, Any]) -> dict[str, Any]:
        verdict = self._asked(trial)
        with RESULTS.open("a") as file:
            file.write(json.dumps({"trial": trial, "verdict": verdict}) + "\n")
        return verdict

    def _asked(self, trial: dict[str, Any]) -> dict[str, Any]:
        if any(flip in self._endless for flip in trial["settings"].items()):
            return {"kind": UNUSABLE, "text": "no driver ends with it, as was tried with another table"}
        self._worker.has(trial.get("static", {}))
        try:
            verdict = self._worker.ask(trial)
            if verdict is None and self._worker.ask({**trial, "plain": True}) is not True:
                self._endless |= _one(trial)
                return {"kind": UNUSABLE, "text": _ENDLESS}
            return verdict or {"kind": HUNG, "text": ""}
        except NotStarted:
            return {"kind": UNUSABLE, "text": "no session starts with it"}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=float, default=1.0, help="a random part of all single flips")
    parser.add_argument("--pairs", type=int, default=0, help="so many random pairs instead")
    parser.add_argument("--static", action="store_true", help="the settings that a driver has from its start")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--again", action="store_true", help="do not skip what has a verdict")
    arguments = parser.parse_args(argv)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    worker, until = Worker(), time.monotonic() + 60 * arguments.minutes
    sweep = Sweep(worker, {} if arguments.again else done_before(), until)
    try:
        sweep.run(statics(worker) if arguments.static else chosen(arguments, singles(worker)))
    finally:
        worker.stop()
    return 1 if any(sweep.counts[fault] for fault in FAULTS) else 0


if __name__ == "__main__":
    sys.exit(main())

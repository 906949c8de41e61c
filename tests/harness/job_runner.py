"""Run programs side by side, each after those that it needs, and measure what each of them took.

A job is started as soon as what it needs has succeeded and its lane has room. One that runs past its limit is stopped
and has failed alone. When the runner itself is stopped, it stops its jobs, and hands on what has ended until then.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from demo.services import paths, processes
from tests.harness.resources import NOTHING, Sampler, Usage

_POLL_SECONDS = 0.2
_HEARTBEAT_SECONDS = 60
_sleep = time.sleep


class Lane(Enum):
    """How a job shares the machine; the value is its niceness.

    SETUP makes environments, two at a time. COMPUTE keeps a processor busy. LATENCY waits for a scheduler, whose
    patience ends where others take the processors: one at a time, with priority. SERVERS waits half of the time for
    servers of its own: two at a time, or one beside one of LATENCY. BACKGROUND computes, and takes what is left.
    """

    SETUP = 1
    COMPUTE = 5
    LATENCY = 0
    SERVERS = 3
    BACKGROUND = 6


@dataclass(frozen=True)
class Job:
    """A program. `after` are the names of jobs that must have succeeded; `limit` and `expected` are seconds."""

    name: str
    command: tuple[str | os.PathLike[str], ...]
    log: Path
    environ: Mapping[str, str]
    lane: Lane = Lane.COMPUTE
    limit: float = 1800
    expected: float = 0
    after: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Ended:
    """How a job ended.

    Attributes:
        code: the exit code; None where it was not started.
        reason: why it did not end by itself.
        blocked_by: the name of the failed job for which it was not started.
    """

    job: Job
    code: int | None
    usage: Usage = NOTHING
    reason: str = ""
    blocked_by: str = ""

    @property
    def ok(self) -> bool:
        return self.code == 0 and not self.reason


@dataclass
class _Running:
    job: Job
    process: subprocess.Popen[bytes]
    started: float
    sampler: Sampler

    def end(self, reason: str = "") -> Ended:
        """Stop what still runs of it, and reap it; `wait4` tells its processor time, that of its children included."""
        if reason:
            # Cut short, it tears nothing down: servers may have started more, in sessions of their own.
            processes.kill_tree(self.process)
        processes.kill_session(self.process)
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        cpu = max(used.ru_utime + used.ru_stime, self.sampler.cpu)
        usage = Usage(time.monotonic() - self.started, cpu, self.sampler.peak)
        return Ended(self.job, self.process.returncode, usage, reason)


@dataclass
class Runner:
    """`slots`: processors, so many jobs of COMPUTE run side by side. `tell` gets a line when something happens."""

    slots: int
    tell: Callable[[str], None]
    on_end: Callable[[Ended], None]
    _pending: list[Job] = field(default_factory=list)
    _running: list[_Running] = field(default_factory=list)
    _ended: dict[str, Ended] = field(default_factory=dict)

    def run(self, jobs: Sequence[Job]) -> None:
        """Run them all, the longest first. On KeyboardInterrupt the running ones are stopped, and it goes on up."""
        self._pending = sorted(jobs, key=lambda job: -job.expected)
        heartbeat = time.monotonic()
        try:
            while self._pending or self._running:
                self._start_what_may()
                self._reap()
                heartbeat = self._beat(heartbeat)
                _sleep(_POLL_SECONDS)
        except BaseException:
            for running in self._running:
                self._close(running.end("interrupted"))
            raise

    def _start_what_may(self) -> None:
        # Where one of another lane may start too, it comes first: there is room beside it for one of BACKGROUND.
        for job in sorted(self._pending, key=lambda job: job.lane is Lane.BACKGROUND):
            failed = [name for name in job.after if name in self._ended and not self._ended[name].ok]
            if failed:
                self._pending.remove(job)
                self._close(Ended(job, None, reason=f"{failed[0]} failed", blocked_by=failed[0]))
            elif job.after <= self._ended.keys() and self._has_room(job.lane):
                self._pending.remove(job)
                self._start(job)

    def _has_room(self, lane: Lane) -> bool:
        count = {each: sum(running.job.lane is each for running in self._running) for each in Lane}
        # Processors that are taken: one that waits takes half of one, and half a processor may be taken twice.
        taken = count[Lane.COMPUTE] + (count[Lane.LATENCY] + count[Lane.SERVERS]) / 2
        return {
            Lane.SETUP: count[Lane.SETUP] < 2,
            # It may join at any time: it needs little, and the chain of those that wait is the longest.
            Lane.LATENCY: not count[Lane.LATENCY],
            Lane.SERVERS: count[Lane.LATENCY] + count[Lane.SERVERS] < 2 and taken <= self.slots,
            Lane.COMPUTE: taken + 1 <= self.slots + 0.5,
            Lane.BACKGROUND: not count[Lane.BACKGROUND] or taken < self.slots,
        }[lane]

    def _start(self, job: Job) -> None:
        self.tell(f"{job.name}: started")
        command = ["nice", "-n", str(job.lane.value), *job.command]
        process = processes.spawn(command, log=job.log, cwd=paths.ROOT, env=job.environ, subreaper=True)
        processes.set_group_niceness(process, job.lane.value)
        self._running.append(_Running(job, process, time.monotonic(), Sampler(process.pid)))

    def _reap(self) -> None:
        for running in list(self._running):
            running.sampler.sample()
            late = time.monotonic() - running.started > running.job.limit
            if processes.has_ended(running.process) or late:
                self._running.remove(running)
                self._close(running.end(f"timed out after {running.job.limit:.0f} s" if late else ""))

    def _close(self, ended: Ended) -> None:
        self._ended[ended.job.name] = ended
        self.on_end(ended)

    def _beat(self, last: float) -> float:
        now = time.monotonic()
        if now - last < _HEARTBEAT_SECONDS:
            return last
        self.tell(f"running: {', '.join(self._states(now))}; {len(self._pending)} to come")
        return now

    def _states(self, now: float) -> Iterator[str]:
        for running in self._running:
            yield f"{running.job.name} ({now - running.started:.0f} s)"

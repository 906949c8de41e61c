"""What a program took of the machine: wall and processor seconds, and memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_SAMPLE_SECONDS = 2.0


@dataclass(frozen=True)
class Usage:
    """`cpu` are user and system seconds of the program and of all that it started; `peak` is in bytes."""

    wall: float = 0
    cpu: float = 0
    peak: int = 0

    def __str__(self) -> str:
        return f"{self.wall:.0f} s wall, {self.cpu:.0f} s cpu, peak {self.peak / 1e6:.0f} MB"


NOTHING = Usage()


@dataclass
class Sampler:
    """What a process and all its descendants take, sampled every two seconds; 0 where there is no /proc.

    Attributes:
        peak: the largest sum of their resident sets, in bytes. Memory that they share counts for each of them, so this
            is an upper bound.
        cpu: the largest sum of their processor seconds. `wait4` misses a child that its parent never waits for, as
            pyspark does with its JVM; this misses what began and ended between two samples.
    """

    pid: int
    peak: int = 0
    cpu: float = 0
    _next: float = field(default_factory=time.monotonic)

    def sample(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _SAMPLE_SECONDS
            found = list(_family(self.pid))
            self.peak = max(self.peak, sum(each.resident for each in found))
            self.cpu = max(self.cpu, sum(each.cpu for each in found))


@dataclass(frozen=True)
class _Process:
    parent: int
    cpu: float
    resident: int


def _family(root: int) -> Iterator[_Process]:
    """A process and its descendants."""
    found = dict(_processes())
    children: dict[int, list[int]] = {}
    for pid, process in found.items():
        children.setdefault(process.parent, []).append(pid)
    todo = [root]
    while todo:
        pid = todo.pop()
        if pid in found:
            yield found[pid]
        todo += children.get(pid, [])


def _processes() -> Iterator[tuple[int, _Process]]:
    """From /proc/PID/stat (proc(5)): field 4 ppid, 14 to 17 user and system ticks, own and of children, 24 rss."""
    # Not by `Path.glob`: it looks at each file, and fails where a process ends at that moment.
    proc = Path("/proc")
    for pid in (entry.name for entry in (proc.iterdir() if proc.is_dir() else ()) if entry.name.isdecimal()):
        try:
            # The name in parentheses, field 2, may hold anything; what follows it may not.
            fields = (proc / pid / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks = sum(map(int, fields[11:15]))
        resident = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        yield int(pid), _Process(int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"), resident)

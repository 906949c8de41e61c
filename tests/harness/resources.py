"""What a program took of the machine: wall and processor seconds, and memory."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

_SAMPLE_SECONDS = 2.0


@dataclass(frozen=True)
class Usage:
    """`cpu` are user and system seconds of the program and of all that it waited for; `peak` is in bytes."""

    wall: float = 0
    cpu: float = 0
    peak: int = 0


NOTHING = Usage()


@dataclass
class PeakMemory:
    """The largest sum of resident sets of a process and all its descendants, sampled every two seconds.

    Memory that they share counts for each of them, so this is an upper bound. 0 where there is no /proc.
    """

    pid: int
    bytes: int = 0
    _next: float = field(default_factory=time.monotonic)

    def sample(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _SAMPLE_SECONDS
            self.bytes = max(self.bytes, _resident(self.pid))


def _resident(root: int) -> int:
    """Resident bytes of a process and its descendants, from /proc/PID/stat (proc(5): field 4 ppid, field 24 rss)."""
    pages, children = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in parentheses may hold anything; what follows it may not.
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(entry.parent.name)
        pages[pid] = int(fields[21])
        children.setdefault(int(fields[1]), []).append(pid)
    found, todo = 0, [root]
    while todo:
        pid = todo.pop()
        found += pages.get(pid, 0)
        todo += children.get(pid, [])
    return found * os.sysconf("SC_PAGE_SIZE")

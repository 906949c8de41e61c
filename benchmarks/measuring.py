"""Run a program, and measure it as a whole: seconds, processor seconds, peak memory of its JVM and of its Python."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.services import paths
from demo.services.processes import (
    adopt_orphans,
    kill_session,
    reap_orphans,
    session_members,
    spawn,
    stop,
    tail,
)

#: Seconds between two looks at the memory. The kernel keeps the peak; only the end of a process can be missed.
INTERVAL = 0.25
_TICKS = os.sysconf("SC_CLK_TCK")


class RunFailed(Exception):
    """A measured program failed, or did not do what it should; the message says where its log is."""


@dataclass(frozen=True)
class Measured:
    """One run of a program.

    Attributes:
        wall: seconds from its start to its end.
        cpu: processor seconds, of the kernel too, of the program and everything that it started.
        jvm_mb: the most memory that its JVM had, in MB (0: it has none).
        python_mb: the same of its Python.
        others: processor seconds of everything else on the machine meanwhile, services such as the metastore included.
    """

    wall: float
    cpu: float
    jvm_mb: int
    python_mb: int
    others: float


def measure(command: Sequence[str | Path], *, log: Path, env: Mapping[str, str]) -> Measured:
    """Run a program to its end.

    Args:
        command: the program and its arguments.
        log: the file for its output; what it contains is replaced.
        env: all environment variables.

    Raises:
        RunFailed: the program's exit code was not 0.
    """
    adopt_orphans()
    log.unlink(missing_ok=True)
    busy, started = _busy_seconds(), time.monotonic()
    process = spawn(command, log=log, cwd=paths.ROOT, env=env)
    memory = _Memory(lambda: session_members(process))
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall = time.monotonic() - started
        memory.stop()
        kill_session(process)
        # Spark's Python workers end after their JVM, which so has none of their seconds.
        usages = list(reap_orphans(process))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        memory.stop()
        stop(process)
    if process.returncode:
        raise RunFailed(f"{command[0]} ended with {process.returncode}; see {log}:\n{tail(log)}")
    cpu = sum(each.ru_utime + each.ru_stime for each in (*usages, usage))
    others = max(0.0, _busy_seconds() - busy - cpu)
    return Measured(
        round(wall, 2), round(cpu, 2), memory.peak("java"), memory.peak("python"), round(others, 2)
    )


def _busy_seconds() -> float:
    """Return the processor seconds of all programs since the machine started."""
    user, nice, system, _idle, _iowait, irq, softirq = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8]
    )
    return (user + nice + system + irq + softirq) / _TICKS


class _Memory:
    """A thread that looks at the peak memory of processes, by the name of their program."""

    def __init__(self, members: Callable[[], Sequence[int]]) -> None:
        self._members = members
        self._peaks: dict[str, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def peak(self, program: str) -> int:
        """Return the most MB that one process of this program had."""
        return max((mb for name, mb in self._peaks.items() if name.startswith(program)), default=0)

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            for pid in self._members():
                name, mb = _peak_of(pid)
                self._peaks[name] = max(mb, self._peaks.get(name, 0))


def _peak_of(pid: int) -> tuple[str, int]:
    """Return the program of a process, and the most memory that it has had, in MB (proc(5), VmHWM)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return "", 0
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return fields["Name"].strip(), int(fields.get("VmHWM", "0 kB").split()[0]) // 1024

"""Run a program, and measure it as a whole: seconds, processor seconds, peak memory of its JVM and of its Python."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.services import paths
from demo.services.processes import kill_session, processor_seconds, session_members, spawn, stop, tail

#: Seconds between two looks at the memory. The kernel keeps the peak; only the end of a process can be missed.
INTERVAL = 0.25
_TICKS = os.sysconf("SC_CLK_TCK")
#: The bit of SIGCHLD in the mask of ignored signals (proc(5), SigIgn).
_SIGCHLD = 1 << (signal.SIGCHLD - 1)


class RunFailed(Exception):
    """A measured program failed, or did not do what it should; the message says where its log is."""


@dataclass(frozen=True)
class Measured:
    """One run of a program.

    Attributes:
        wall: seconds from its start to its end.
        cpu: processor seconds, of the kernel too, of the program and everything that it started; of children whose
            parent ignores their end, as they were seen last.
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
    log.unlink(missing_ok=True)
    busy, started = _busy_seconds(), time.monotonic()
    process = spawn(command, log=log, cwd=paths.ROOT, env=env)
    watch = _Watch(lambda: session_members(process))
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall = time.monotonic() - started
        watch.stop()
        kill_session(process)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        watch.stop()
        stop(process)
    if process.returncode:
        raise RunFailed(f"{command[0]} ended with {process.returncode}; see {log}:\n{tail(log)}")
    cpu = usage.ru_utime + usage.ru_stime + watch.unaccounted
    others = max(0.0, _busy_seconds() - busy - cpu)
    return Measured(round(wall, 2), round(cpu, 2), watch.peak("java"), watch.peak("python"), round(others, 2))


def _busy_seconds() -> float:
    """Return the processor seconds of all programs since the machine started."""
    user, nice, system, _idle, _iowait, irq, softirq = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8]
    )
    return (user + nice + system + irq + softirq) / _TICKS


class _Watch:
    """A thread that looks at processes: the peak memory by the name of their program, and seconds that get lost.

    Linux gives a parent that ignores SIGCHLD no processor seconds of its children (wait(2), times(2)). PySpark's daemon
    is one, and its children do all the work of Spark in Python.
    """

    def __init__(self, members: Callable[[], Sequence[int]]) -> None:
        self._members = members
        self._peaks: dict[str, int] = {}
        self._lost: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def unaccounted(self) -> float:
        """Return the processor seconds of children whose parent ignores their end, as they were seen last."""
        return sum(self._lost.values())

    def peak(self, program: str) -> int:
        """Return the most MB that one process of this program had."""
        return max((mb for name, mb in self._peaks.items() if name.startswith(program)), default=0)

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            found = {pid: fields for pid in self._members() if (fields := _status(pid))}
            for pid, fields in found.items():
                name, mb = fields["Name"], int(fields.get("VmHWM", "0 kB").split()[0]) // 1024
                self._peaks[name] = max(mb, self._peaks.get(name, 0))
                parent = found.get(int(fields["PPid"]))
                if parent and int(parent["SigIgn"], 16) & _SIGCHLD:
                    self._lost[pid] = max(processor_seconds(pid), self._lost.get(pid, 0.0))


def _status(pid: int) -> dict[str, str]:
    """Return what the kernel says of a process (proc(5), /proc/PID/status); nothing if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}

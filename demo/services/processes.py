"""Start child processes that end with their parent, and stop them by the ids that were started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
_T = TypeVar("_T")
#: Zombie, and dead.
_ENDED_STATES = ("Z", "X")

# Prefixes of variables that describe other installations: HADOOP_CONF_DIR would lead the jobs to a real cluster.
FOREIGN = (
    "AIRFLOW_",
    "SPARK_",
    "PYSPARK_",
    "HADOOP_",
    "HIVE_",
    "YARN_",
    "HDFS_",
    "PG",
    "PYTHONPATH",
    "PYTHONHOME",
)


def own_environ() -> dict[str, str]:
    """Return the environment variables of this process without those of other installations."""
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


def spawn(
    command: Sequence[str | os.PathLike[str]],
    *,
    log: Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    subreaper: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a child in its own session; the kernel kills it when this process ends, whichever thread started it.

    With `subreaper`, a descendant that loses its parent becomes its child, so that `kill_tree` finds it (Linux only).
    """

    def start() -> subprocess.Popen[bytes]:
        with log.open("ab") as out:
            return subprocess.Popen(
                [os.fspath(part) for part in command],
                cwd=cwd,
                env=None if env is None else dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_before_start(os.getpid(), subreaper),
            )

    return start() if threading.current_thread() is threading.main_thread() else _in_starter_thread(start)


def _in_starter_thread(act: Callable[[], _T]) -> _T:
    result: Future[_T] = Future()
    _starter().put(lambda: _fulfil(result, act))
    return result.result()


@cache
def _starter() -> queue.SimpleQueue[Callable[[], None]]:
    """Return the queue of a thread that lasts as long as this process, and starts all children.

    For the kernel, a parent is the thread that forked (prctl(2)). A pool's thread ends early, and an executor's before
    the exit handlers can stop its children.
    """
    calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def work() -> None:
        while True:
            calls.get()()

    threading.Thread(target=work, daemon=True).start()
    return calls


def _fulfil(result: Future[_T], act: Callable[[], _T]) -> None:
    try:
        result.set_result(act())
    except Exception as error:
        result.set_exception(error)


def _before_start(parent: int, subreaper: bool) -> Callable[[], None] | None:
    """Return what a child runs first: it asks the kernel to be killed when its parent ends (Linux only).

    A parent that is killed runs no exit handler that could stop it.
    """
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if subreaper:
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        if os.getppid() != parent:
            os._exit(1)  # the parent ended before the kernel was asked

    return ask


def set_group_niceness(process: subprocess.Popen[bytes], niceness: int) -> None:
    """Lower the scheduling priority of the child's whole session by `niceness` (0 to 19).

    Where Linux groups processes by session (sched(7), autogroup), `nice` counts within a session only: two sessions
    get the same share of the processors.
    """
    with contextlib.suppress(OSError):  # not Linux, or no autogroups: then `nice` is enough
        Path(f"/proc/{process.pid}/autogroup").write_text(str(niceness))


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a child has ended, and do not reap it: until then no other process gets its id."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a child, which then runs no handler, and what it started."""
    os.kill(process.pid, signal.SIGKILL)
    stop(process)


def stop(process: subprocess.Popen[bytes], *, timeout: float = 15) -> int:
    """Send SIGTERM to a child, wait for its end, then kill what is left of its session; return its exit code."""
    if process.returncode is not None:
        return process.returncode
    _signal(os.killpg, process.pid, signal.SIGTERM)
    deadline = time.monotonic() + timeout
    while not has_ended(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    kill_session(process)
    return process.wait()


def kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kill the child's session, also what has left the process group or lost its parent."""
    if process.returncode is None:
        for pid in [*session_members(process), process.pid]:
            _signal(os.kill, pid, signal.SIGKILL)


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill a child and its descendants in all sessions; those without a parent only below a subreaper (`spawn`).

    Each is stopped first: no process can fork once SIGSTOP is pending, so none is missed. The child is not reaped.
    """
    stopped: set[int] = set()
    while fresh := {process.pid, *descendants(process.pid)} - stopped:
        for pid in fresh:
            _signal(os.kill, pid, signal.SIGSTOP)
        stopped |= fresh
    for pid in stopped:
        _signal(os.kill, pid, signal.SIGKILL)


def descendants(pid: int) -> Iterator[int]:
    """Yield the ids of all descendants of a process; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    for stat in _stats():
        children.setdefault(stat.parent, []).append(stat.pid)
    todo = [pid]
    while todo:
        below = children.get(todo.pop(), [])
        yield from below
        todo += below


def session_members(process: subprocess.Popen[bytes]) -> list[int]:
    """Return the ids of the processes in the session of a child that is not reaped yet."""
    return [stat.pid for stat in _stats() if stat.session == process.pid]


def _stats() -> Iterator[Stat]:
    found = (_stat(int(entry.name)) for entry in Path("/proc").glob("[0-9]*"))
    return (stat for stat in found if stat is not None)


@dataclass(frozen=True)
class Stat:
    """An entry of /proc/PID/stat (proc(5)); `started` tells a process from a later one with the same id.

    `ticks` are of the processor, in the program and in the kernel, without those of children.
    """

    pid: int
    state: str
    parent: int
    session: int
    ticks: int
    started: int


def _stat(pid: int) -> Stat | None:
    try:
        # The name in parentheses may contain spaces and parentheses; the fields after it do not.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    ticks = int(fields[11]) + int(fields[12])
    return Stat(
        pid, fields[0], parent=int(fields[1]), session=int(fields[3]), ticks=ticks, started=int(fields[19])
    )


def processor_seconds(pid: int) -> float:
    """Return the processor seconds of a process, without its children; 0 if it has ended."""
    found = _stat(pid)
    return found.ticks / os.sysconf("SC_CLK_TCK") if found else 0.0


def state_of(pid: int) -> str | None:
    """Return the kernel's letter for the state of a process, such as `T` for stopped; None if it has ended.

    A zombie has ended: the first process of a container may never reap it.
    """
    found = _stat(pid)
    return found.state if found and found.state not in _ENDED_STATES else None


def start_time(pid: int) -> int | None:
    """Return when a process started, in the kernel's ticks; None if it has ended, or where there is no /proc."""
    found = _stat(pid)
    return found.started if found and found.state not in _ENDED_STATES else None


def _signal(send: Callable[[int, int], None], target: int, sign: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        send(target, sign)


def tail(log: Path, lines: int = 30) -> str:
    """Return the last lines of a log, for an error message."""
    if not log.exists():
        return "(no log)"
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])

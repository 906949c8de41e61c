"""Child processes that cannot outlive us, and are ended only by the ids we started."""

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
_BURIED = ("Z", "X")

# What the shell may hold about other installations. HADOOP_CONF_DIR would lead the tests to a real cluster.
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
    """Our environment variables without what belongs to other installations."""
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


def spawn(
    command: Sequence[str | os.PathLike[str]],
    *,
    log: Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    adopt: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own; it is killed when we end, whichever thread it was started from.

    With `adopt`, what is below it and loses its parent becomes its child, so that `kill_tree` finds it (Linux only).
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
                preexec_fn=_before_start(os.getpid(), adopt),
            )

    return start() if threading.current_thread() is threading.main_thread() else _in_lasting_thread(start)


def _in_lasting_thread(act: Callable[[], _T]) -> _T:
    result: Future[_T] = Future()
    _starter().put(lambda: _fulfil(result, act))
    return result.result()


@cache
def _starter() -> queue.SimpleQueue[Callable[[], None]]:
    """What a thread is to do that lasts as long as we do: for the kernel a parent is the thread that forked (prctl(2)).

    A thread of a pool ends early, and one of an executor before our exit handlers can stop what it started.
    """
    waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def work() -> None:
        while True:
            waiting.get()()

    threading.Thread(target=work, daemon=True).start()
    return waiting


def _fulfil(result: Future[_T], act: Callable[[], _T]) -> None:
    try:
        result.set_result(act())
    except Exception as error:
        result.set_exception(error)


def _before_start(parent: int, adopt: bool) -> Callable[[], None] | None:
    """A killed parent runs no exit handler, so the kernel is asked to pass its death on (Linux only)."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if adopt:
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        if os.getppid() != parent:
            os._exit(1)  # it died before we could ask

    return ask


def set_group_niceness(process: subprocess.Popen[bytes], niceness: int) -> None:
    """Make the child's whole session give way to others by `niceness` (0 to 19).

    Where Linux groups processes by session (sched(7), autogroup), niceness counts within a session only: two sessions
    get the same share of the processors, whatever `nice` was told.
    """
    with contextlib.suppress(OSError):  # another system, or no such grouping: then `nice` is enough
        Path(f"/proc/{process.pid}/autogroup").write_text(str(niceness))


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Without reaping it: until then its id can be nobody else's, nor that of its session."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a child as a power cut would, without a handler; then what it started."""
    os.kill(process.pid, signal.SIGKILL)
    stop(process)


def stop(process: subprocess.Popen[bytes], *, patience: float = 15) -> int:
    """End a child and all that it started: it politely, then what is left for good."""
    if process.returncode is not None:
        return process.returncode
    _signal(os.killpg, process.pid, signal.SIGTERM)
    deadline = time.monotonic() + patience
    while not has_ended(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    sweep(process)
    return process.wait()


def sweep(process: subprocess.Popen[bytes]) -> None:
    """Kill what is in the child's session: some of it may have left the process group, or lost its parent."""
    if process.returncode is None:
        for pid in [*members(process), process.pid]:
            _signal(os.kill, pid, signal.SIGKILL)


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill a child and all below it, in whatever session; what has lost its parent only if it was adopted (`spawn`).

    Each is stopped first: no process can fork once SIGSTOP is pending, so none appears that is not found. It is not
    reaped.
    """
    stopped: set[int] = set()
    while fresh := {process.pid, *descendants(process.pid)} - stopped:
        for pid in fresh:
            _signal(os.kill, pid, signal.SIGSTOP)
        stopped |= fresh
    for pid in stopped:
        _signal(os.kill, pid, signal.SIGKILL)


def descendants(pid: int) -> Iterator[int]:
    """The children of a process, and theirs; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    for stat in _stats():
        children.setdefault(stat.parent, []).append(stat.pid)
    todo = [pid]
    while todo:
        below = children.get(todo.pop(), [])
        yield from below
        todo += below


def members(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes in the session of a child that we have not buried yet."""
    return [stat.pid for stat in _stats() if stat.session == process.pid]


def _stats() -> Iterator[Stat]:
    found = (_stat(int(entry.name)) for entry in Path("/proc").glob("[0-9]*"))
    return (stat for stat in found if stat is not None)


@dataclass(frozen=True)
class Stat:
    """What tells a process from a later one with the same id; `state` is the kernel's letter for it (proc(5))."""

    pid: int
    state: str
    parent: int
    session: int
    started: int


def _stat(pid: int) -> Stat | None:
    try:
        # The name in parentheses may hold anything; what follows it may not.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return Stat(pid, fields[0], parent=int(fields[1]), session=int(fields[3]), started=int(fields[19]))


def state_of(pid: int) -> str | None:
    """The kernel's letter for it: `T` is stopped. None where there is no such process, or it only waits to be buried:
    the first process of a container may bury nobody."""
    found = _stat(pid)
    return found.state if found and found.state not in _BURIED else None


def start_time(pid: int) -> int | None:
    """When it started, in the kernel's ticks; None as in `state_of`, or where there is no /proc."""
    found = _stat(pid)
    return found.started if found and found.state not in _BURIED else None


def _signal(send: Callable[[int, int], None], target: int, sign: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        send(target, sign)


def tail(log: Path, lines: int = 30) -> str:
    """The end of a log, for an error message."""
    if not log.exists():
        return "(no log)"
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])

"""Child processes that cannot outlive us, and are ended only by the ids we started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1

# What the shell may hold about other installations. HADOOP_CONF_DIR would lead the tests to a real cluster.
FOREIGN = ("AIRFLOW_", "SPARK_", "PYSPARK_", "HADOOP_", "HIVE_", "YARN_", "HDFS_", "PYTHONPATH", "PYTHONHOME")


def own_environ() -> dict[str, str]:
    """Our environment variables without what belongs to other installations."""
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


def spawn(
    command: Sequence[str | os.PathLike[str]], *, log: Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a child in a process group of its own; it is killed when the thread that started it ends."""
    with log.open("ab") as out:
        return subprocess.Popen(
            [os.fspath(part) for part in command],
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_parent(os.getpid()),
        )


def _die_with_parent(parent: int) -> Callable[[], None] | None:
    """A killed parent runs no exit handler, so the kernel is asked to pass its death on (Linux only)."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)  # it died before we could ask

    return ask


def stop_group(process: subprocess.Popen[bytes], *, patience: float = 10) -> None:
    """End a child and whatever it started: politely, then for good."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        _signal_group(process.pid, sign)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        break
    # The leader may be gone while a grandchild lingers in its group.
    _signal_group(process.pid, signal.SIGKILL)


def _signal_group(leader: int, sign: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, sign)


def tail(log: Path, lines: int = 30) -> str:
    """The end of a log, for an error message."""
    if not log.exists():
        return "(no log)"
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])

"""Commit logs in memory: what is published in them, and what can be read there."""

from __future__ import annotations

from spark_jobs.core.records.change import Change, change_of
from spark_jobs.core.records.snapshots import ADD, COMPACT
from spark_jobs.protocol.commit_log.store import CommitLog
from tests.unit.core.faulty_memory_fs import HOME, MemoryFs, files, run_state, swap

ONE = run_state(swap("1", files("a", "b", "_SUCCESS"), files("c")))


def log(fs: MemoryFs) -> CommitLog:
    """What a new process sees: nothing remembered."""
    return CommitLog(fs, HOME, fs.now)


def compact(run_id: str = "r") -> Change:
    return change_of(run_id, ONE, COMPACT)


def stored(fs: MemoryFs) -> set[str]:
    return {path[len(HOME) + 5 :] for path in fs.files}


def live(fs: MemoryFs) -> list[str]:
    latest = log(fs).latest()
    return sorted(e.file for e in log(fs).files(latest) if e.kind == ADD) if latest else []


def prepared() -> MemoryFs:
    """A log with a run in it."""
    fs = MemoryFs()
    other = run_state(swap("2", files("x"), files("y")))
    log(fs).publish(change_of("before", other, COMPACT))
    return fs

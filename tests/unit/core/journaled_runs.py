"""Runs of one table in memory, by their journals, and their way into its commit log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from spark_jobs.core.records import journal
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.protocol.commit_log.publisher import log_runs
from spark_jobs.protocol.runs.home_format import create_home
from spark_jobs.protocol.runs.journal_store import Journal, Run
from tests.unit.core.faulty_memory_fs import HOME, NOW, MemoryFs, files, swap
from tests.unit.core.run_record import run_body

ONE = swap("1", files("a", "b"), files("c"))
FACTS = TableFacts(
    "db.t", "EXTERNAL", Storage("file:/t", None, None), None, {}, (("id", "int"),), ("p",), ("string",)
)


def journaled(fs: MemoryFs, run_id: str, attempt: str, *kinds: str, minute: int = 0) -> Run:
    """A run's folder whose journal swaps ONE and goes on with these records."""
    folder = f"{HOME}/{run_id}.{attempt * 12}"
    fs.time, now = NOW + timedelta(minutes=minute), fs.time
    kept = Journal(fs, folder, now=fs.now)
    create_home(fs, HOME)
    kept.open()
    kept.append(
        journal.RUN,
        **run_body(homes=[HOME], user="etl", home_id=fs.identity(HOME), directory_id=fs.identity(folder)),
    )
    kept.append(journal.PREPARED, swaps=[ONE.to_json()])
    for kind in (journal.COMMITTED, *kinds):
        kept.append(kind, units=[{"unit": ONE.unit.key}])
    fs.time = now
    state = kept.state()
    assert state is not None
    return Run(run_id, folder, kept, state)


def publish(fs: MemoryFs, runs: Sequence[Run], verb: str) -> list[str]:
    return log_runs(fs, FACTS, runs, verb, fs.now)

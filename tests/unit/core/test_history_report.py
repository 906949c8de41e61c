"""history, from the journals and the commit log to its report: it writes nothing, and nothing stays hidden."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from spark_jobs.core.options.arguments import parse
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.records import journal
from spark_jobs.core.records.snapshots import COMPACT
from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.core.wire.report import TableReport
from spark_jobs.verbs.history import history_table
from spark_jobs.verbs.job import Job
from tests.unit.core.faulty_memory_fs import HOME, MemoryFs
from tests.unit.core.journaled_runs import FACTS, journaled, publish


def job(fs: MemoryFs, *arguments: str) -> Job:
    """A job whose metastore knows one table; what it has no business with is not there."""
    metastore = SimpleNamespace(
        table=lambda _: FACTS, units=lambda _: [(Unit((("p", "1"),), "file:/t/p=1"), None)]
    )
    cluster = SimpleNamespace(fs=fs, metastore=metastore, now=fs.now)
    return cast(
        Job,
        SimpleNamespace(
            services=cluster,
            layers=Layers(),
            show=print,
            invocation=parse("history", ["--table", "db.t", *arguments], ""),
        ),
    )


def ask(fs: MemoryFs, *arguments: str) -> tuple[TableReport, list[tuple[Any, ...]]]:
    report = history_table(job(fs, *arguments), TableName("db", "t"))
    return report, [(row["snapshot"], row["run_id"], row["kind"]) for row in report.history or []]


def test_history_joins_the_log_with_the_journals_and_writes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fs = MemoryFs()
    publish(fs, [journaled(fs, "r", "a", journal.ROLLED_BACK)], COMPACT)
    journaled(fs, "s", "b", minute=5)
    before = dict(fs.files)
    fs.calls.clear()
    report, found = ask(fs)
    assert found == [(None, "s", "compact"), (2, "r", "rollback"), (1, "r", "compact")]
    assert (report.outcome, report.warnings) == ("done", [])
    assert fs.files == before
    assert set(fs.calls) == {"list", "read"}
    assert "unlogged" in capsys.readouterr().out
    assert ask(fs, "--limit", "1")[1] == found[:1]
    assert "... and 2 older" in capsys.readouterr().out


def test_a_log_that_cannot_be_read_hides_nothing() -> None:
    fs = MemoryFs()
    publish(fs, [journaled(fs, "r", "a")], COMPACT)
    fs.files[f"{HOME}/log/snapshot/snapshot-1"] = b"torn", 0
    report, found = ask(fs)
    assert found == [(None, "r", "compact")]
    assert "snapshot-1" in report.warnings[0]


def test_a_table_that_nobody_touched(capsys: pytest.CaptureFixture[str]) -> None:
    report, found = ask(MemoryFs())
    assert (report.outcome, report.history, found) == ("nothing", [], [])
    assert "no run is on record" in capsys.readouterr().out

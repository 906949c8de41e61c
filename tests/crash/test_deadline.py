"""The deadline of a compaction: what is still begun, and what the job learns of its own pace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.protocol.execution.rounds import Rounds
from tests.crash import writers
from tests.crash.model_metastore import ModelMetastore
from tests.crash.model_spark import ModelFooters, ModelRewriter
from tests.crash.scenario import WAREHOUSE
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.uneven_table import FILES, by_outcome, job, reasons, uneven


def test_nothing_is_begun_that_cannot_be_finished_before_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each file takes 10 seconds to rewrite: the first wave shows it."""
    sim = uneven()
    write = ModelRewriter.write

    def rewrite(self: ModelRewriter, request: Any) -> Any:
        sim.advance(10.0 * len(request.inputs.data))
        return write(self, request)

    monkeypatch.setattr(ModelRewriter, "write", rewrite)
    words = ("--parallelism", 1, "--verify", "hash", "--order", "files-asc")
    compacted: list[str] = []
    for _ in range(5):
        deadline = datetime.fromtimestamp(sim.millis / 1000, timezone.utc) + timedelta(seconds=130)
        report = job(sim, "compact", *words, "--deadline", deadline.isoformat())
        assert sim.millis / 1000 <= deadline.timestamp()
        compacted += by_outcome(report, "compacted")
        assert all(
            "could not be finished before the deadline" in each for each in reasons(report, "deferred")
        )
    assert compacted == ["a", "e", "c", "b", "d"]


def test_the_time_for_the_backup_table_is_kept_before_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second for each unit, and a tenth of a second to add its partition to the backup table."""
    sim = SimulatedCluster()
    writers.create_table(sim, "sales.uneven", f"{WAREHOUSE}/uneven", keys=("k",))
    for number in range(60):
        location = writers.add_partition(sim, "sales.uneven", f"{number:02}")
        for _ in range(2):
            writers.append(sim, location, sim.ledger.fresh(1))
    write, add = ModelRewriter.write, ModelMetastore._add

    def rewrite(self: ModelRewriter, request: Any) -> Any:
        sim.advance(1.0)
        return write(self, request)

    def slowly(self: ModelMetastore, backup: TableName, units: Sequence[tuple[Unit, str]]) -> None:
        sim.advance(10.0 + 0.1 * len(units))
        add(self, backup, units)

    monkeypatch.setattr(ModelRewriter, "write", rewrite)
    monkeypatch.setattr(ModelMetastore, "_add", slowly)
    deadline = datetime.fromtimestamp(sim.millis / 1000, timezone.utc) + timedelta(seconds=60)
    report = job(sim, "compact", "--parallelism", 1, "--verify", "hash", "--deadline", deadline.isoformat())
    assert sim.millis / 1000 <= deadline.timestamp()
    assert len(by_outcome(report, "compacted")) > 30
    assert by_outcome(report, "deferred")


def test_units_that_were_refused_do_not_show_how_fast_the_job_is(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = uneven()
    read, write = ModelFooters._footer, ModelRewriter.write

    def footer(self: ModelFooters, file: str) -> Footer:
        if "k=a/" in file or "k=e/" in file:
            raise Refusal(RefusalCode.TYPE, "it holds a type that cannot be written")
        return read(self, file)

    def slow(self: ModelRewriter, request: Any) -> Any:
        sim.advance(60)
        return write(self, request)

    monkeypatch.setattr(ModelFooters, "_footer", footer)
    monkeypatch.setattr(ModelRewriter, "write", slow)
    deadline = datetime.fromtimestamp(sim.millis / 1000, timezone.utc) + timedelta(seconds=100)
    words = (
        "--parallelism",
        1,
        "--verify",
        "hash",
        "--order",
        "files-asc",
        "--deadline",
        deadline.isoformat(),
    )
    report = job(sim, "compact", *words)
    assert (by_outcome(report, "compacted"), by_outcome(report, "deferred")) == (["c"], ["b", "d"])
    assert sim.millis / 1000 <= deadline.timestamp()


@pytest.mark.parametrize("seconds", [-1, 5])
def test_canaries_that_cannot_be_finished_do_not_take_a_round_each(
    monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    sim, rounds, compact = uneven(), [], Rounds._compact

    def count(self: Rounds, units: Sequence[UnitPlan], *, resume: bool = False) -> Any:
        rounds.append(units)
        return compact(self, units, resume=resume)

    monkeypatch.setattr(Rounds, "_compact", count)
    deadline = datetime.fromtimestamp(sim.millis / 1000, timezone.utc) + timedelta(seconds=seconds)
    report = job(sim, "compact", "--canary", 1, "--deadline", deadline.isoformat())
    assert len(by_outcome(report, "deferred")) == len(FILES)
    assert len(rounds) <= 1
    assert all("before the deadline" in reason for reason in reasons(report, "deferred"))


def test_the_log_teaches_the_next_job_how_fast_a_table_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the experience of the first run the second would begin a unit that it cannot finish."""
    sim = uneven()
    write = ModelRewriter.write

    def slow(self: ModelRewriter, request: Any) -> Any:
        sim.advance(60.0 * len(request.inputs.data))
        return write(self, request)

    monkeypatch.setattr(ModelRewriter, "write", slow)
    words = ("--parallelism", 1, "--verify", "hash", "--order", "files-asc")
    job(sim, "compact", "--max-units", 2, *words)
    plan = job(sim, "plan")
    assert all(unit["estimated_seconds"] > 100 for unit in plan["tables"][0]["units"] if unit.get("score"))
    deadline = datetime.fromtimestamp(sim.millis / 1000, timezone.utc) + timedelta(seconds=100)
    second = job(sim, "compact", *words, "--deadline", deadline.isoformat())
    assert (by_outcome(second, "compacted"), by_outcome(second, "deferred")) == ([], ["c", "b", "d"])

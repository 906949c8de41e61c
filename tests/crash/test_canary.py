"""The first units of a compaction prove themselves alone, and a job that keeps failing stops."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.records.swap import Swap
from spark_jobs.protocol.swap.forward import ForwardSwap
from tests.crash.fault_injection import Fault, Killed
from tests.crash.scenario import run
from tests.crash.uneven_table import by_outcome, failing, job, reasons, uneven


def test_the_canaries_are_compared_value_by_value_before_the_others_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = failing(monkeypatch)
    report = job(uneven(), "compact", "--canary", 2, "--order", "files-desc")
    assert sorted(by_outcome(report, "compacted")) == list("abcde")
    assert begun[:2] == ["d hash", "b hash"]
    assert not any("hash" in each for each in begun[2:])


def test_by_default_a_unit_that_fails_leaves_the_others_compacted(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, "b")
    report = job(uneven(), "compact", "--verify", "hash")
    assert (sorted(by_outcome(report, "compacted")), by_outcome(report, "failed")) == (list("acde"), ["b"])
    assert (report["outcome"], report["exit_code"]) == ("partial", 1)


def test_of_a_run_that_was_undone_only_originals_of_earlier_runs_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sim = uneven()
    held = job(sim, "compact", "--max-units", 1, "--order", "files-asc")["tables"][0]["held_bytes"]
    failing(monkeypatch, "b")
    report = job(sim, "compact", "--verify", "hash", "--on-failure", "undo")
    assert sorted(by_outcome(report, "restored")) == list("cde")
    assert report["tables"][0]["held_bytes"] == job(sim, "plan")["tables"][0]["held_bytes"] == held > 0


def test_a_canary_that_fails_stops_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = failing(monkeypatch, "b")
    report = job(uneven(), "compact", "--canary", 2, "--order", "files-desc")
    assert begun == ["d hash", "b hash"]
    assert (by_outcome(report, "compacted"), by_outcome(report, "failed")) == (["d"], ["b"])
    assert reasons(report, "deferred") == {"canary: one of the first units has failed"}
    assert report["exit_code"] == 1


def test_a_job_that_keeps_failing_begins_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, *"abcde")
    report = job(
        uneven(),
        "compact",
        "--max-failures",
        2,
        "--parallelism",
        1,
        "--order",
        "files-desc",
        "--verify",
        "hash",
    )
    assert len(by_outcome(report, "failed")) == 4  # a wave is four units for each that is processed at a time
    assert reasons(report, "deferred") == {"max_failures: 4 units have failed"}


def test_a_canary_that_fails_in_a_retry_stops_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at any call: the next try has units that are written already, and their swaps fail."""
    words = (
        "--table",
        "sales.uneven",
        "--canary",
        "1",
        "--parallelism",
        "1",
        "--run-id",
        "r",
        "--order",
        "none",
    )
    client, swap = uneven().client(), ForwardSwap.swap
    run(client, "compact", *words)

    def failing_swap(self: ForwardSwap, unit: Swap, *more: Any) -> Any:
        if unit.live.endswith("k=a"):
            raise LakekeeperError("the swap of the canary fails")
        return swap(self, unit, *more)

    outcomes = set()
    for point in range(1, client.points + 1):
        sim = uneven()
        with contextlib.suppress(Killed):
            run(sim.client(Fault.crash_before(point)), "compact", *words)
        sim.advance(3600)
        with monkeypatch.context() as patch:
            patch.setattr(ForwardSwap, "swap", failing_swap)
            report = run(sim.client(), "compact", *words)
        if by_outcome(report, "failed"):
            outcomes.add((*by_outcome(report, "failed"), *by_outcome(report, "compacted")))
    assert outcomes == {("a",)}

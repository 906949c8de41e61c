"""The order in which a compaction takes units, the limits of a job, and what it leaves to the next one."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.rules.health import Health, score
from spark_jobs.core.values.layout import Home
from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed
from tests.crash.model_metastore import forget_partitions, register_partition
from tests.crash.model_spark import ModelFooters, ModelRewriter
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.uneven_table import FILES, by_outcome, failing, job, reasons, uneven


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("none", "abcde"),
        ("files-asc", "aecbd"),
        ("files-desc", "dbcea"),
        ("bytes-asc", "aecbd"),
        ("bytes-desc", "dbcea"),
    ],
)
def test_the_report_and_the_plan_have_the_units_in_the_order_of_execution(order: str, expected: str) -> None:
    sim = uneven()
    assert by_outcome(job(sim, "plan", "--order", order), "flagged") == list(expected)
    assert by_outcome(job(sim, "compact", "--order", order), "compacted") == list(expected)


def test_by_default_the_unit_with_the_most_gain_for_each_byte_is_first() -> None:
    report = job(uneven(), "plan")
    found = [unit["score"] for unit in report["tables"][0]["units"]]
    assert found == sorted(found, reverse=True)
    assert by_outcome(report, "flagged")[0] == "d"


def test_the_rest_is_deferred_with_the_limit_and_comes_first_the_next_time() -> None:
    sim = uneven()
    first = job(sim, "compact", "--max-units", 2, "--order", "files-desc")
    assert by_outcome(first, "compacted") == ["d", "b"]
    assert by_outcome(first, "deferred") == ["c", "e", "a"]
    assert reasons(first, "deferred") == {"max_units: it needs 1, and 0 of 2 are left"}
    for value, files in (("d", 30), ("b", 20)):
        for _ in range(files):
            writers.append(sim, f"{WAREHOUSE}/uneven/k={value}", sim.ledger.fresh(3))
    second = job(sim, "compact", "--max-units", 3, "--order", "files-desc")
    assert by_outcome(second, "compacted") == ["c", "e", "a"]
    assert by_outcome(second, "deferred") == ["d", "b"]
    third = job(sim, "compact", "--max-units", 3)
    assert sorted(by_outcome(third, "compacted")) == ["b", "d"]
    assert by_outcome(third, "deferred") == []


def test_a_unit_is_not_deferred_any_more_once_it_was_compacted() -> None:
    sim = uneven()
    job(sim, "compact", "--max-units", 1)
    assert len([u for u in job(sim, "plan")["tables"][0]["units"] if "deferred_since" in u]) == 4
    job(sim, "compact")
    for value in FILES:
        for _ in range(3):
            writers.append(sim, f"{WAREHOUSE}/uneven/k={value}", sim.ledger.fresh(3))
    assert not [u for u in job(sim, "plan")["tables"][0]["units"] if "deferred_since" in u]


def test_a_unit_that_fails_each_time_does_not_keep_others_from_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sim = uneven()
    job(sim, "compact", "--max-units", 1, "--order", "files-asc")
    failing(monkeypatch, "e")
    done = []
    for _ in range(4):
        sim.advance(24 * 3600)
        report = job(sim, "compact", "--canary", 1, "--order", "files-asc", "--verify", "hash")
        done += by_outcome(report, "compacted")
    assert sorted(done) == ["b", "c", "d"]
    # It stays deferred, so that conditions of the table do not keep it waiting.
    assert [u["unit"]["k"] for u in job(sim, "plan")["tables"][0]["units"] if "deferred_since" in u] == ["e"]


def test_a_partition_that_was_dropped_is_not_deferred_any_more() -> None:
    sim = uneven()
    job(sim, "compact", "--max-units", 1)
    before = [u["unit"]["k"] for u in job(sim, "plan")["tables"][0]["units"] if "deferred_since" in u]
    dropped = before[0]
    forget_partitions(sim, TableName.parse("sales.uneven"), [(("k", dropped),)])
    job(sim, "compact", "--max-units", 1)
    register_partition(
        sim, TableName.parse("sales.uneven"), (("k", dropped),), f"{WAREHOUSE}/uneven/k={dropped}"
    )
    after = [u["unit"]["k"] for u in job(sim, "plan")["tables"][0]["units"] if "deferred_since" in u]
    assert sorted(after) == sorted(before[2:])


def test_without_the_hint_only_the_order_is_lost() -> None:
    sim = uneven()
    job(sim, "compact", "--max-units", 2)
    folder = f"{Home.of_table(f'{WAREHOUSE}/uneven', True).path}/log/survey"
    (hint,) = [name for name, _ in sim.tree.files(folder) if name.startswith("deferred-")]
    sim.tree.write(f"{folder}/{hint}", b"not what it should be", overwrite=True)
    second = job(sim, "compact")
    assert len(by_outcome(second, "compacted")) == 3
    assert second["exit_code"] == 0


@pytest.mark.parametrize(
    ("limit", "value", "expected"),
    [("--max-files", 11, ["d", "a"]), ("--max-files", 10, ["d"]), ("--max-units", 0, list("dbcea"))],
)
def test_a_limit_counts_what_is_read(limit: str, value: int, expected: list[str]) -> None:
    report = job(uneven(), "compact", limit, value, "--order", "files-desc")
    assert by_outcome(report, "compacted") == expected


def test_a_unit_that_alone_is_more_than_the_limit_says_so() -> None:
    report = job(uneven(), "compact", "--max-bytes", "1b")
    assert by_outcome(report, "compacted") == []
    assert all("the unit alone is more than that" in reason for reason in reasons(report, "deferred"))
    assert report["outcome"] == "nothing"


def test_the_limits_count_over_all_tables_of_a_job() -> None:
    sim = build()
    report = run(sim.client(), "compact", "--database", "sales", "--max-units", "2")
    units = [(t["table"], u["outcome"]) for t in report["tables"] for u in t["units"]]
    assert units == [(FLAT, "compacted"), (EVENTS, "compacted"), (EVENTS, "deferred"), (EVENTS, "deferred")]


def test_a_refused_unit_gives_its_place_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compaction reads the footers of a unit when it writes it: only then is it known to be refused."""
    read = ModelFooters._footer

    def footer(self: ModelFooters, file: str) -> Footer:
        if "k=d/" in file:
            raise Refusal(RefusalCode.SCHEMA_CONFLICT, "its files have columns that the table has not")
        return read(self, file)

    monkeypatch.setattr(ModelFooters, "_footer", footer)
    words = ("--max-units", 2, "--order", "files-desc")
    report = job(uneven(), "compact", *words)
    assert (by_outcome(report, "skipped"), by_outcome(report, "compacted")) == (["d"], ["b", "c"])
    plan = job(uneven(), "plan", *words)
    assert (by_outcome(plan, "skipped"), by_outcome(plan, "flagged")) == (["d"], ["b", "c"])


def test_the_cap_on_originals_counts_those_of_earlier_runs_and_the_report_has_the_present_value() -> None:
    sim = uneven()
    first = job(sim, "compact", "--max-units", 1)["tables"][0]
    held = first["held_bytes"]
    assert held == first["before"]["bytes"] - sum(
        u["bytes"] for u in first["units"] if u["outcome"] != "compacted"
    )
    second = job(sim, "compact", "--max-held-bytes", f"{held}b")
    assert by_outcome(second, "compacted") == []
    assert all(reason.startswith("max_held_bytes: ") for reason in reasons(second, "deferred"))
    assert second["tables"][0]["held_bytes"] == held
    third = job(sim, "compact", "--max-held-bytes", "1gb")
    assert third["tables"][0]["held_bytes"] > held


def test_the_score_is_the_files_removed_for_each_gb() -> None:
    health = Health(101, 1024**3, 0, 0, 0, 1, True)
    assert score(health) == 100.0
    assert score(health, pressure=0.5) == 150.0


def test_a_retry_counts_what_the_try_before_it_has_compacted() -> None:
    words = (
        "--table",
        "sales.uneven",
        "--max-units",
        "2",
        "--parallelism",
        "1",
        "--verify",
        "hash",
        "--run-id",
        "r",
    )
    whole = uneven()
    client = whole.client()
    run(client, "compact", *words)
    for point in range(1, client.points + 1):
        sim = uneven()
        with contextlib.suppress(Killed):
            run(sim.client(Fault.crash_before(point)), "compact", *words)
        sim.advance(3600)
        run(sim.client(), "compact", *words)
        small = [value for value in FILES if len(sim.tree.files(f"{WAREHOUSE}/uneven/k={value}")) == 1]
        # A try that died after the end of its run has nothing left to go on with: the next one is another run.
        assert len(small) == 2 * len(runs_of(sim, ["sales.uneven"])), f"point {point}"


def test_the_history_has_the_results_and_durations_of_each_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = uneven()
    write = ModelRewriter.write

    def slow(self: ModelRewriter, request: Any) -> Any:
        sim.advance(10.0)
        return write(self, request)

    monkeypatch.setattr(ModelRewriter, "write", slow)
    report = job(
        sim, "compact", "--max-units", 2, "--order", "files-desc", "--verify", "hash", "--parallelism", 1
    )
    (row,) = job(sim, "history", "--units")["tables"][0]["history"]
    done = {
        unit["unit"]["k"]: unit for unit in report["tables"][0]["units"] if unit["outcome"] == "compacted"
    }
    assert [result["unit"]["k"] for result in row["results"]] == ["d", "b"]
    for result in row["results"]:
        unit = done[result["unit"]["k"]]
        assert result["before"] == {"files": unit["files"], "bytes": unit["bytes"]}
        assert result["after"] == {"files": unit["files_after"], "bytes": unit["bytes_after"]}
        assert (result["rows"], result["seconds"]) == (unit["rows"], unit["seconds"])
        assert result["seconds"] >= 10
    assert row["seconds"] >= 20
    (without,) = job(sim, "history")["tables"][0]["history"]
    assert without == {key: value for key, value in row.items() if key != "results"}


def test_the_cap_on_originals_holds_over_the_tries_of_a_run() -> None:
    plan = job(uneven(), "plan", "--max-units", 2)["tables"][0]["units"]
    most = sum(unit["bytes"] for unit in plan if unit["outcome"] == "flagged")
    words = (
        "--table",
        "sales.uneven",
        "--max-held-bytes",
        f"{most}b",
        "--parallelism",
        "1",
        "--verify",
        "hash",
    )
    client = uneven().client()
    run(client, "compact", *words, "--run-id", "r")
    for point in range(1, client.points + 1):
        sim = uneven()
        with contextlib.suppress(Killed):
            run(sim.client(Fault.crash_before(point)), "compact", *words, "--run-id", "r")
        sim.advance(3600)
        report = run(sim.client(), "compact", *words, "--run-id", "r")
        assert report["tables"][0]["held_bytes"] <= most, f"point {point}"

"""What a compaction finds while it reads a unit: the next analysis knows it, until the files are other ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.messages.errors import LakekeeperError, Refusal, Unreadable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.protocol.ports import RewriteRequest, RewriteResult
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.flat_table import LIVE
from tests.crash.model_spark import ModelFooters, ModelRewriter
from tests.crash.model_tree import ME
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster
from tests.crash.test_calls import LATER, WIDE, done, wide
from tests.crash.test_other_versions import of_version

ROOT = f"{WAREHOUSE}/wide"
BAD = f"{ROOT}/k=0001"
#: Longer than `staging_ttl`.
DAYS = 2 * 86_400
WRITE, READ = ModelRewriter.write, ModelFooters.read
RUNS = itertools.count()


def unreadable(request: RewriteRequest) -> Exception:
    return Unreadable(request.files[0], "a page is damaged")


def refusal(code: RefusalCode) -> Callable[[RewriteRequest], Exception]:
    return lambda request: Refusal(code, f"{request.directory} has such values")


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the write of one unit fail, also where it is written with others."""

    def install(error: Callable[[RewriteRequest], Exception | None], location: str = BAD) -> None:
        def write(self: ModelRewriter, request: RewriteRequest) -> RewriteResult:
            found = error(request) if request.directory == location else None
            if found:
                raise found
            return WRITE(self, request)

        def write_jointly(*_: object) -> Any:
            raise LakekeeperError("the job of several units has failed")

        monkeypatch.setattr(ModelRewriter, "write", write)
        monkeypatch.setattr(ModelRewriter, "write_jointly", write_jointly)

    return install


def old(partitions: int = 3) -> SimulatedCluster:
    sim = wide(partitions)
    sim.advance(DAYS)
    return sim


def found(sim: SimulatedCluster, verb: str, *argv: str) -> tuple[str, str | None]:
    """Outcome and code of the unit whose write fails."""
    words = ("--run-id", f"r{next(RUNS)}") if verb == "compact" else ()
    report = done(sim, verb, *words, *argv)[0]
    (unit,) = [unit for unit in report["units"] if unit["unit"] == {"k": "0001"}]
    return unit["outcome"], unit["code"]


VALUES = {
    "UNREADABLE": unreadable,
    "CALENDAR": refusal(RefusalCode.CALENDAR),
    "WRONG_STATISTICS": refusal(RefusalCode.WRONG_STATISTICS),
    "TYPE": refusal(RefusalCode.TYPE),
}


@pytest.mark.parametrize("code", VALUES)
@pytest.mark.parametrize("strategy", ["full", "minor"])
def test_it_is_found_once(fails: Callable[..., None], code: str, strategy: str) -> None:
    sim, argv = old(), ("--strategy", strategy)
    fails(VALUES[code])
    assert found(sim, "analyze", *argv) == ("flagged", None)
    assert found(sim, "compact", *argv) == ("skipped", code)
    for _ in range(2):
        sim.advance(DAYS)
        report, calls, _ = done(sim, "analyze", *argv)
        assert [unit["code"] for unit in report["units"]] == [None, code, None]
        assert "flagged" not in [unit["outcome"] for unit in report["units"]]
        assert calls["footers"] == 0
    assert check(sim) == []


def test_a_survey_of_another_version_ends_no_compaction(fails: Callable[..., None]) -> None:
    sim = old()
    fails(unreadable)
    found(sim, "analyze")
    (survey,) = (entry for entry in sim.tree.walk(WAREHOUSE) if "/analysis-" in entry[0])
    sim.tree.change(survey[1], content=of_version(survey[2].content))
    assert found(sim, "compact") == ("skipped", "UNREADABLE")


def test_other_files_are_asked_again(fails: Callable[..., None]) -> None:
    sim = old()
    fails(unreadable)
    found(sim, "compact")
    writers.append(sim, BAD, sim.ledger.fresh(1))
    assert found(sim, "analyze") == ("flagged", None)
    sim.advance(DAYS)
    assert found(sim, "analyze") == ("flagged", None)


def test_a_full_scan_asks_again(fails: Callable[..., None]) -> None:
    sim = old()
    fails(unreadable)
    found(sim, "compact")
    assert found(sim, "analyze", "--full-scan") == ("flagged", None)


def test_a_young_file_is_asked_again(fails: Callable[..., None]) -> None:
    """It may still be completed."""
    sim = wide(3)
    fails(unreadable)
    assert found(sim, "compact") == ("skipped", "UNREADABLE")
    sim.advance(LATER)
    assert found(sim, "analyze") == ("flagged", None)
    sim.advance(DAYS)
    assert found(sim, "compact") == ("skipped", "UNREADABLE")
    assert found(sim, "analyze") == ("skipped", "UNREADABLE")


def test_what_the_cluster_fails_with_is_asked_again(fails: Callable[..., None]) -> None:
    sim = old()
    fails(lambda _: LakekeeperError("Spark could not rewrite the unit: a block is missing"))
    report = run(sim.client(), "compact", "--table", WIDE, "--run-id", "r1")
    assert (report["exit_code"], report["outcome"]) == (1, "partial")
    assert found(sim, "analyze") == ("flagged", None)


def test_nans_are_found_where_all_values_are_compared(fails: Callable[..., None]) -> None:
    """An analysis knows of it from the properties of the table, or from the configuration file."""
    sim = old()
    fails(refusal(RefusalCode.NAN))
    assert found(sim, "compact", "--verify", "hash") == ("skipped", "NAN")
    assert found(sim, "analyze") == ("flagged", None)
    table = sim.metastore.databases["sales"]["wide"]
    facts = replace(table.facts, properties={"lakekeeper.verify": "hash"})
    sim.metastore.databases["sales"]["wide"] = replace(table, facts=facts)
    assert found(sim, "compact") == ("skipped", "NAN")
    assert found(sim, "analyze") == ("skipped", "NAN")


def test_nans_do_not_keep_a_canary_from_being_compacted(fails: Callable[..., None]) -> None:
    """All values of a canary are compared; a NaN is, as the options say, any NaN."""
    sim = old()

    def write(request: RewriteRequest) -> Exception | None:
        return None if request.one_nan else refusal(RefusalCode.NAN)(request)

    fails(write, f"{ROOT}/k=0000")
    report = done(sim, "compact", "--run-id", "r1", "--canary", "1", "--order", "none")[0]
    assert [(unit["outcome"], unit["code"]) for unit in report["units"]] == [("compacted", None)] * 3
    assert check(sim) == []


def test_what_was_found_in_a_file_that_came_later_is_not_kept(fails: Callable[..., None]) -> None:
    """It is taken away again, and nothing is wrong with the files that were planned."""
    sim = old()
    added: list[str] = []

    def write(request: RewriteRequest) -> Exception:
        if not added:
            added.append(writers.append(sim, BAD, sim.ledger.fresh(3)))
        return refusal(RefusalCode.TYPE)(request)

    fails(write)
    assert found(sim, "compact") == ("skipped", "TYPE")
    assert found(sim, "analyze") == ("flagged", None)
    sim.tree.remove(f"{BAD}/{added[0]}")
    sim.advance(DAYS)
    assert found(sim, "analyze") == ("flagged", None)


def test_a_crash_at_any_call_loses_at_most_what_was_to_be_kept(fails: Callable[..., None]) -> None:
    sim = old(2)
    fails(unreadable)

    def compact(client: Client) -> object:
        return run(client, "compact", "--table", WIDE, "--run-id", "killed")

    states = list(crash_states(sim, compact))
    for state in states:
        state.sim.advance(DAYS)
        assert found(state.sim, "compact") == ("skipped", "UNREADABLE"), state
        assert found(state.sim, "analyze") == ("skipped", "UNREADABLE"), state
        assert check(state.sim) == [], state
    assert len(states) > 20


class TestTableWithoutPartitions:
    """Its directory's time is not known: its files tell whether the verdict is about them."""

    @pytest.fixture
    def sim(self, fails: Callable[..., None]) -> SimulatedCluster:
        sim = build()
        sim.advance(DAYS)
        fails(unreadable, LIVE)
        assert self.unit(sim, "compact") == ("skipped", "UNREADABLE")
        return sim

    def unit(self, sim: SimulatedCluster, verb: str, *argv: str) -> tuple[str, str | None]:
        report = run(sim.client(), verb, "--table", FLAT, *argv)
        (unit,) = report["tables"][0]["units"]
        assert report["exit_code"] == 0, report
        return unit["outcome"], unit["code"]

    def test_it_is_found_once(self, sim: SimulatedCluster) -> None:
        for _ in range(2):
            sim.advance(DAYS)
            assert self.unit(sim, "analyze") == ("skipped", "UNREADABLE")
        assert self.unit(sim, "analyze", "--full-scan") == ("flagged", None)

    def test_other_files_are_asked_again(self, sim: SimulatedCluster) -> None:
        added = writers.append(sim, LIVE, sim.ledger.fresh(1))
        assert self.unit(sim, "analyze") == ("flagged", None)
        sim.tree.remove(f"{LIVE}/{added}")
        assert self.unit(sim, "analyze") == ("skipped", "UNREADABLE")


@pytest.mark.parametrize("opened", [False, True])
def test_a_file_that_is_being_written_is_left_to_the_compaction(opened: bool) -> None:
    """Its end is not there yet, so that nobody can read it."""
    sim = old()
    if opened:
        writers.open_append(sim, BAD, sim.ledger.fresh(1)).flush()
    else:
        sim.tree.write(f"{BAD}/part-x.parquet", b"half of a file")
    sim.advance(DAYS)
    assert found(sim, "analyze") == (("flagged", None) if opened else ("skipped", "UNREADABLE"))
    assert found(sim, "compact") == (("changed", "ACTIVE_WRITER") if opened else ("skipped", "UNREADABLE"))
    assert found(sim, "analyze") == (("flagged", None) if opened else ("skipped", "UNREADABLE"))


def test_a_written_file_that_cannot_be_read_is_no_fault_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    sim, read = old(), ModelFooters.read

    def unreadable_new(self: ModelFooters, directories: Any, file_format: str) -> Any:
        for folder, files in directories:
            if "compact_tmp" in folder and "k=0001" in folder:
                raise Unreadable(f"{folder}/{files.files[0].name}", "it has no end")
        return read(self, directories, file_format)

    monkeypatch.setattr(ModelFooters, "read", unreadable_new)
    report = run(sim.client(), "compact", "--table", WIDE, "--run-id", "r1", "--verify", "hash")
    (unit,) = [unit for unit in report["tables"][0]["units"] if unit["unit"] == {"k": "0001"}]
    assert (unit["outcome"], unit["code"], report["exit_code"]) == ("failed", None, 1)
    assert "what was written cannot be read" in unit["reason"]
    monkeypatch.undo()
    assert found(sim, "analyze") == ("flagged", None)


class TestPermissions:
    """What the account may not read, it may tomorrow: nothing of it is remembered."""

    @pytest.mark.parametrize("part", ["directory", "file"])
    def test_a_unit_that_may_not_be_read_is_left_alone(
        self, part: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sim = old()
        if part == "directory":
            _close(sim, BAD)
        else:
            monkeypatch.setattr(ModelFooters, "read", _denied)
        for verb in ("analyze", "compact", "analyze", "plan"):
            assert found(sim, verb) == ("skipped", "NOT_READABLE")
            sim.advance(DAYS)
        others = [f"{ROOT}/k={number}" for number in ("0000", "0002")]
        assert [len(sim.tree.files(folder)) for folder in others] == [1, 1]
        sim.tree.change(sim.tree.find(BAD), owner=ME, mode=0o755)
        monkeypatch.undo()
        assert found(sim, "analyze") == ("flagged", None)
        assert found(sim, "compact") == ("compacted", None)
        assert check(sim) == []

    def test_the_code_says_what_is_to_be_done(self) -> None:
        sim = old()
        _close(sim, BAD)
        reasons = [unit["reason"] for unit in done(sim, "analyze")[0]["units"] if unit["reason"]]
        assert len(reasons) == 1
        assert BAD in reasons[0]
        assert "Grant the account" in reasons[0]

    @pytest.mark.parametrize("verb", ["analyze", "compact", "plan"])
    def test_a_table_that_may_not_be_read_is_refused(self, verb: str) -> None:
        sim = build()
        _close(sim, LIVE)
        report = run(sim.client(), verb, "--database", "sales")
        tables = {table["table"]: (table["outcome"], table["code"]) for table in report["tables"]}
        assert tables[FLAT] == ("refused", "NOT_READABLE")
        assert (report["exit_code"], tables[EVENTS][1]) == (0, None)
        _close(sim, f"{WAREHOUSE}/events")
        report = run(sim.client(), verb, "--database", "sales")
        tables = {table["table"]: table["outcome"] for table in report["tables"]}
        assert (tables[EVENTS], report["exit_code"]) == ("refused", 0)


def _denied(self: ModelFooters, directories: Any, file_format: str) -> Any:
    """As HDFS would: the directory may be listed, but the files may not be read."""
    if any(folder == BAD for folder, _ in directories):
        raise PermissionError(f"cannot read {BAD}/part-0: Permission denied")
    return READ(self, directories, file_format)


def _close(sim: SimulatedCluster, path: str) -> None:
    """To all accounts but another one."""
    sim.tree.change(sim.tree.find(path), owner="etl", mode=0o700)

"""The record of settled runs is input like a journal, and stands beside directories that are not moved away yet."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from spark_jobs.core.records.settled_runs import SettledRecord
from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.runs.run_finder import TableRuns
from spark_jobs.protocol.runs.settled_store import SettledStore
from spark_jobs.protocol.runs.trust import Trust
from tests.crash.explorer import compact, runs_of
from tests.crash.flat_table import HOME, only
from tests.crash.oracle import check
from tests.crash.process import acting_as
from tests.crash.scenario import FLAT, run
from tests.crash.settled import OLD, add_files, answers, folded, history, present, settled
from tests.crash.simulated_cluster import SimulatedCluster

RECORD = f"{HOME}/settled/000001.json.gz"


class TestTheRecord:
    def test_it_is_input_like_a_journal(self) -> None:
        sim = folded()
        changed(sim, lambda body: body["runs"][0].update(run_id="../../finance"))
        for verb in ("compact", "rollback", "history"):
            found = only(run(sim.client(), verb, "--table", FLAT))
            assert (found["outcome"], found["code"]) == ("failed", "UNSAFE"), verb
        assert check(sim) == []

    def test_one_of_a_newer_version_is_refused_and_says_so(self) -> None:
        sim = folded()
        changed(sim, lambda body: body.update(schema_version=2, version="9.0"))
        found = only(compact(FLAT, "r3")(sim.client()))
        assert (found["outcome"], found["code"]) == ("refused", "OTHER_VERSION")
        assert "was written by version '9.0' with schema 2; this version" in found["reason"]

    def test_one_of_an_account_that_is_not_trusted_is_refused(self) -> None:
        sim = folded()
        number = sim.tree.find(RECORD)
        assert number is not None
        sim.tree.change(number, owner="mallory")
        assert only(compact(FLAT, "r3")(sim.client()))["code"] == "UNTRUSTED_OWNER"

    def test_one_that_came_with_a_copy_is_ignored_and_reported(self) -> None:
        sim = folded()
        changed(sim, lambda body: body.update(home_id="hdfs:1"))
        report = run(sim.copy().client(), "history", "--table", FLAT)
        assert {row["run_id"] for row in only(report)["history"]} == {"r2"}
        (text,) = only(report)["warnings"]
        assert text.startswith("RECORD_OF_COPY: ")
        assert "came here with a copy" in text
        add_files(sim)
        assert compact(FLAT, "r3")(sim.client())["exit_code"] == 0

    def test_it_is_not_published_over_another_one(self) -> None:
        """A job that slept does not replace what its successor has published."""
        sim = folded()
        client = sim.client()
        with acting_as(client):
            store = SettledStore(client.fs, HOME, Trust(client.fs, None))
            before = store.read()
            with pytest.raises(FileExistsError):
                store.publish(SettledRecord("hdfs:1"), 0)
            assert store.read() == before

    def test_of_a_run_whose_directory_is_there_the_journal_counts(self) -> None:
        """A job published the record and died, or was fenced off, before it moved the directory away."""
        sim = recorded_and_present()
        client = sim.client()
        with acting_as(client):
            facts = client.metastore.table(TableName.parse(FLAT))
            found = TableRuns(client.fs, facts, sim.units(FLAT))
            assert found.settled(found.all()) == []
        before = answers(sim)
        compact(FLAT, "r2")(sim.client())
        assert answers(sim) == before
        assert present(sim, FLAT, OLD) == []

    def test_snapshots_of_a_run_whose_directory_is_there_stay(self) -> None:
        """Its journal would put them into the log again."""
        sim = recorded_and_present()
        before = answers(sim)
        (found,) = [each for each in runs_of(sim, [FLAT]) if each.run_id == "r1"]
        sim.tree.write(f"{found.directory}/__conflict_1772323100/flat/0/part-0.parquet", b"x", parents=True)
        compact(FLAT, "r2")(sim.client())
        assert present(sim, FLAT, OLD) == ["r1"]
        assert answers(sim) == before


def recorded_and_present() -> SimulatedCluster:
    """The record says that r0 and r1 are folded, and their directories are there."""
    sim = settled()
    done = sim.copy()
    compact(FLAT, "r2")(done.client())
    number = done.tree.find(RECORD)
    assert number is not None
    sim.tree.write(RECORD, done.tree.inodes[number].content, parents=True)
    return sim


def test_what_the_log_lacks_is_logged_before_its_journal_goes() -> None:
    sim = settled()
    before = history(sim)
    sim.tree.remove(f"{HOME}/log", recursive=True)
    assert [row["snapshot"] for row in history(sim)] == [None, None]
    compact(FLAT, "r2")(sim.client())
    known = [
        {**row, "snapshot": 0, "unlogged": False, "who": None}
        for row in history(sim)
        if row["run_id"] == "r1"
    ]
    assert known == [{**row, "snapshot": 0, "who": None} for row in before]


def test_what_was_moved_away_and_holds_other_files_is_kept_and_reported() -> None:
    sim = settled()
    moved = f"{HOME}/settled/r9.0123456789ab"
    sim.tree.write(f"{moved}/journal/000001.json", b"{}", parents=True)
    sim.tree.write(f"{moved}/__originals_1772323100/flat/part-0.parquet", b"x", parents=True)
    report = compact(FLAT, "r2")(sim.client())
    assert sim.tree.find(f"{moved}/journal/000001.json")
    (text,) = only(report)["warnings"]
    assert text.startswith("FOLDER_NOT_DELETED: ")
    assert "holds files that are no records" in text
    assert report["exit_code"] == 0


def changed(sim: SimulatedCluster, change: Callable[[dict[str, Any]], object]) -> None:
    number = sim.tree.find(RECORD)
    assert number is not None
    body = json.loads(gzip.decompress(sim.tree.inodes[number].content))
    change(body)
    sim.tree.change(number, content=gzip.compress(json.dumps(body).encode()))

"""`check` reports no damage because of what writers and DDL do to the table, also while it looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.rules.eligibility import Storage
from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.file_system import FileSystemError
from tests.crash import writers
from tests.crash.checked import check, findings
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import LIVE, clean_up, compact
from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_spark import ModelFooters
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_check_beside_jobs import damage
from tests.crash.test_check_sound import BOTH
from tests.crash.test_copied_tables import declare

PLACE = f"{WAREHOUSE}/events/k=a"
COLD = "s3a://bucket/events/k=cold"
_CHECK = ("check", "--table", FLAT)


@pytest.fixture
def done() -> SimulatedCluster:
    """Both tables are compacted."""
    sim = build()
    assert compact(sim.client(), BOTH)["exit_code"] == 0
    return sim


def _overwrite(place: str) -> Callable[[SimulatedCluster], None]:
    return lambda sim: writers.overwrite_by_recreation(sim, place, sim.ledger.fresh(3))


def _drop_table(sim: SimulatedCluster) -> None:
    sim.metastore.drop(TableName.parse(FLAT))
    sim.tree.remove(LIVE, recursive=True)


@pytest.mark.parametrize(
    ("words", "act"),
    [
        pytest.param(_CHECK, _overwrite(LIVE), id="overwrite"),
        pytest.param(("check", "--table", EVENTS), _overwrite(PLACE), id="overwrite partition"),
        pytest.param((*_CHECK, "--read-data"), _overwrite(LIVE), id="overwrite, rows"),
        pytest.param(
            ("check", "--table", EVENTS),
            lambda sim: writers.drop_partition(sim, EVENTS, "a"),
            id="drop partition",
        ),
        pytest.param(
            ("check", "--table", EVENTS),
            lambda sim: writers.drop_partition(sim, EVENTS, "a", delete_data=True),
            id="drop partition, purge",
        ),
        pytest.param(("check", "--database", "sales"), _drop_table, id="drop table"),
    ],
)
def test_an_act_at_any_call(
    done: SimulatedCluster, words: tuple[str, ...], act: Callable[[SimulatedCluster], None]
) -> None:
    client = done.copy().client()
    run(client, *words)
    for number in range(1, client.points + 1):
        sim = done.copy()
        looking = sim.client(Fault.hook(number, lambda sim=sim: act(sim)))  # type: ignore[misc]
        report = run(looking, *words)
        found = [f for table in report["tables"] for f in table.get("findings") or []]
        assert [each for each in found if each["severity"] == "damage"] == [], looking.trace[number - 1]
        assert report["exit_code"] == 0, (looking.trace[number - 1], report["tables"])


def test_a_directory_that_is_away_between_two_calls(done: SimulatedCluster) -> None:
    client = done.copy().client()
    run(client, *_CHECK)
    for number in range(1, client.points):
        sim = done.copy()

        def delete(sim: SimulatedCluster = sim) -> None:
            sim.ledger.overwritten.update(sim.ledger.committed)
            sim.tree.remove(LIVE, recursive=True)

        def write(sim: SimulatedCluster = sim) -> None:
            writers.append(sim, LIVE, sim.ledger.fresh(3))

        looking = sim.client(Fault.hook(number, delete), Fault.hook(number + 1, write))
        assert damage(run(looking, *_CHECK)) == [], looking.trace[number - 1]


def test_a_directory_that_a_writer_is_replacing(done: SimulatedCluster) -> None:
    """An INSERT OVERWRITE has deleted the directory, and will rename its staging directory to it."""
    done.tree.remove(PLACE, recursive=True)
    done.tree.write(f"{WAREHOUSE}/events/.spark-staging-1/k=a/part-0", b"x", parents=True)
    (found,) = [each for each in findings(check(done, EVENTS)) if each["code"] == "LIVE_MISSING"]
    assert (found["severity"], found["command"]) == ("notice", None)


@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("empty_file", [False, True])
def test_an_overwrite_in_place_with_an_empty_result(cleaned: bool, empty_file: bool) -> None:
    sim = build()
    declare(sim, FLAT, "lakekeeper.writers", "overwrite")
    assert compact(sim.client())["exit_code"] == 0
    if cleaned:
        clean_up(sim)
    sim.tree.tick()
    for name, _ in sim.tree.files(LIVE):
        sim.tree.remove(f"{LIVE}/{name}")
    if empty_file:
        sim.tree.write(f"{LIVE}/000000_0", b"")
    assert damage(check(sim)) == []


def test_modification_times_that_a_tool_has_set(done: SimulatedCluster) -> None:
    """`hdfs dfs -touch`, or a mirror: the file ids are the same."""
    for _, inode in done.tree.files(LIVE):
        object.__setattr__(inode, "mtime", inode.mtime + 1000)
    (found,) = [each for each in findings(check(done)) if each["code"] == "LIVE_CHANGED"]
    assert found["severity"] == "notice"


def test_a_table_that_got_another_format_for_new_partitions(
    done: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ALTER TABLE SET FILEFORMAT: partitions keep theirs."""
    name = TableName.parse(EVENTS)
    known = done.metastore.get(name)
    orc = "org.apache.hadoop.hive.ql.io.orc"
    storage = Storage(known.facts.storage.location, f"{orc}.OrcInputFormat", f"{orc}.OrcSerde")
    done.metastore.put(name, replace(known, facts=replace(known.facts, storage=storage)))
    original = ModelFooters.read

    def read(self: ModelFooters, directories: list[Any], file_format: str) -> object:
        if file_format != "parquet":
            raise OSError(f"Malformed ORC file {directories[0][0]}. Invalid postscript.")
        return original(self, directories, file_format)

    monkeypatch.setattr(ModelFooters, "read", read)
    assert damage(check(done, EVENTS)) == []


def test_a_clone_of_a_backup_table(done: SimulatedCluster) -> None:
    """CREATE TABLE LIKE copies the properties; the clone is a user's."""
    for backup in [each for each in done.metastore.databases["sales"] if each.startswith("__")]:
        known = done.metastore.get(TableName("sales", backup))
        place = f"{WAREHOUSE}/{backup}_mine"
        facts = replace(
            known.facts, name=f"sales.{backup}_mine", storage=replace(known.facts.storage, location=place)
        )
        done.tree.make_dirs(place)
        done.metastore.put(TableName("sales", f"{backup}_mine"), replace(known, facts=facts, partitions={}))
    assert damage(check(done, BOTH)) == []


class TestObjectStore:
    """A partition was moved to an object store. All others are on HDFS, and the jobs work on them."""

    @pytest.fixture(params=["connector", "no connector"])
    def sim(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SimulatedCluster:
        for operation in ("list", "identity", "status"):
            self.refuse(monkeypatch, operation, works=request.param == "connector")
        return build()

    def refuse(self, monkeypatch: pytest.MonkeyPatch, operation: str, works: bool) -> None:
        original = getattr(ModelFileSystem, operation)

        def call(fs: ModelFileSystem, path: str) -> object:
            if not path.startswith("s3a:"):
                return original(fs, path)
            if not works:
                raise FileSystemError(f'cannot read {path}: No FileSystem for scheme "s3a"')
            if operation == "identity":
                raise LakekeeperError(f"{path}: this file system gives directories no identity")
            if operation == "list":
                raise FileNotFoundError(path)
            return None

        monkeypatch.setattr(ModelFileSystem, operation, call)

    def tier(self, sim: SimulatedCluster) -> None:
        name = TableName.parse(EVENTS)
        known = sim.metastore.get(name)
        sim.metastore.put(name, replace(known, partitions={**known.partitions, (("k", "cold"),): COLD}))

    def test_a_check_is_silent(self, sim: SimulatedCluster) -> None:
        self.tier(sim)
        report = check(sim, EVENTS)
        assert (findings(report), report["exit_code"]) == ([], 0)

    @pytest.mark.parametrize("verb", ["compact", "analyze", "history", "cleanup"])
    def test_the_other_partitions_are_worked_on(self, sim: SimulatedCluster, verb: str) -> None:
        self.tier(sim)
        report = run(sim.client(), verb, "--table", EVENTS)
        (table,) = report["tables"]
        assert (report["exit_code"], table["reason"] if report["exit_code"] else None) == (0, None)

    def test_a_cleanup_after_a_partition_was_dropped(self, sim: SimulatedCluster) -> None:
        assert compact(sim.client(), EVENTS)["exit_code"] == 0
        self.tier(sim)
        writers.drop_partition(sim, EVENTS, "b", delete_data=True)
        report = clean_up(sim, EVENTS)
        assert (report["exit_code"], {unit["outcome"] for unit in report["tables"][0]["units"]}) == (
            0,
            {"cleaned"},
        )

"""Accounts, trash and quotas: the message names what an administrator does, and that ends it."""

from __future__ import annotations

import re

import pytest

from spark_jobs.protocol.file_system import FileSystemError
from tests.crash import writers
from tests.crash.exits import CLEAN, ROLL, ask, compacted, drop, must_end, reasons, twice
from tests.crash.explorer import runs_of
from tests.crash.flat_table import HOME, LIVE, only
from tests.crash.model_fs import TRASH, ModelFileSystem
from tests.crash.model_tree import ME
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, build
from tests.crash.settled import folded
from tests.crash.simulated_cluster import SimulatedCluster

TRASHED = ("cleanup", "--table", FLAT, "--older-than", "0s")
CHOWN = re.compile(r"hdfs dfs -chown (-R )?(\S+) '([^']+)'")


def change(sim: SimulatedCluster, path: str, owner: str, recursive: bool = False) -> None:
    """`hdfs dfs -chown`; a umask of 022."""
    names = [name for name, _, _ in sim.tree.walk(path)] if recursive else []
    for number in {sim.tree.find(name) for name in [path, *names]}:
        assert number is not None
        sim.tree.change(number, owner=owner, mode=0o755)


def do_chown(sim: SimulatedCluster, text: str) -> None:
    found = CHOWN.search(text)
    assert found, text
    assert found[2] == ME
    change(sim, found[3], found[2], recursive=bool(found[1]))


@pytest.mark.parametrize("words", [CLEAN, ROLL], ids=["cleanup", "rollback"])
class TestAccountThatWasChanged:
    def test_the_directory_of_a_run_is_given_to_the_new_one(self, words: tuple[str, ...]) -> None:
        sim = compacted()
        (found,) = runs_of(sim, [FLAT])
        change(sim, found.directory, "etl", recursive=True)
        assert "--trusted-owners" in twice(sim, *words)
        do_chown(sim, twice(sim, *words, "--trusted-owners", "etl"))
        must_end(sim, *words)
        assert check(sim) == []

    def test_the_home_is_given_to_the_new_one(self, words: tuple[str, ...]) -> None:
        sim = compacted()
        change(sim, HOME, "etl")
        text = twice(sim, *words)
        assert "run the job as that account" in text
        do_chown(sim, text)
        must_end(sim, *words)
        assert check(sim) == []


def test_a_directory_of_its_own_that_is_read_only_is_not_to_be_given_to_itself() -> None:
    sim = compacted()
    chmod(sim, HOME, 0o555)
    assert "chown" not in twice(sim, *CLEAN)


class TestCheck:
    """It advises to move away no directory of which a job needs only to know whose it is."""

    def test_a_record_of_settled_runs_that_others_may_change_is_closed_to_them(self) -> None:
        sim = folded()
        place = f"{HOME}/settled"
        chmod(sim, place, 0o777)
        assert command_of(sim, "JOURNAL_UNREADABLE", FLAT) == f"hdfs dfs -chmod go-w '{place}'"
        chmod(sim, place, 0o755)
        must_end(sim, "check", "--table", FLAT)

    def test_a_run_that_others_may_change_is_closed_to_them(self) -> None:
        sim = compacted()
        (found,) = runs_of(sim, [FLAT])
        chmod(sim, found.directory, 0o777)
        assert command_of(sim, "JOURNAL_UNREADABLE", FLAT) == f"hdfs dfs -chmod go-w '{found.directory}'"

    def test_the_owner_of_a_partition_outside_the_root_is_to_be_trusted(self) -> None:
        sim = compacted(EVENTS)
        change(sim, writers.location_of(sim, EVENTS, "c"), "etl")
        assert command_of(sim, "JOURNAL_UNREADABLE", EVENTS).startswith("--trusted-owners etl,")
        must_end(sim, "check", "--table", EVENTS, "--trusted-owners", "etl")


def chmod(sim: SimulatedCluster, path: str, mode: int) -> None:
    number = sim.tree.find(path)
    assert number is not None
    sim.tree.change(number, mode=mode)


def command_of(sim: SimulatedCluster, code: str, table: str) -> str:
    """The command of the one finding that has this code."""
    twice(sim, "check", "--table", table)
    findings = only(ask(sim, "check", "--table", table))["findings"]
    (command,) = [finding["command"] for finding in findings if finding["code"] == code]
    return str(command)


class TestTrash:
    """The home of the account, in which its trash would be, cannot be made."""

    @pytest.fixture
    def no_trash(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def trash(self: ModelFileSystem, path: str) -> bool:
            raise FileSystemError(
                f"Failed to move to trash: {path}: Permission denied: access=WRITE, inode=/user"
            )

        monkeypatch.setattr(ModelFileSystem, "trash", trash)

    @pytest.fixture
    def text(self, monkeypatch: pytest.MonkeyPatch, sim: SimulatedCluster, no_trash: None) -> str:
        """What a cleanup says of it twice."""
        said = twice(sim, *TRASHED)
        monkeypatch.undo()
        return said

    @pytest.fixture
    def sim(self) -> SimulatedCluster:
        return compacted()

    def test_of_a_dropped_table_names_no_rollback(self, sim: SimulatedCluster, no_trash: None) -> None:
        drop(sim)
        text = twice(sim, "cleanup", "--location", LIVE, "--older-than", "0s")
        assert ("--skip-trash" in text, "rollback" in text) == (True, False)
        must_end(sim, "cleanup", "--location", LIVE, *CLEAN[3:])

    def test_it_is_made(self, sim: SimulatedCluster, text: str) -> None:
        assert f"hdfs dfs -mkdir -p /user/{ME}" in text
        assert f"hdfs dfs -chown {ME} /user/{ME}" in text
        must_end(sim, *TRASHED)
        assert sim.tree.find(TRASH) is not None

    def test_the_trash_is_not_used(self, sim: SimulatedCluster, text: str) -> None:
        assert "--skip-trash" in text
        must_end(sim, *CLEAN)

    def test_the_run_is_rolled_back(self, sim: SimulatedCluster, text: str) -> None:
        assert f"`lakekeeper rollback --table {FLAT} --run-id r1`" in text
        must_end(sim, *ROLL, "--run-id", "r1")
        assert check(sim) == []


@pytest.mark.parametrize(
    ("said", "command"),
    [
        (
            "The NameSpace quota (directories and files) of directory /warehouse is exceeded: quota=9 file count=10",
            "hdfs dfsadmin -setQuota <files and directories> /warehouse",
        ),
        (
            "The DiskSpace quota of /warehouse is exceeded: quota = 9 B = 9 B but diskspace consumed = 10 B = 10 B",
            "hdfs dfsadmin -setSpaceQuota <bytes> /warehouse",
        ),
    ],
)
def test_a_quota_that_is_used_up_is_raised(monkeypatch: pytest.MonkeyPatch, said: str, command: str) -> None:
    sim = compacted()

    def create(self: ModelFileSystem, path: str, data: bytes) -> None:
        raise OSError(f"cannot create {path}: {said}")

    with monkeypatch.context() as full:
        full.setattr(ModelFileSystem, "create", create)
        assert command in twice(sim, *CLEAN)
    must_end(sim, *CLEAN)


class TestDroppedTable:
    @pytest.mark.parametrize("verb", ["cleanup", "rollback", "forget", "history", "check"])
    def test_its_originals_are_cleaned_up_by_its_location(self, verb: str) -> None:
        sim = compacted()
        drop(sim)
        more = {"cleanup": CLEAN[3:], "forget": ("--run-id", "r1")}.get(verb, ())
        assert "`lakekeeper cleanup --location URI`" in twice(sim, verb, "--table", FLAT, *more)
        must_end(sim, "cleanup", "--location", LIVE, *CLEAN[3:])

    def test_is_created_again_to_be_rolled_back(self) -> None:
        sim = compacted()
        drop(sim)
        assert "create it again at its location" in twice(sim, *ROLL)
        writers.create_table(sim, FLAT, LIVE)
        must_end(sim, *ROLL)
        assert check(sim) == []

    def test_a_compaction_names_no_command_that_deletes(self) -> None:
        sim = build()
        assert "cleanup" not in reasons(ask(sim, "compact", "--table", "sales.misspelled"))

"""The model itself: what it is trusted for must be seen to hold, or the crash tests prove nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spark_jobs.adapters.hadoop.metastore import MetastoreError
from spark_jobs.core.values.attributes import Attributes
from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.protocol.file_system import FileSystemError
from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed
from tests.crash.model_fs import TRASH
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import journaled_rows
from tests.crash.scenario import EVENTS, FLAT, build
from tests.crash.simulated_cluster import SimulatedCluster

A, B = f"{AUTHORITY}/a", f"{AUTHORITY}/b"
BACKUP = TableName("sales", "__bkp_events")


class TestFileSystem:
    def test_rename_refuses_even_an_empty_directory(self, sim: SimulatedCluster) -> None:
        with pytest.raises(FileExistsError):
            sim.client().fs.rename(A, B)

    def test_rename_makes_no_parents_and_does_not_nest_in_itself(self, sim: SimulatedCluster) -> None:
        fs = sim.client().fs
        for source, target, error in [
            (A, f"{AUTHORITY}/none/a", FileNotFoundError),
            (f"{AUTHORITY}/none", f"{AUTHORITY}/x", FileNotFoundError),
            (A, f"{A}/deeper", FileSystemError),
            (A, f"{A}/{writers.file_name([1])}/x", NotADirectoryError),
            (B, f"{A}/{writers.file_name([1])}/x", NotADirectoryError),
        ]:
            with pytest.raises(error):
                fs.rename(source, target)

    def test_raw_rename_nests_and_calls_it_success(self, sim: SimulatedCluster) -> None:
        fs = sim.client().fs
        identity = fs.identity(A)
        assert fs.raw_rename(A, B) is True
        assert fs.identity(f"{B}/a") == identity
        assert fs.raw_rename(A, f"{AUTHORITY}/c") is False

    def test_identity_survives_a_rename_and_is_never_given_again(self, sim: SimulatedCluster) -> None:
        fs = sim.client().fs
        before = fs.identity(A)
        fs.rename(A, f"{B}/a")
        assert (fs.identity(f"{B}/a"), fs.identity(A)) == (before, None)
        fs.delete_tree(f"{B}/a")
        fs.mkdirs(A)
        assert fs.identity(A) != before

    def test_an_open_file_follows_its_directory(self, sim: SimulatedCluster) -> None:
        fs = sim.client().fs
        writer = writers.open_append(sim, A, sim.ledger.fresh(1))
        name = writers.file_name([4], "s")
        assert fs.open_files(A, [name, writers.file_name([1])]) == [name]
        fs.rename(A, f"{B}/a")
        assert [s.length for s in fs.list(f"{B}/a") if s.name == name] == [0]
        writer.flush()
        assert all(s.length for s in fs.list(f"{B}/a"))
        assert writer.close()
        assert fs.open_files(f"{B}/a", [name]) == []
        assert sim.ledger.due == {1, 2, 3, 4}

    def test_the_writer_of_a_deleted_file_commits_nothing(self, sim: SimulatedCluster) -> None:
        writer = writers.open_append(sim, A, sim.ledger.fresh(1))
        sim.client().fs.delete_tree(A)
        assert not writer.close()
        assert 4 not in sim.ledger.committed

    def test_only_writers_and_replace_make_parents(self, sim: SimulatedCluster) -> None:
        fs = sim.client().fs
        with pytest.raises(FileNotFoundError):
            fs.create(f"{AUTHORITY}/new/file", b"x")
        fs.replace(f"{AUTHORITY}/new/file", b"x")
        writers.append(sim, f"{AUTHORITY}/newer", sim.ledger.fresh(1))
        assert fs.read(f"{AUTHORITY}/new/file") == b"x"
        with pytest.raises(FileExistsError):
            fs.create(f"{AUTHORITY}/new/file", b"y")

    def test_trash_keeps_the_path_and_every_version(self, sim: SimulatedCluster) -> None:
        fs = sim.client().fs
        assert fs.trash(A)
        writers.append(sim, A, sim.ledger.fresh(1))
        assert fs.trash(A)
        assert len(fs.list(TRASH)) == 2
        sim.tree.trash_on = False
        assert not fs.trash_enabled(B)
        assert not fs.trash(B)

    def test_a_directory_s_time_tells_of_names_and_not_of_contents(self, sim: SimulatedCluster) -> None:
        def time() -> int:
            inode = sim.tree.get(A)
            assert inode is not None
            return inode.mtime

        seen = [time()]
        writer = writers.open_append(sim, A, sim.ledger.fresh(1))
        seen.append(time())
        writer.close()
        seen.append(time())
        sim.client().fs.rename(f"{A}/{writers.file_name([1])}", f"{B}/x")
        seen.append(time())
        assert seen[0] < seen[1] == seen[2] < seen[3]

    def test_what_is_read_only_can_be_read_only(self, sim: SimulatedCluster) -> None:
        sim.tree.readonly = frozenset({A})
        fs = sim.client().fs
        acts: list[Callable[[], object]] = [
            lambda: fs.create(f"{A}/x", b""),
            lambda: fs.mkdirs(f"{A}/x/y"),
            lambda: fs.rename(B, f"{A}/b"),
            lambda: fs.delete_tree(A),
        ]
        for act in acts:
            with pytest.raises(PermissionError):
                act()
        assert [lack.kind for lack in fs.set_attributes(A, Attributes(0o700))] == ["mode"]
        assert len(fs.list(A)) == 1

    def test_deleting_as_hadoop_does(self, sim: SimulatedCluster) -> None:
        fs = sim.client().fs
        assert fs.delete_empty(B)
        assert not fs.delete_empty(A)
        assert not fs.delete_empty(B)
        fs.delete_file(f"{A}/none")
        with pytest.raises(FileNotFoundError):
            fs.list(B)
        assert fs.status(B) is None


class TestFaults:
    def test_the_dead_do_nothing_more(self, sim: SimulatedCluster) -> None:
        client = sim.client(Fault.crash_before(2))
        client.fs.mkdirs(f"{B}/1")
        digest = sim.digest()
        for _ in range(2):
            with pytest.raises(Killed):
                client.fs.mkdirs(f"{B}/2")
        with pytest.raises(Killed):
            client.metastore.table_exists(TableName.parse(EVENTS))
        with pytest.raises(Killed):
            client.clock.sleep(1)
        assert (sim.digest(), client.state) == (digest, "killed")

    def test_a_crash_after_a_call_leaves_its_effect(self, sim: SimulatedCluster) -> None:
        client = sim.client(Fault.crash_after(lambda point: point.op == "mkdirs"))
        with pytest.raises(Killed):
            client.fs.mkdirs(f"{B}/1")
        assert sim.tree.find(f"{B}/1")

    @pytest.mark.parametrize(
        ("fault", "moved"), [(Fault.error_before(1), False), (Fault.error_after(1), True)]
    )
    def test_an_error_happens_once_with_or_without_the_effect(
        self, sim: SimulatedCluster, fault: Fault, moved: bool
    ) -> None:
        fs = sim.client(fault).fs
        with pytest.raises(FileSystemError):
            fs.rename(A, f"{B}/a")
        assert (fs.identity(A) is None) is moved

    def test_an_error_of_the_metastore_is_its_own(self, sim: SimulatedCluster) -> None:
        with pytest.raises(MetastoreError):
            sim.client(Fault.error_before(1)).metastore.tables("default")

    def test_a_move_tells_a_lost_answer_from_a_failure(self, sim: SimulatedCluster) -> None:
        fs = sim.client(Fault.error_after(2)).fs
        fs.move(A, f"{B}/a", fs.identity(A) or "")
        assert fs.identity(A) is None

    def test_a_death_while_writing_leaves_an_open_file(self, sim: SimulatedCluster) -> None:
        client = sim.client(Fault.crash_before(2))
        with pytest.raises(Killed):
            client.fs.create(f"{B}/x", b"data")
        assert sim.client().fs.open_files(B, ["x"]) == ["x"]

    def test_an_error_while_writing_closes_it(self, sim: SimulatedCluster) -> None:
        client = sim.client(Fault.error_before(2))
        with pytest.raises(FileSystemError):
            client.fs.create(f"{B}/x", b"data")
        assert client.fs.open_files(B, ["x"]) == []
        assert client.fs.read(f"{B}/x") == b""

    def test_a_hook_acts_in_between_and_does_not_count(self, sim: SimulatedCluster) -> None:
        other = sim.client()
        client = sim.client(Fault.hook(1, lambda: other.fs.rename(A, f"{B}/a"), paused=True))
        assert client.fs.identity(A) is None
        assert (client.points, other.points, client.state) == (1, 1, "alive")

    def test_an_observer_sees_both_sides_of_each_call(self, sim: SimulatedCluster) -> None:
        seen: list[tuple[int, str, bool]] = []
        client = sim.client(
            observer=lambda number, phase, now: seen.append((number, phase, now.tree.find(A) is None))
        )
        client.fs.rename(A, f"{B}/a")
        assert seen == [(1, "before", False), (1, "after", True)]


class TestMetastore:
    def test_registering_makes_missing_directories(self) -> None:
        sim = build()
        metastore = sim.client().metastore
        facts = metastore.table(TableName.parse(EVENTS))
        unit = Unit((("k", "a"),), f"{AUTHORITY}/warehouse/events/k=a")
        metastore.create_backup(BACKUP, facts, "r", f"{AUTHORITY}/old", [(unit, f"{AUTHORITY}/old/k=a")])
        assert sim.tree.find(f"{AUTHORITY}/old/k=a")
        assert metastore.table(BACKUP).partition_types == ("string",)
        assert metastore.backup_tables("r", "sales", EVENTS) == [BACKUP]

    def test_dropping_a_backup_spares_its_files_and_whatever_is_not_ours(self) -> None:
        sim = build()
        metastore = sim.client().metastore
        facts = metastore.table(TableName.parse(FLAT))
        metastore.create_backup(BACKUP, facts, "r", f"{AUTHORITY}/old", [])
        with pytest.raises(MetastoreError):
            metastore.drop_backup(BACKUP, "another", FLAT)
        with pytest.raises(MetastoreError):
            metastore.drop_backup(TableName.parse(FLAT), "r", FLAT)
        assert metastore.drop_backup(BACKUP, "r", FLAT)
        assert not metastore.drop_backup(BACKUP, "r", FLAT)
        assert sim.tree.find(f"{AUTHORITY}/old")

    def test_msck_finds_what_is_visible_and_nothing_else(self) -> None:
        sim = build()
        root = f"{AUTHORITY}/warehouse/events"
        rows = sim.ledger.fresh(5)
        for row, folder in zip(rows, ("k=d", ".k=e", "_k=f", ".lakekeeper/x/k=g", "j=h"), strict=True):
            writers.append(sim, f"{root}/{folder}", [row])
        writers.msck(sim, EVENTS)
        assert [unit.spec[0][1] for unit in sim.units(EVENTS)] == ["a", "b", "c", "d"]
        assert journaled_rows(sim) == {rows[3]}

    def test_discovery_drops_what_is_missing(self) -> None:
        sim = build()
        sim.tree.rename(f"{AUTHORITY}/warehouse/events/k=a", f"{AUTHORITY}/aside")
        writers.msck(sim, EVENTS)
        assert len(sim.units(EVENTS)) == 3
        writers.msck(sim, EVENTS, sync=True)
        assert len(sim.units(EVENTS)) == 2

"""Servers that die in the middle of a run, and open files of other writers"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from tests.cluster.cluster import Cluster
from tests.cluster.superuser import Superuser
from tests.cluster.tables import FILES, ROWS, SmallFiles
from tests.spark.meanwhile import before_rewrites
from tests.spark.toolbox import Jobs, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: (source, target) of a rename, and the live directory: is this the moment?
Moment = Callable[[str, str, str], bool]

MOMENTS: dict[str, Moment] = {
    "as the originals leave": lambda source, _, live: source == live,
    "between the two renames": lambda _, target, live: target == live,
    "as the swap is recorded": lambda _, target, __: target.endswith("/journal/000004.json"),
}


@pytest.fixture
def table(spark: SparkSession, superuser: Superuser, folder: str) -> SmallFiles:
    return SmallFiles(spark, superuser, f"{folder}/flat", flat=True)


class Interruption:
    """Something that happens right before the first rename of a kind."""

    def __init__(self, live: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._live = live
        self._waiting: list[tuple[Moment, Callable[[], None]]] = []
        rename = HadoopFileSystem.rename

        def renamed(fs: HadoopFileSystem, source: str, target: str) -> None:
            self._look(source, target)
            rename(fs, source, target)

        monkeypatch.setattr(HadoopFileSystem, "rename", renamed)

    def at(self, moment: str, act: Callable[[], None]) -> None:
        self._waiting = [(MOMENTS[moment], act)]

    def _look(self, source: str, target: str) -> None:
        if self._waiting and self._waiting[0][0](source, target, self._live):
            self._waiting.pop()[1]()

    @property
    def happened(self) -> bool:
        return not self._waiting


@pytest.fixture
def interruption(monkeypatch: pytest.MonkeyPatch, table: SmallFiles) -> Interruption:
    return Interruption(table.root, monkeypatch)


@pytest.fixture
def whole(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster, which is whole again afterwards, whatever a test has done to it."""
    yield cluster
    cluster.hdfs.repair()


def settled(jobs: Jobs, table: SmallFiles, rows: object) -> None:
    """Another job leaves one file, no row less or more, and nothing unfinished."""
    report = only(jobs("compact", "--table", table.name))
    assert report["outcome"] in ("done", "nothing")
    assert (len(table.files()), table.rows()) == (1, rows)
    assert only(jobs("analyze", "--table", table.name))["warnings"] == []


@pytest.mark.parametrize("comes_back", [True, False], ids=["and comes back", "and stays away"])
@pytest.mark.parametrize(
    "moment", ["between the two renames", pytest.param("as the swap is recorded", marks=pytest.mark.full)]
)
def test_a_namenode_is_killed_and_whatever_the_job_says_the_next_one_settles_it(
    jobs: Jobs, table: SmallFiles, whole: Cluster, interruption: Interruption, moment: str, comes_back: bool
) -> None:
    rows, before = table.rows(), table.tree()
    interruption.at(moment, whole.hdfs.restart_namenode if comes_back else whole.hdfs.namenode.kill)
    report = jobs("compact", "--table", table.name)
    assert interruption.happened
    if not comes_back:
        assert report["exit_code"] != 0
        assert "Connection refused" in str(report["tables"])
    whole.hdfs.repair()
    settled(jobs, table, rows)
    assert outcomes(jobs("rollback", "--table", table.name)) == ["restored"]
    assert table.tree() == before


@pytest.mark.parametrize("comes_back", [True, False], ids=["and comes back", "and stays away"])
def test_a_datanode_that_is_killed_before_the_files_are_written_loses_nothing(
    jobs: Jobs, table: SmallFiles, whole: Cluster, monkeypatch: pytest.MonkeyPatch, comes_back: bool
) -> None:
    rows, before = table.rows(), table.tree()
    states: list[bool] = []

    def kill(_: object) -> None:
        whole.hdfs.datanode.kill()
        if comes_back:
            whole.hdfs.revive()
        states.append(whole.hdfs.is_whole())

    before_rewrites(monkeypatch, kill)
    report = jobs("compact", "--table", table.name)
    monkeypatch.undo()
    assert states == [comes_back]
    whole.hdfs.repair()
    if not comes_back:
        assert report["exit_code"] == 1
        assert table.tree() == before
    settled(jobs, table, rows)


def test_a_file_that_somebody_else_is_writing_keeps_its_directory_where_it_is(
    jobs: Jobs, superuser: Superuser, table: SmallFiles
) -> None:
    content, before = superuser.read(table.files()[0]), table.tree()
    stream = superuser.another("loader").create(superuser.path(f"{table.root}/part-of-loader.parquet"), False)
    stream.write(content)
    report = only(jobs("compact", "--table", table.name))
    assert (report["outcome"], report["code"]) == ("refused", "ACTIVE_WRITER")
    assert "part-of-loader.parquet is being written" in report["reason"]
    stream.close()
    assert {path: found for path, found in table.tree().items() if path in before} == before
    rows = table.rows()
    assert sum(rows.values()) > ROWS
    settled(jobs, table, rows)


@pytest.mark.parametrize("moment", ["as the originals leave", "between the two renames"])
def test_a_file_that_somebody_else_writes_during_the_swap_ends_up_in_the_table(
    jobs: Jobs, superuser: Superuser, table: SmallFiles, interruption: Interruption, moment: str
) -> None:
    content = superuser.read(table.files()[0])
    loader = superuser.another("loader")

    def append() -> None:
        superuser.make(table.root, "777")
        stream = loader.create(superuser.path(f"{table.root}/part-of-loader.parquet"), False)
        stream.write(content)
        stream.close()

    interruption.at(moment, append)
    report = jobs("compact", "--table", table.name, request={"arguments": {"writers": "append"}})
    assert (outcomes(report), interruption.happened) == (["compacted"], True)
    assert sum(table.rows().values()) == ROWS + ROWS // FILES
    assert len(table.files()) == 2

"""The metastore is killed while a job runs, or does not run when the job begins, and is started again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from demo.services.metastore import answers
from tests.cluster.cluster import Cluster
from tests.cluster.registered import Registered
from tests.cluster.superuser import Superuser
from tests.spark.meanwhile import Killed, after_moves, before_rewrites, never_settles
from tests.spark.toolbox import Jobs, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERBS = ("analyze", "compact", "rollback", "cleanup")


@pytest.fixture
def metastore(cluster: Cluster) -> Iterator[Any]:
    """The cluster's own; whatever the test did to it, the next one finds it running."""
    yield cluster.metastore
    if not answers(cluster.metastore.port):
        cluster.metastore.start()


_KILLING = threading.Lock()


def _kill(metastore: Any) -> None:
    """Two units may come to the same point at the same time: the second finds the metastore dead."""
    with _KILLING:
        metastore.kill()


def _data(superuser: Superuser, folder: str) -> dict[str, tuple[int, int, int]]:
    """path -> (fileId, length, mtime) of the visible files."""
    return {
        path: seen for path, seen in superuser.tree(folder).items() if path.rsplit("/", 1)[1][:5] == "part-"
    }


def _in_the_gap(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Right after the first of the two renames, live -> old."""
    after_moves(monkeypatch, lambda _, target: act() if "/__originals_" in target else None)


def _before_a_rewrite(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    before_rewrites(monkeypatch, lambda _: act())


@pytest.mark.parametrize(
    "kill_at",
    [
        pytest.param(_in_the_gap, id="between the renames", marks=pytest.mark.one_version),
        pytest.param(_before_a_rewrite, id="mid-run"),
    ],
)
def test_a_run_whose_metastore_was_killed_ends_well_but_for_a_warning(
    spark: SparkSession,
    jobs: Jobs,
    superuser: Superuser,
    metastore: Any,
    folder: str,
    pair: str,
    monkeypatch: pytest.MonkeyPatch,
    kill_at: Callable[[pytest.MonkeyPatch, Callable[[], object]], None],
) -> None:
    before, originals = rows(spark, pair), _data(superuser, folder)
    partitions = Registered(spark).partitions(pair)
    kill_at(monkeypatch, partial(_kill, metastore))
    report = jobs("compact", "--table", f"default.{pair}", "--run-id", "r1")
    monkeypatch.undo()
    assert not answers(metastore.port)
    assert (outcomes(report), report["exit_code"]) == (["compacted"] * 2, 0)
    assert only(report)["backup_table"] is None
    assert any(
        "the backup table could not be brought up to date" in text and metastore.uri in text
        for text in only(report)["warnings"]
    )

    metastore.start()
    assert rows(spark, pair) == before
    assert Registered(spark).partitions(pair) == partitions
    assert len(_data(superuser, folder)) == 2
    spark.sql(f"MSCK REPAIR TABLE {pair}")
    assert rows(spark, pair) == before
    assert outcomes(jobs("rollback", "--table", f"default.{pair}", "--run-id", "r1")) == ["restored"] * 2
    assert _data(superuser, folder) == originals
    assert Registered(spark).partitions(pair) == partitions


@pytest.mark.one_version
def test_a_driver_and_the_metastore_killed_in_the_gap_are_settled_once_it_is_back(
    spark: SparkSession,
    jobs: Jobs,
    superuser: Superuser,
    metastore: Any,
    folder: str,
    pair: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, originals = rows(spark, pair), _data(superuser, folder)

    def die() -> None:
        _kill(metastore)
        raise Killed

    _in_the_gap(monkeypatch, die)
    never_settles(monkeypatch)
    with pytest.raises(Killed):
        jobs("compact", "--table", f"default.{pair}", "--run-id", "r1")
    monkeypatch.undo()
    left = superuser.tree(folder)
    assert jobs("compact", "--table", f"default.{pair}", "--run-id", "r1")["exit_code"] == 1
    assert superuser.tree(folder) == left

    metastore.start()
    report = only(jobs("compact", "--table", f"default.{pair}", "--run-id", "r1"))
    assert (report["run_id"], [unit["outcome"] for unit in report["units"]]) == ("r1", ["compacted"] * 2)
    assert rows(spark, pair) == before
    assert rows(spark, report["backup_table"]) == before
    assert outcomes(jobs("rollback", "--table", f"default.{pair}", "--run-id", "r1")) == ["restored"] * 2
    assert _data(superuser, folder) == originals


def test_without_a_metastore_each_job_fails_by_its_name_and_touches_nothing(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, metastore: Any, folder: str, pair: str
) -> None:
    before, tree = rows(spark, pair), superuser.tree(folder)
    metastore.kill()
    for verb in VERBS:
        report = jobs(verb, "--table", f"default.{pair}")
        assert (report["outcome"], report["exit_code"]) == ("failed", 1)
        reason = only(report)["reason"]
        assert f"the Hive Metastore at {metastore.uri}" in reason
        assert "Connection refused" in reason
        assert len(reason.splitlines()) == 1
    whole = jobs("compact", "--database", "default")
    assert whole["exit_code"] == 1
    assert f"the Hive Metastore at {metastore.uri}" in whole["error"]
    assert superuser.tree(folder) == tree
    assert superuser.folders(f"{folder}/pair") == [f"{folder}/pair/p=a", f"{folder}/pair/p=b"]

    metastore.start()
    assert outcomes(jobs("compact", "--table", f"default.{pair}")) == ["compacted"] * 2
    assert rows(spark, pair) == before

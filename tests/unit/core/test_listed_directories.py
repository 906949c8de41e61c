"""Directories above tables: how long they are taken as they were listed."""

from __future__ import annotations

import pytest

from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.listed_directories import Directories, RecentDirectories

ABOVE, ROOT = "hdfs://n/warehouse", "hdfs://n/warehouse/t"


class Tree:
    """Counts its listings, and has one entry more each time."""

    def __init__(self) -> None:
        self.listed: list[str] = []
        self.seconds = 0.0

    def list(self, path: str) -> list[Status]:
        self.listed.append(path)
        return [Status(f"{path}/{number}", True, 0, 0) for number, _ in enumerate(self.listed)]


def test_tables_share_the_directory_above_them_for_a_minute() -> None:
    tree = Tree()
    recent = RecentDirectories(tree.list, lambda: tree.seconds)
    for seconds, entries in ((0.0, 1), (59.0, 1), (60.0, 2), (61.0, 2)):
        tree.seconds = seconds
        assert len(Directories(tree.list, recent, ROOT)(ABOVE).names) == entries
    assert tree.listed == [ABOVE, ABOVE]


def test_what_is_within_a_table_is_listed_for_each_plan() -> None:
    tree = Tree()
    recent = RecentDirectories(tree.list, lambda: tree.seconds)
    for _ in range(2):
        Directories(tree.list, recent, ROOT)(ROOT)
    assert tree.listed == [ROOT, ROOT]


def test_an_error_is_not_kept() -> None:
    def fail(_: str) -> list[Status]:
        raise OSError("no answer")

    recent = RecentDirectories(fail, lambda: 0.0)
    for _ in range(2):
        with pytest.raises(OSError, match="no answer"):
            recent(ABOVE)

"""Symbolic links of a local disk: how they are listed, and that no unit is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_jobs.adapters.hadoop.local_listing import list_locally
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.protocol.listed_directories import Directories
from spark_jobs.protocol.planning.access import check_no_link


@pytest.fixture
def folders() -> Directories:
    return Directories(lambda path: list_locally(path) or ())


def test_a_unit_that_is_a_link_is_refused(folders: Directories, tmp_path: Path) -> None:
    (tmp_path / "p=a").mkdir()
    (tmp_path / "p=b").symlink_to("p=a")
    check_no_link(folders, f"file:{tmp_path}/p=a")
    with pytest.raises(Refusal, match=r"SYMLINK: .*p=b is a symbolic link"):
        check_no_link(folders, f"file:{tmp_path}/p=b")


def test_a_directory_that_is_gone_is_no_link(folders: Directories, tmp_path: Path) -> None:
    check_no_link(folders, f"file:{tmp_path}/p=c")

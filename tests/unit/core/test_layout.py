"""Names and places of what is ours: homes, run folders, and the files that are carried."""

from __future__ import annotations

import pytest

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.values import layout
from spark_jobs.core.values.layout import Home
from spark_jobs.core.values.model import FileEntry


def test_homes_hide_behind_a_dot_and_keep_the_leaf_visible() -> None:
    inside = Home.of("hdfs://nn/w/t", "hdfs://nn/w/t/d=1/r=A")
    assert (inside.path, inside.relative("hdfs://nn/w/t/d=1/r=A")) == ("hdfs://nn/w/t/.lakekeeper", "d=1/r=A")
    flat = Home.of("hdfs://nn/w/t", "hdfs://nn/w/t")
    assert (flat.path, flat.relative("hdfs://nn/w/t")) == ("hdfs://nn/w/.lakekeeper-t", "t")
    beside = Home.of("hdfs://nn/w/t", "hdfs://nn/w/t2/d=1")
    assert (beside.path, beside.relative("hdfs://nn/w/t2/d=1")) == ("hdfs://nn/w/t2/.lakekeeper-d=1", "d=1")
    assert Home.of_table("hdfs://nn/w/t", partitioned=True) == inside
    assert Home.of_table("hdfs://nn/w/t", partitioned=False) == flat


def test_ancestors_end_at_the_root() -> None:
    assert layout.ancestors("/t/d=1/r=A", "/t") == ["/t/d=1", "/t"]
    assert layout.ancestors("/elsewhere/x", "/t") == ["/elsewhere"]


def test_no_directory_of_a_run_has_what_lakekeeper_0_0_6_takes_for_its_own() -> None:
    """Its cleanup and its rollback delete the location of each backup table that contains this."""
    folders = [
        getattr(layout, f"{kind}_directory")("1772323200")
        for kind in ("tmp", "old", "aside", "conflict", "claimed")
    ]
    assert not [folder for folder in folders if "__old_" in folder]


def test_run_ids_and_folders() -> None:
    assert layout.check_run_id("a-B_9") == "a-B_9"
    for bad in ("", "a:b", "a.b", "x" * 65, "a\n"):
        with pytest.raises(UsageError):
            layout.check_run_id(bad)
    assert layout.RunDirectory.parse("r1-g2.0123456789ab") == layout.RunDirectory("r1-g2", "0123456789ab")
    assert layout.RunDirectory.parse("lease-7") is None
    assert [layout.generation("r", n) for n in (1, 2)] == ["r", "r-g2"]


def test_carried_files_keep_their_tails() -> None:
    assert layout.fresh_name("part-0.c000.snappy.parquet", "ab") == "part-0-lkab.c000.snappy.parquet"
    assert layout.fresh_name("000000_0", "ab") == "000000_0-lkab"


@pytest.mark.parametrize("name", [".x.inprogress", "_part", "part-0.parquet"])
def test_carrying_a_file_makes_it_neither_visible_nor_hidden(name: str) -> None:
    carried = layout.fresh_name(name, "ab")
    assert carried != name
    assert FileEntry(carried, 1, 1).is_data == FileEntry(name, 1, 1).is_data


def test_files_of_a_group_are_known_by_their_names_and_others_are_not() -> None:
    named = layout.group_name("part-0.c000.snappy.parquet", 3)
    assert layout.group_number(named) == 3
    assert layout.group_number(layout.fresh_name(named, "0badcafe")) == 3
    for name in ("part-0.parquet", layout.fresh_name("part-0.parquet", "0badcafe"), "000000_0"):
        assert layout.group_number(name) is None

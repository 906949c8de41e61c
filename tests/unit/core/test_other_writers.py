"""What other writers keep in a table's directories, by name, length and age."""

from __future__ import annotations

import pytest

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.values.model import FileEntry
from spark_jobs.core.values.other_writers import WriterRules, is_staging, staging_names

DEAD_BEFORE, YOUNG, OLD = 1_000_000, 1_000_000, 999_999


def code(name: str, length: int = 7, mtime: int = YOUNG, rules: WriterRules | None = None) -> str | None:
    try:
        (rules or WriterRules(DEAD_BEFORE)).check_file(f"hdfs://nn/t/{name}", name, length, mtime)
    except Refusal as refusal:
        return refusal.code
    return None


#: As each writer names what it has still to rename or to fill.
PENDING = [
    ".part-0-0.inprogress.7d2c1f0e-1f0b-4d0a-9f61-1c5c3f2b8f3e",  # Flink's file sink, pending ones too
    "part-0-0.inprogress.7d2c1f0e",
    ".events-20260223.avro",  # NiFi's PutHDFS
    "FlumeData.1456789012345.tmp",  # Flume's HDFS sink
    ".x.tmp",
    "events.csv.filepart",
    "load.partial",
]


@pytest.mark.parametrize("name", PENDING)
def test_a_pending_file_is_a_writer_at_work_until_it_is_old(name: str) -> None:
    assert code(name) == "ACTIVE_WRITER"
    assert code(name, mtime=OLD) is None
    assert code(name, rules=WriterRules()) is None


@pytest.mark.parametrize(
    "name", ["_temporary", ".staging_1700000000", "+tmp", ".hive-staging_hive_2026", "_impala_insert_staging"]
)
def test_a_writers_folder_is_known_by_its_name(name: str) -> None:
    assert is_staging(name)


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("part-00000-7d2c.c000.snappy.parquet", 7),
        ("000000_0", 7),
        ("000000_0", 0),
        ("events.csv", 7),
        ("temp_2026.csv", 7),
        ("_SUCCESS", 0),
        ("_SUCCESS", 300),
        ("_READY", 0),
        ("a+b.csv", 7),
    ],
)
def test_what_is_finished_is_nothing_special(name: str, length: int) -> None:
    assert code(name, length) is None


@pytest.mark.parametrize("name", ["_metadata", "_common_metadata"])
def test_a_summary_describes_files_that_would_be_gone(name: str) -> None:
    assert code(name, mtime=OLD) == "PARQUET_SUMMARY"


def test_names_with_offsets_are_the_connectors_memory() -> None:
    name = "orders+3+0000001000+0000001999.parquet"
    assert code(name) == code(f".{name}", mtime=OLD) == "OFFSETS_IN_NAMES"
    assert code(name, rules=WriterRules(DEAD_BEFORE, offsets=True)) is None


@pytest.mark.parametrize(
    ("name", "length", "kind"),
    [
        ("_SUCCESS", 0, "flag"),
        ("_SUCCESS", 300, "kept"),
        (".x.inprogress", 0, "kept"),
        ("_READY", 0, "flag"),
        (".done", 0, "flag"),
        ("DONE", 0, "flag"),
        ("2026-02-23.ok", 0, "flag"),
        ("DONE", 3, "data"),
        ("part-00001", 0, "data"),
        ("000003_0", 0, "data"),
        ("x.parquet", 0, "data"),
        ("part-00001", 7, "data"),
        (".pig_schema", 90, "kept"),
        ("_READY", 3, "kept"),
        (".part-0-0.inprogress.x", 7, "kept"),
    ],
)
def test_each_file_is_one_of_three_kinds(name: str, length: int, kind: str) -> None:
    file = FileEntry(name, length, 1)
    kinds = {"data": file.is_data, "flag": file.is_flag, "kept": file.belongs_to_writer}
    assert [found for found, it_is in kinds.items() if it_is] == [kind]


@pytest.mark.parametrize(
    "name",
    ["_temporary", ".hive-staging_1", ".spark-staging-x", "_impala_insert_staging", "a._COPYING_", "_tmp.1"],
)
def test_writers_give_themselves_away(name: str) -> None:
    assert is_staging(name)


@pytest.mark.parametrize(
    "name", ["_SUCCESS", "part-0.parquet", ".lakekeeper", "temporary", "date=2026-02-23"]
)
def test_ordinary_names_are_no_staging(name: str) -> None:
    assert not is_staging(name)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([".stg", None], (".stg",)),
        (["/warehouse/tmp/.stage/", ".stage"], (".stage",)),
        (["", " ", "/", ".", ".."], ()),
    ],
)
def test_names_of_staging_directories_in_settings(values: list[str | None], names: tuple[str, ...]) -> None:
    assert staging_names(values) == names
    rules = WriterRules(staging=staging_names(values))
    assert rules.is_staging(".stg_hive_1-1", True) == (".stg" in names)
    assert not rules.is_staging(".stg_hive_1-1", False)
    assert not rules.is_staging("part-0", True)

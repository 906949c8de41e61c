"""Which files Arrow writes, by what is known of them before anything is read."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.adapters.spark.arrow.outputs import MOST_OUTPUTS, tasks_of
from spark_jobs.core.formats.arrow import MOST_FILES, VERSIONS, file_name, lack_of, obstacle
from spark_jobs.core.formats.encoding import Calendar, Encoding, Engine
from spark_jobs.core.formats.footers import Footer, Profile, profile
from spark_jobs.core.formats.verification import check_same_footers
from spark_jobs.core.messages.errors import VerificationFailed
from spark_jobs.core.rules.health import Thresholds
from spark_jobs.core.values.model import FileEntry, FileListing
from spark_jobs.protocol.planning.engine_choice import with_engine
from spark_jobs.protocol.planning.inspection import FileGroup, Inspection
from spark_jobs.protocol.ports import RewriteRequest

SPARK = {"org.apache.spark.version": "3.5.9"}


def _footer(name: str = "f", **more: Any) -> Footer:
    known = {
        "leaves": {"id": "int64"},
        "writer": SPARK,
        "schema": "message spark_schema {\n  required int64 id;\n}",
    }
    return Footer(**{"name": name, "rows": 1, "codecs": {"snappy": 1}, **known, **more})


def _profile(*footers: Footer) -> Profile:
    return profile(footers or (_footer(),), None, "parquet")


@pytest.mark.parametrize(
    ("kind", "taken"),
    [
        ("int64", True),
        ("int32 (DECIMAL(9,2))", True),
        ("fixed_len_byte_array(13) (DECIMAL(30,3))", True),
        ("binary (STRING)", True),
        ("repeated group", True),
        ("group (LIST)", True),
        ("int64 (TIMESTAMP(MICROS,true))", True),
        ("int32 (DATE) = 7", True),
        ("int96", False),
        ("binary (DECIMAL(9,2))", False),
        ("binary (JSON)", False),
        ("binary (ENUM)", False),
        ("fixed_len_byte_array(16) (UUID)", False),
        ("fixed_len_byte_array(12) (INTERVAL)", False),
        ("int64 (TIME(MICROS,true))", False),
        ("group (VARIANT(1))", False),
    ],
)
def test_types_outside_the_matrix_are_left_to_spark(kind: str, taken: bool) -> None:
    found = obstacle(_profile(_footer(leaves={"a": kind})), {})
    assert found == (None if taken else f"column 'a' is {kind}")


def test_what_files_do_not_have_in_common_is_left_to_spark() -> None:
    other = _footer("g", schema="message spark_schema {\n  optional int64 id;\n}")
    assert obstacle(_profile(_footer(), other), {}) == "the files have several schemas"
    assert obstacle(_profile(_footer(), _footer("g", writer={})), {}) == "the files have different metadata"


def test_codecs_bloom_filters_and_layouts_are_left_to_spark() -> None:
    assert obstacle(replace(_profile(), codec="lz4"), {}) == "Arrow does not write lz4 as Spark does"
    blooms = _profile(_footer(blooms=frozenset({"id"})))
    assert obstacle(blooms, {}) == "the files have Bloom filters"
    assert (
        obstacle(_profile(), {"parquet.page.size": "1"}) == "the table or the files ask for parquet.page.size"
    )


@pytest.mark.parametrize("writer", [{}, {"writer.model.name": "3.1.3"}])
def test_dates_of_an_unknown_calendar_are_left_to_spark(writer: dict[str, str]) -> None:
    """A later job takes files of Arrow for those of its calendar."""
    dated = _profile(_footer(leaves={"d": "int32 (DATE)"}, writer=writer))
    assert dated.calendar is Calendar.UNKNOWN
    assert obstacle(dated, {}) == "the files do not say which calendar their dates have"
    assert obstacle(_profile(_footer(writer=writer)), {}) is None


def test_one_version_of_pyarrow_and_a_known_one_is_needed() -> None:
    assert lack_of([f"{VERSIONS[0]}.0.0"]) is None
    assert lack_of([f"{VERSIONS[1]}.9.1"]) is None
    assert lack_of(["17.0.0"]) == "the executors have pyarrow 17.0.0, and not one of 18 to 26"
    assert lack_of(["20.0.0", "21.0.0"]) == "the executors have pyarrow of several versions: 20.0.0, 21.0.0"


@pytest.mark.parametrize(
    ("codec", "name"),
    [("snappy", "a.c000.snappy.parquet"), ("none", "a.c000.parquet"), ("gzip", "a.c000.gz.parquet")],
)
def test_files_are_named_as_spark_names_them(codec: str, name: str) -> None:
    assert file_name("a.c000.txt", codec) == name


def test_the_written_footers_are_those_of_the_originals() -> None:
    before = _profile()
    check_same_footers(before, [_footer(schema="message schema {\n  required int64 id;\n}")])
    with pytest.raises(VerificationFailed, match="the schema is"):
        check_same_footers(before, [_footer(schema="message schema {\n  optional int64 id;\n}")])
    with pytest.raises(VerificationFailed, match="or other values"):
        check_same_footers(before, [_footer(writer={"org.apache.spark.version": "4.0.0"})])


def _request(files: int, target_files: int = 1) -> RewriteRequest:
    listing = FileListing.of(FileEntry(f"f{number:05}", 100, 0) for number in range(files))
    return RewriteRequest("/d", listing, "parquet", "/t", target_files, 1 << 20, _profile())


def test_no_task_writes_two_files_of_one_unit() -> None:
    tasks = tasks_of([_request(9), _request(20, 3), _request(4)], slots=1)
    for task in tasks:
        units = [output.unit for output in task]
        assert len(units) == len(set(units))
    names = [file.name for task in tasks for output in task if output.unit == 1 for file in output.files]
    assert names == [f"f{number:05}" for number in range(20)]


def test_a_task_has_a_bounded_number_of_open_files() -> None:
    tasks = tasks_of([_request(2) for _ in range(300)], slots=2)
    assert sorted(output.unit for task in tasks for output in task) == list(range(300))
    assert max(map(len, tasks)) <= MOST_OUTPUTS
    assert len(tasks) < 40


def test_a_task_has_a_bounded_number_of_names() -> None:
    tasks = tasks_of([_request(30_000) for _ in range(3)], slots=1)
    assert sorted(output.unit for task in tasks for output in task) == [0, 1, 2]
    assert all(sum(len(output.files) for output in task) <= MOST_FILES for task in tasks)


class _Table:
    """A table plan, as far as the choice of the engine asks it."""

    file_format = "parquet"

    def __init__(self, **options: Any) -> None:
        known = {"engine": "arrow", "sort_columns": (), "thresholds": lambda: Thresholds(1 << 20, 1 << 18)}
        self.options = SimpleNamespace(**{**known, **options})
        self.facts = SimpleNamespace(properties={}, sorted_by=(), buckets=0)


def _group(*lengths: int) -> FileGroup:
    listing = FileListing.of(FileEntry(f"f{number}", length, 0) for number, length in enumerate(lengths))
    return FileGroup(listing, _profile(), Encoding())


def _chosen(inspection: Inspection, **options: Any) -> tuple[str, str | None]:
    chosen = with_engine(_Table(**options), inspection)  # type: ignore[arg-type]
    return chosen.engines, chosen.not_arrow


def test_large_files_sorted_rows_and_several_schemas_are_left_to_spark() -> None:
    small = Inspection((_group(10, 10),))
    assert _chosen(small) == ("arrow", None)
    assert _chosen(small, engine="spark") == ("spark", None)
    assert _chosen(Inspection((_group(10, 65 << 20),))) == ("spark", "it has a file of more than 64 MB")
    assert _chosen(small, sort_columns=("id",)) == ("spark", "its rows are sorted")
    several = Inspection((_group(10), _group(10)), several=True)
    assert _chosen(several) == ("spark", "its files are written in several parts")
    copied = Inspection((replace(_group(10), encoding=Encoding(Engine.COPY)),))
    assert _chosen(copied) == ("copy", "its records are copied")


def test_very_large_new_files_and_very_many_old_ones_are_left_to_spark() -> None:
    """The new file is in a worker's memory whole, and the names of the old ones are in one text."""
    large, many = Inspection((_group(*[60 << 20] * 10),)), Inspection((_group(*[1] * (MOST_FILES + 1)),))
    wide = {"thresholds": lambda: Thresholds(1 << 30, 1 << 18)}
    assert _chosen(large, thresholds=lambda: Thresholds(512 << 20, 1 << 18)) == ("arrow", None)
    assert _chosen(large, **wide) == ("spark", "its new files have more than 512 MB")
    assert _chosen(many, **wide) == ("spark", "more than 50000 files become one")

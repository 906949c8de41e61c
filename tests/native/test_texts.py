"""What the adapters make of the texts of a table: conditions, and the values in Paimon's table of files."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from spark_jobs.adapters.native import paimon, spark_format, statements
from tests.hostile import corpus

MB = 1024 * 1024


@pytest.mark.parametrize("text", corpus.TEXTS, ids=corpus.name_of)
def test_a_value_is_a_literal_of_a_condition_and_nothing_else(text: str) -> None:
    condition = statements.condition([(("k", text), ("d", None))], {"k": "string", "d": "date"})
    head, tail = "(`k` = '", "' AND `d` IS NULL)"
    assert condition.startswith(head)
    assert condition.endswith(tail)
    inside = condition[len(head) : -len(tail)]
    assert "'" not in inside.replace("\\\\", "").replace("\\'", "")
    assert "${" not in inside


@pytest.mark.parametrize(
    ("kind", "value", "literal"),
    [
        ("int", "7", "7"),
        ("bigint", "-7", "-7L"),
        ("date", "2026-02-23", "DATE '2026-02-23'"),
        ("string", "7", "'7'"),
    ],
)
def test_a_value_has_the_type_of_its_key(kind: str, value: str, literal: str) -> None:
    assert statements.condition([(("k", value),)], {"k": kind}) == f"(`k` = {literal})"


def test_a_time_is_one_instant_in_each_time_zone() -> None:
    at = datetime(2026, 2, 23, 1, tzinfo=timezone(timedelta(hours=2)))
    assert statements.timestamp(at) == "TIMESTAMP '2026-02-22 23:00:00+00:00'"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a, 20000]", (("k", "a"), ("d", "2024-10-04"))),
        ("[null, null]", (("k", None), ("d", None))),
        ("[, -1]", (("k", ""), ("d", "1969-12-31"))),
        ("[a, b, 20000]", None),
        ("[]", None),
        (None, None),
    ],
)
def test_the_values_of_a_partition_are_known_only_where_its_text_tells_them(text, found) -> None:
    assert paimon._values(text, {"k": "string", "d": "date"}) == found


@pytest.mark.parametrize(
    ("lengths", "number"), [([MB] * 40, 40), ([MB], 2), ([100 * MB] * 40, 2), ([80 * MB] * 300, 100), ([], 2)]
)
def test_one_task_of_the_procedure_has_all_small_files_of_a_unit(lengths, number) -> None:
    """At most 8 GB in each."""
    options = dict(each.split("=") for each in paimon._options(lengths, 128 * MB).split(","))
    assert options == {
        "compaction.min.file-num": str(number),
        "compaction.max.file-num": str(number),
        "target-file-size": f"{128 * MB} b",
        # Its commit expires no snapshot.
        "snapshot.num-retained.min": "2147483647",
        "snapshot.num-retained.max": "2147483647",
    }


@pytest.mark.parametrize(
    ("text", "clear"), [("[a, 7]", True), ("[null, 7]", False), ("[a, null]", True), ("[a, b, 7]", False)]
)
def test_a_string_null_is_not_told_from_no_value(text: str, clear: bool) -> None:
    assert paimon._is_clear(text, {"k": "string", "n": "int"}) is clear


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("hdfs://nn/warehouse/t", True),
        ("hdfs://NN/warehouse/t/", True),
        ("hdfs:/warehouse/t", True),
        ("/warehouse/t", True),
        ("hdfs://dr/warehouse/t", False),
        ("hdfs://nn/warehouse/t?x", False),
        ("hdfs://nn/warehouse/t2", False),
    ],
)
def test_a_directory_is_told_from_one_of_another_cluster(other: str, same: bool) -> None:
    assert spark_format.is_same_place(other, "hdfs://nn/warehouse/t") is same


@pytest.mark.parametrize("one", ["file:///ware house/t", "file:/ware%20house/t", "/ware house/t/"])
def test_a_location_may_be_written_with_escapes(one: str) -> None:
    assert spark_format.is_same_place(one, "file:/ware%20house/t")


def test_a_time_that_is_too_long_is_the_longest() -> None:
    assert statements.longest(2**63 - 1) == timedelta.max
    assert statements.longest(1000) == timedelta(seconds=1)

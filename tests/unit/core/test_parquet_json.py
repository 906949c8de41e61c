"""The footers of many Parquet files at once: what each file alone would say, added up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spark_jobs.core.formats.leaf_statistics import Bounds, LeafStatistics
from spark_jobs.core.formats.merged_footers import merged
from spark_jobs.core.formats.parquet_json import Reading, Row, parquet_footers
from spark_jobs.core.messages.errors import Refusal, Unreadable

JAVA = "parquet-mr version 1.13.1 (build db41)"
SCHEMA = "message m {\n  optional int64 id;\n  repeated binary s (STRING);\n}\n"
READING = Reading('{"type":"struct","fields":[]}')


def chunk(name: str, rows: int, statistics: str, **more: Any) -> dict[str, Any]:
    return {
        "path": f"[{name}]",
        "codec": "SNAPPY",
        "totalSize": 10 * rows,
        "valueCount": rows,
        "statistics": statistics,
        **more,
    }


def block(first: int, rows: int, **more: Any) -> dict[str, Any]:
    columns = [
        chunk("id", rows, f"min: {first}, max: {first + rows}, num_nulls: 1", **more),
        chunk("s", rows, "min: a, max: b, num_nulls: 0"),
    ]
    return {"rowCount": rows, "totalByteSize": 100 * rows, "columns": columns}


def row(name: str, *blocks: dict[str, Any], schema: str = SCHEMA, by: str = JAVA, **keys: str) -> Row:
    about = {"schema": schema, "createdBy": by, "keyValueMetaData": keys}
    return {"file": f"hdfs://nn/t/{name}", "parquetMetadata": {"fileMetaData": about, "blocks": [*blocks]}}


FILES = [
    row("a", block(5, 3)),
    row("b", block(1, 2), block(9, 4)),
    row("c", block(7, 3), key="value"),
    row("d", block(2, 8, bloomFilterOffset=4)),
    row("e"),
    row("f", block(0, 1), by="impala version 2.0"),
    row("g", block(3, 9), schema=SCHEMA.replace("int64", "int32")),
    row("h", block(6, 5, codec="ZSTD")),
    row("i", block(8, 2, bloomFilterOffset=4)),
    row("k", block(8, 2, bloomFilterOffset=4), block(8, 2)),
]


def test_files_of_one_kind_have_the_footer_that_their_own_footers_add_up_to() -> None:
    alone = [footer for each in FILES for footer in parquet_footers([(each, READING)])]
    assert [footer.names for footer in alone] == [(name,) for name in "abcdefghik"]
    together = parquet_footers([(each, READING) for each in FILES])
    assert together == merged(alone)
    first = together[0]
    assert (first.names, first.rows, first.row_group) == (("a", "b", "e", "h", "k"), 18, 400)
    assert first.codecs == {"SNAPPY": 310, "ZSTD": 50}
    assert first.statistics == {
        "id": LeafStatistics(18, 12, Bounds(1, 13)),
        "s": LeafStatistics(18, 18, Bounds("a", "b", truncated=True)),
    }
    assert [sorted(footer.blooms) for footer in together] == [[], [], ["id"], [], []]


def test_files_with_other_columns_are_read_as_they_are() -> None:
    other = Reading(None, "column 'id' cannot be read by Spark")
    footers = parquet_footers([(FILES[0], READING), (FILES[6], other), (FILES[1], READING)])
    assert [(each.names, each.struct, each.problem) for each in footers] == [
        (("a", "b"), READING.struct, None),
        (("g",), None, other.problem),
    ]


@pytest.mark.parametrize(
    ("damage", "error", "text"),
    [
        (lambda columns: columns[0].update(valueCount=4), Unreadable, "has 4 values of column 'id'"),
        (lambda columns: columns[1].update(valueCount=-1), Unreadable, "has -1 values of column 's'"),
        (lambda columns: columns[1].update(encrypted=True), Refusal, "c1 holds encrypted columns"),
    ],
)
def test_the_first_file_that_must_not_be_rewritten_is_named(
    damage: Callable[[list[dict[str, Any]]], None], error: type[Exception], text: str
) -> None:
    files = [row(f"{name}{number}", block(5, 3)) for number in (0, 1, 2) for name in "abcd"]
    for name in (6, 10):  # c1 and c2
        damage(files[name]["parquetMetadata"]["blocks"][0]["columns"])
    with pytest.raises(error, match=text) as raised:
        parquet_footers([(each, READING) for each in files])
    assert "c1" in f"{raised.value}{vars(raised.value)}"

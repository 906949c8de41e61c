"""The texts of the corpus as values of partitions of real Iceberg and Paimon tables: each is a value, and none acts.

`tests/hostile/passed_native.json` says through which places of the adapters they have passed; tests/contract compares
it with the code.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.hostile.corpus import VALUES
from tests.hostile.tracing import Tracing
from tests.native.lake import FORMATS, KINDS, files, rows, table_of
from tests.spark.toolbox import Jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.full
ON = ("--native-formats", FORMATS)
PASSED = json.loads((Path(__file__).parents[1] / "hostile" / "passed_native.json").read_text())
#: Paimon's table of files does not tell where such a value ends: then the whole table is one unit.
TEXTS = [text for text in VALUES if ", " not in text]


@contextmanager
def traced() -> Iterator[Tracing]:
    tracing = Tracing()
    tracing.start()
    try:
        yield tracing
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


def fill(spark: SparkSession, kind: str, database: str) -> int:
    """Two files in each of many partitions; returns how many files there are."""
    name = table_of(kind, database)
    spark.sql(f"CREATE TABLE {name} (id BIGINT, k STRING) {KINDS[kind][1]}")
    for number in range(2):
        frame = spark.createDataFrame([(number, text) for text in TEXTS], "id BIGINT, k STRING")
        frame.repartition(4, "k").writeTo(name).append()
    return files(spark, kind, database)


@pytest.mark.parametrize("kind", ["iceberg", "paimon"])
def test_each_text_is_a_value_and_none_acts(
    spark: SparkSession, database: Database, tmp_path: Path, kind: str
) -> None:
    name, table = str(database), f"{database}.{kind}"
    count = fill(spark, kind, name)
    before = rows(spark, kind, name)
    assert count == 2 * len(TEXTS) == sum(before.values())
    jobs = Jobs(spark, tmp_path)
    with traced() as tracing:
        report = jobs("compact", "--table", table, *ON)
    (done,) = report["tables"]
    assert {unit["outcome"] for unit in done["units"]} == {"compacted"}
    assert sorted(unit["unit"]["k"] for unit in done["units"]) == sorted(TEXTS)
    assert (files(spark, kind, name), rows(spark, kind, name)) == (len(TEXTS), before)
    reached = {site for site, with_text in tracing.reached.items() if with_text and "native/" in site}
    assert reached == set(PASSED[kind])

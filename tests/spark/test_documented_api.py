"""The blocks of docs/python-api.md, run in their order in one session, as a notebook runs them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.doc_blocks import blocks
from tests.harness.fixtures import fresh_database
from tests.spark.toolbox import many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.full

BLOCKS = [block for block in blocks("python") if block.page == "docs/python-api.md" and not block.left_out]


def test_the_blocks_run_in_their_order(spark: SparkSession, tmp_path: Path) -> None:
    with fresh_database(spark, tmp_path) as database:
        location = database.location("events")
        for day in ("2026-02-22", "2026-02-23"):
            many(spark, f"{location}/dt={day}", "SELECT id FROM range(100)", 8)
        spark.sql(
            f"CREATE EXTERNAL TABLE {database}.events (id BIGINT) PARTITIONED BY (dt STRING)"
            f" STORED AS PARQUET LOCATION '{location}'"
        )
        spark.sql(f"MSCK REPAIR TABLE {database}.events")
        known: dict[str, Any] = {"spark": spark}
        outcomes = []
        for block in BLOCKS:
            exec(compile(block.text.replace("sales", str(database)), str(block), "exec"), known)
            outcomes.append(known["report"].outcome)
        assert len(outcomes) == 3
        assert set(outcomes) == {"done"}
        assert known["plan"].tables[0].units[0].files == 8
        assert known["result"].is_successful()
        assert spark.table(f"{database}.events").count() == 200

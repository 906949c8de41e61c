"""The SQL of README and documentation is what Spark's parser takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.doc_blocks import Block, blocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What a person has entered for the variables of the shell.
VARIABLE = re.compile(r"\$\{(\w+)\}")
VALUES = {"TABLE": "sales.events", "BACKUP": "sales.__bkp_events", "PARTITION": "date = '2026-02-23'"}
SQL = [block for block in blocks("sql") if block.parsed]

pytestmark = pytest.mark.one_version


@pytest.mark.parametrize("block", SQL, ids=map(str, SQL))
def test_sql_blocks_are_parsed_by_spark(spark: SparkSession, block: Block) -> None:
    session: Any = spark._jsparkSession
    text = VARIABLE.sub(lambda found: VALUES[found[1]], block.text)
    statements = [each for each in text.split(";") if each.strip()]
    assert statements
    for statement in statements:
        session.sessionState().sqlParser().parsePlan(statement)

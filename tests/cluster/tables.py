"""A table of small files for a test's own use, and what its rows and files are."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import TYPE_CHECKING

from tests.cluster.superuser import Superuser
from tests.spark.toolbox import many, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, ROWS = 5, 50


class SmallFiles:
    """`root` is an empty directory, or none yet. Two partitions, `p=1` and `p=2`, or no partitions at all."""

    def __init__(self, spark: SparkSession, superuser: Superuser, root: str, *, flat: bool = False) -> None:
        self.superuser = superuser
        self.root = root
        self.name = f"default.s_{uuid.uuid4().hex[:10]}"
        self.is_partitioned = not flat
        self.units = [root] if flat else [f"{root}/p=1", f"{root}/p=2"]
        self._spark = spark
        for number, unit in enumerate(self.units):
            many(spark, unit, f"SELECT id + {number * ROWS} AS id FROM range({ROWS})", FILES)
        keys = "" if flat else " PARTITIONED BY (p STRING)"
        spark.sql(f"CREATE EXTERNAL TABLE {self.name} (id BIGINT){keys} STORED AS PARQUET LOCATION '{root}'")
        if not flat:
            spark.sql(f"MSCK REPAIR TABLE {self.name}")
        superuser.open_to_all(root)

    def rows(self) -> Counter[str]:
        return rows(self._spark, self.name)

    def tree(self) -> dict[str, tuple[int, int, int]]:
        """path -> (fileId, length, mtime) of all that readers see."""
        return self.superuser.tree(self.root)

    def files(self, unit: int = 0) -> list[str]:
        return self.superuser.files(self.units[unit])

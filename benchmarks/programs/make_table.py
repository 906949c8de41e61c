"""Write the files of a table and register it, unless they are there.

spark-submit make_table.py DATASET --files FOLDER --location URI [--register-only]
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.datasets import COLUMNS, DATABASE, DATASETS, ROWS_OF_LARGE, Dataset

#: Partitions that one call registers.
BATCH = 1000
_EXPRESSIONS = {
    "id": "id",
    "user_id": "concat('user-', lpad(cast(pmod(xxhash64(id, 'user'), 500000) as string), 6, '0'))",
    "event_type": "element_at(array('view', 'click', 'cart', 'purchase', 'refund'),"
    " cast(pmod(xxhash64(id, 'type'), 5) as int) + 1)",
    "amount": "cast(pmod(xxhash64(id, 'amount'), 5000000) / 100 as decimal(10,2))",
    "score": "rand(7)",
    "event_time": "timestamp_micros(1771804800000000 + id * 1531000 + pmod(xxhash64(id, 'time'), 1000000))",
    "session": "substr(sha2(cast(id as string), 256), 1, 16)",
}


STARTED = time.time()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("dataset", choices=DATASETS)
    parser.add_argument("--files", type=Path, help="write the files into this folder")
    parser.add_argument("--location", help="register the table with this location")
    asked = parser.parse_args()
    spark = SparkSession.builder.appName("tables of the benchmarks").enableHiveSupport().getOrCreate()
    dataset = DATASETS[asked.dataset]
    if asked.files:
        write(spark, dataset, asked.files)
    if asked.location:
        register(spark, dataset, asked.location)
    spark.stop()


def write(spark: SparkSession, dataset: Dataset, root: Path) -> None:
    """Let Spark write the models, and copy them to all files of the table."""
    staged = root.with_name(f"{root.name}.models")
    models = models_of(spark, staged, dataset.models, dataset.rows)
    for folder in dataset.folders():
        (root / folder).mkdir(parents=True, exist_ok=True)
    pairs = _pairs(dataset, root, models)
    with ThreadPoolExecutor(4) as pool:
        # Batch by batch: a million files would be a million tasks at once.
        while batch := list(islice(pairs, 10_000)):
            list(pool.map(lambda pair: copy(*pair, linked=dataset.linked), batch))
    if dataset.large:
        (model,) = models_of(spark, staged, 1, ROWS_OF_LARGE)
        for folder in dataset.folders():
            for position in range(dataset.large):
                copy(model, root / folder / f"part-{position:05}-large-c000.snappy.parquet", linked=False)
    shutil.rmtree(staged)


def models_of(spark: SparkSession, staged: Path, files: int, rows: int) -> list[Path]:
    """Let Spark write so many files of so many rows."""
    numbers = spark.range(0, files * rows, 1, numPartitions=min(2, files))
    columns = [f"{_EXPRESSIONS[name]} AS {name}" for name in COLUMNS]
    # Arrow leaves timestamps of 96 bits, which are Spark's default, to Spark.
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    writer = numbers.selectExpr(*columns).write.mode("overwrite").option("maxRecordsPerFile", rows)
    writer.parquet(staged.as_uri())
    return sorted(staged.glob("part-*.parquet"))


def _pairs(dataset: Dataset, root: Path, models: list[Path]) -> Iterator[tuple[Path, Path]]:
    """Return the model of each file, and its path; the names are as Spark makes them."""
    number, batch = 0, uuid.UUID(int=number_of(dataset))
    for folder in dataset.folders():
        for position in range(dataset.files):
            name = f"part-{position:05}-{batch}-c000.snappy.parquet"
            yield models[number % len(models)], root / folder / name
            number += 1


def number_of(dataset: Dataset) -> int:
    return uuid.uuid5(uuid.NAMESPACE_OID, dataset.name).int


def copy(model: Path, path: Path, *, linked: bool) -> None:
    """Copy a file, with its checksums, which Hadoop keeps in a hidden file beside it on a local disk.

    A copy is two hours old: of files that are younger than an hour, an analysis keeps no footers on a local disk.
    """
    if linked:
        os.link(model, path)
        return
    shutil.copyfile(model, path)
    os.utime(path, (STARTED - 7200, STARTED - 7200))
    shutil.copyfile(model.with_name(f".{model.name}.crc"), path.with_name(f".{path.name}.crc"))


def register(spark: SparkSession, dataset: Dataset, location: str) -> None:
    """Create the table in the metastore, with all its partitions."""
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    spark.sql(f"DROP TABLE IF EXISTS {dataset.full_name}")
    columns = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
    keys = ", ".join(f"`{key}` STRING" for key in dataset.keys)
    spark.sql(
        f"CREATE EXTERNAL TABLE {dataset.full_name} ({columns}) "
        f"{f'PARTITIONED BY ({keys}) ' if keys else ''}STORED AS PARQUET LOCATION '{location}'"
    )
    for start in range(0, dataset.partitions, BATCH):
        numbers = range(start, min(start + BATCH, dataset.partitions))
        clauses = " ".join(f"PARTITION ({_spec(dataset, number)})" for number in numbers)
        spark.sql(f"ALTER TABLE {dataset.full_name} ADD {clauses}")


def _spec(dataset: Dataset, number: int) -> str:
    return ", ".join(
        f"`{key}`='{value}'" for key, value in zip(dataset.keys, dataset.values(number), strict=True)
    )


if __name__ == "__main__":
    main()

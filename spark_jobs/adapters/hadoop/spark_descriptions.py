"""A table as Spark's external catalog describes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from spark_jobs.core.formats.struct_types import hive_type
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values.model import TableName


def facts_by_spark(
    name: TableName, raw: Any, decoded: Callable[[Any], Any], storage: Callable[[Any], Storage]
) -> TableFacts:
    """Return what Spark's description says of a table.

    Args:
        raw: the description, a `CatalogTable`.
        decoded: returns a Scala value as Python has it.
        storage: returns the storage that such a value describes.
    """
    schema = json.loads(raw.schema().json())["fields"]
    keys = tuple(decoded(raw.partitionColumnNames()))
    bucket = raw.bucketSpec()
    placed = raw.storage().locationUri().isDefined()
    return TableFacts(
        name=str(name),
        kind=raw.tableType().name(),
        storage=storage(decoded(raw.storage())) if placed else Storage("", None, None),
        provider=raw.provider().get() if raw.provider().isDefined() else None,
        properties=decoded(raw.properties()),
        columns=tuple((f["name"], _hive_type(f)) for f in schema if f["name"] not in keys),
        partition_keys=keys,
        partition_types=tuple(_hive_type(f) for f in schema if f["name"] in keys),
        bucketed=bucket.isDefined(),
        buckets=int(bucket.get().numBuckets()) if bucket.isDefined() else 0,
        sorted_by=tuple(decoded(bucket.get().sortColumnNames())) if bucket.isDefined() else (),
        unsupported=tuple(decoded(raw.unsupportedFeatures())),
    )


def _hive_type(column: dict[str, Any]) -> str:
    """Return the Hive type of a field of a Spark schema. CHAR and VARCHAR are in its metadata."""
    raw = column.get("metadata", {}).get("__CHAR_VARCHAR_TYPE_STRING")
    return str(raw or hive_type(column["type"]))

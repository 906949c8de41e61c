"""Apache Iceberg by its Spark procedures and metadata tables (https://iceberg.apache.org/docs/latest/spark-procedures/)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any, cast

from spark_jobs.adapters.native.spark_format import Needs
from spark_jobs.adapters.native.statements import Statements, can_be_selected, condition, longest, timestamp
from spark_jobs.core.messages.errors import UnitChanged
from spark_jobs.core.values.ddl import identifier, literal
from spark_jobs.protocol.native_ports import Commit, DataFile, UnitFiles

_EXTENSION = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
_OF_SESSION = "org.apache.iceberg.spark.SparkSessionCatalog"
#: The types of Iceberg by which partitions are selected, as Hive has them.
_TYPES = {"string": "string", "int": "int", "long": "bigint", "date": "date"}
#: https://iceberg.apache.org/docs/latest/configuration/#table-behavior-properties
_MAX_AGE, _DEFAULT_AGE = "history.expire.max-snapshot-age-ms", "432000000"
_COLLECTION = "gc.enabled"
_LEAST, _DEFAULT_LEAST = "history.expire.min-snapshots-to-keep", "1"
_TAG_DAYS = 36_500
_TARGET, _DEFAULT_TARGET = "write.target-file-size-bytes", "536870912"


NEEDS = Needs(
    _EXTENSION,
    (_OF_SESSION, "org.apache.iceberg.spark.SparkCatalog"),
    "spark.jars.packages=org.apache.iceberg:iceberg-spark-runtime-VERSION_2.12:1.9.2,"
    f" spark.sql.extensions={_EXTENSION}, spark.sql.catalog.spark_catalog={_OF_SESSION},"
    " spark.sql.catalog.spark_catalog.type=hive",
)


class IcebergTable:
    """One table of Apache Iceberg."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    @cached_property
    def _loaded(self) -> Any:
        """Return Iceberg's own table, for what does not change by a compaction: its partitioning and properties."""
        return self._sql.run(self._load)

    def _load(self) -> Any:
        spark = self._sql.spark
        classes = cast(Any, spark._jvm).org.apache.iceberg.spark.Spark3Util
        return classes.loadIcebergTable(spark._jsparkSession, self._sql.name())

    def location(self) -> str:
        """Return the location that the table's metadata has."""
        return str(self._loaded.location())

    def property(self, name: str) -> str | None:
        """Return the value of a property of the table."""
        value = self._loaded.properties().get(name)
        return None if value is None else str(value)

    def target_file_size(self) -> int:
        """Return the size for which Iceberg's own procedure aims where nothing else is said."""
        return int(self._property(_TARGET, _DEFAULT_TARGET))

    def unsupported(self) -> str | None:
        """Return None: of what is not supported, this adapter makes one unit."""
        return None

    def no_rollback(self) -> str | None:
        """Return None: a rollback moves the branch `main` back, and deletes nothing."""
        return None

    @cached_property
    def _keys(self) -> dict[str, str]:
        """Return the types of the partition keys; nothing unless each partition can be selected by its own values."""
        fields, schema = list(self._loaded.spec().fields()), self._loaded.schema()
        if self._loaded.specs().size() > 1 or not all(_is_column(field, schema) for field in fields):
            return {}
        kinds = {str(field.name()): str(schema.findType(field.sourceId()).toString()) for field in fields}
        hive = {name: _TYPES.get(kind, kind) for name, kind in kinds.items()}
        return hive if can_be_selected(list(hive.values())) else {}

    @cached_property
    def _is_partitioned(self) -> bool:
        """Tell whether the metadata tables have a column of partition values."""
        return any(not spec.isUnpartitioned() for spec in self._loaded.specs().values())

    def keys(self) -> Mapping[str, str]:
        """Return the Hive types of the partition keys."""
        return self._keys

    def files(self, commit: str | None = None) -> Sequence[DataFile]:
        """Return the data files, without those that only say which rows are deleted."""
        self._refresh()
        values = [f"CAST(data_file.partition.{identifier(key)} AS STRING)" for key in self._keys]
        group = "to_json(data_file.partition)" if self._is_partitioned and not self._keys else "''"
        columns = [group, "data_file.file_path", "data_file.file_size_in_bytes", "snapshot_id", *values]
        where = "status < 2 AND data_file.content = 0"
        rows = self._sql.select(*columns, of=".entries", where=where, version=commit)
        times = {number: int(millis) for number, _, millis, _ in self._snapshots()}
        return [
            DataFile(tuple(zip(self._keys, row[4:])), row[0] or "", row[1], row[2], times.get(str(row[3]), 0))
            for row in rows
        ]

    def _snapshots(self) -> list[Any]:
        numbers = ("CAST(snapshot_id AS STRING)", "CAST(parent_id AS STRING)", "unix_millis(committed_at)")
        return self._sql.select(*numbers, "operation", of=".snapshots")

    def commits(self) -> Sequence[Commit]:
        """Return the ancestors of the present snapshot, oldest first, as far back as none is missing."""
        self._refresh()
        known = {row[0]: row for row in self._snapshots()}
        chain: list[Commit] = []
        at = self._refs("name = 'main'").get("main")
        while at in known:
            snapshot, parent, millis, operation = known.pop(at)
            chain.append(Commit(snapshot, _time(millis), operation == "replace"))
            at = parent
        return chain[::-1]

    def tags(self) -> Mapping[str, str]:
        """Return the tags with their snapshots."""
        self._refresh()
        return self._refs("type = 'TAG'")

    def _refs(self, where: str) -> dict[str, str]:
        return dict(self._sql.select("name", "CAST(snapshot_id AS STRING)", of=".refs", where=where))

    def tag(self, name: str, commit: str) -> None:
        """Create a tag, or move it."""
        # Without a time of its own, it would go with `history.expire.max-ref-age-ms` of the table.
        as_of = f"AS OF VERSION {int(commit)} RETAIN {_TAG_DAYS} DAYS"
        self._sql.rows(f"ALTER TABLE {self._sql.name()} CREATE OR REPLACE TAG {identifier(name)} {as_of}")

    def untag(self, name: str) -> None:
        """Drop a tag, if it exists."""
        self._sql.rows(f"ALTER TABLE {self._sql.name()} DROP TAG IF EXISTS {identifier(name)}")

    def compact(self, units: Sequence[UnitFiles], target: int) -> None:
        """Call `rewrite_data_files`, which commits once. It rewrites the files that are far from the target size."""
        options = {"target-file-size-bytes": str(target), "min-input-files": "2"}
        given = ", ".join(f"{literal(key)}, {literal(value)}" for key, value in options.items())
        where = condition([unit.unit for unit in units], self._keys) if self._keys else ""
        self._sql.call(
            "system.rewrite_data_files",
            table=self._sql.argument(),
            **({"where": literal(where)} if where else {}),
            options=f"map({given})",
        )

    def roll_back(self, commit: str, present: str) -> None:
        """Move the branch `main` back, if it is where it was seen.

        `rollback_to_snapshot` would move it from wherever it is by then. Here the metadata that was looked at is the
        base of the commit, which Iceberg refuses if another one was committed since.
        """
        self._sql.run(lambda: self._commit(int(commit), present))

    def _commit(self, commit: int, present: str) -> None:
        operations = self._load().operations()
        base = operations.refresh()
        now = base.currentSnapshot()
        if now is None or str(now.snapshotId()) != present:
            raise UnitChanged(f"{self._sql.facts.name} is not at snapshot {present} any more")
        classes = cast(Any, self._sql.spark._jvm).org.apache.iceberg
        changed = classes.TableMetadata.buildFrom(base).setBranchSnapshot(commit, "main").build()
        operations.commit(base, changed)

    def retention(self) -> timedelta | None:
        """Return the table's own maximum age of snapshots, or Iceberg's default."""
        return longest(int(self._property(_MAX_AGE, _DEFAULT_AGE)))

    def no_expiry(self) -> str | None:
        """Return why: the table forbids to delete files, or has some that `add_files` took from another table."""
        if self._property(_COLLECTION, "true") == "false":
            return f"it has {_COLLECTION}=false"
        places = [self.location(), self.property("write.data.path")]
        outside = " AND ".join(
            f"NOT startswith(file_path, {literal(place.rstrip('/') + '/')})" for place in places if place
        )
        found = self._sql.select("file_path", of=".all_files", where=f"{outside} LIMIT 1")
        return (
            f"its file {found[0][0]} is not in its own directory, and may be another table's"
            if found
            else None
        )

    def expire(self, before: datetime) -> None:
        """Call `expire_snapshots`, which keeps as many as the table asks for."""
        least = int(self._property(_LEAST, _DEFAULT_LEAST))
        self._sql.call(
            "system.expire_snapshots",
            table=self._sql.argument(),
            older_than=timestamp(before),
            retain_last=str(least),
        )

    def _property(self, name: str, default: str) -> str:
        value = self.property(name)
        return default if value is None else value

    def _refresh(self) -> None:
        """Forget what Iceberg's catalog has kept of the table: other writers may have committed."""
        self._sql.rows(f"REFRESH TABLE {self._sql.name()}")


def _is_column(field: Any, schema: Any) -> bool:
    """Tell whether a key has the values of a column, and its name: then a condition on the column selects it."""
    name = str(field.name())
    flat = "." not in name and name == schema.findColumnName(field.sourceId())
    return flat and bool(field.transform().isIdentity())


def _time(millis: Any) -> datetime:
    return datetime.fromtimestamp(int(millis) / 1000, timezone.utc)

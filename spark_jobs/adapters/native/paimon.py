"""Apache Paimon by its Spark procedures and system tables (https://paimon.apache.org/docs/0.9/spark/procedures/)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import cached_property
from typing import Any, cast
from zoneinfo import ZoneInfo

from spark_jobs.adapters.native.spark_format import Needs
from spark_jobs.adapters.native.statements import Statements, can_be_selected, condition, longest, timestamp
from spark_jobs.core.messages.errors import LakekeeperError, UnitChanged
from spark_jobs.core.values.ddl import literal
from spark_jobs.core.values.model import Spec
from spark_jobs.protocol.native_ports import Commit, DataFile, UnitFiles

_EXTENSION = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
_CATALOG = "org.apache.paimon.spark.SparkCatalog"
#: Kinds of commits that change no row (Snapshot.CommitKind).
_REWRITES = ("COMPACT", "ANALYZE")
#: A file below this part of the target size is compacted (CoreOptions.compactionFileSize: seven tenths).
_SMALL = 0.7
#: What one task of the procedure rewrites at most, in bytes.
_MOST_BYTES = 8 * 1024**3
#: The types of Paimon by which partitions are selected, as Hive has them.
_TYPES = {"VARCHAR": "string", "CHAR": "string", "INTEGER": "int", "BIGINT": "bigint", "DATE": "date"}
#: The modes of buckets that the procedure of Spark knows.
_BUCKETS = ("HASH_FIXED", "HASH_DYNAMIC", "BUCKET_UNAWARE")
_EPOCH = date(1970, 1, 1)
#: More snapshots than there are.
_EVERY = 2**31 - 1
#: The text of a partition value that is NULL, and of a string of four letters.
_NULL = "null"

NEEDS = Needs(
    _EXTENSION,
    ("org.apache.paimon.spark.SparkGenericCatalog", _CATALOG),
    f"spark.jars.packages=org.apache.paimon:paimon-spark-VERSION:0.9.0, spark.sql.extensions={_EXTENSION},"
    f" spark.sql.catalog.paimon={_CATALOG}, spark.sql.catalog.paimon.metastore=hive,"
    " spark.sql.catalog.paimon.uri=thrift://METASTORE:9083, spark.sql.catalog.paimon.warehouse=hdfs://...",
)


class PaimonTable:
    """One table of Apache Paimon, append-only or with primary keys."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    @cached_property
    def _loaded(self) -> Any:
        """Return Paimon's own table, for what does not change by a compaction."""
        return self._sql.run(self._load)

    def _load(self) -> Any:
        spark = self._sql.spark
        jvm: Any = spark._jvm
        namespace = cast(Any, spark.sparkContext._gateway).new_array(jvm.java.lang.String, 1)
        namespace[0] = self._sql.table.database
        identifier = jvm.org.apache.spark.sql.connector.catalog.Identifier.of(
            namespace, self._sql.table.table
        )
        manager = spark._jsparkSession.sessionState().catalogManager()
        return manager.catalog(self._sql.catalog).loadTable(identifier).getTable()

    def location(self) -> str:
        """Return the directory of the table."""
        return str(self._loaded.location().toString())

    def property(self, name: str) -> str | None:
        """Return the value of an option; Paimon tells the metastore only of those that begin with `hive.`."""
        value = self._loaded.options().get(name)
        return None if value is None else str(value)

    def target_file_size(self) -> int:
        """Return the size that the table asks for, or Paimon's own for tables with or without a primary key."""
        keyed = not self._loaded.primaryKeys().isEmpty()
        return int(self._loaded.coreOptions().targetFileSize(keyed))

    def unsupported(self) -> str | None:
        """Return the feature with which `compact` would change what readers see, or delete rows."""
        options = self._loaded.coreOptions()
        mode = str(self._loaded.bucketMode().toString())
        found = {
            f"its buckets are {mode}": mode not in _BUCKETS,
            "it has deletion vectors": options.deletionVectorsEnabled(),
            "its merge engine is first-row": str(options.mergeEngine().toString()) == "first-row",
            # A commit may delete the partitions that are expired; `compact` clears write-only for its own one.
            "it has partition.expiration-time": options.partitionExpireTime() is not None,
            # Readers see such rows until a compaction leaves them out.
            "it has record-level.expire-time": self.property("record-level.expire-time") is not None,
        }
        return next((feature for feature, has in found.items() if has), None)

    def no_rollback(self) -> str | None:
        """Return why: up to 1.1, `rollback` deletes all files that later snapshots have added.

        A compaction of a table with primary keys may give a file another level under the same name: it would be deleted
        although the earlier snapshot has it. And a rollback that is killed leaves a hint at a snapshot that is gone.
        """
        return "Paimon's rollback (0.9 to 1.1) deletes files that the earlier snapshot may need"

    @cached_property
    def _keys(self) -> dict[str, str]:
        """Return the types of the partition keys; nothing unless each partition can be selected by its own values.

        The table of files has the values of a partition as one text, which may not tell where one ends.
        """
        fields = list(self._loaded.schema().logicalPartitionType().getFields())
        kinds = {str(each.name()): str(each.type().getTypeRoot().toString()) for each in fields}
        keys = {name: _TYPES.get(kind, kind) for name, kind in kinds.items()}
        if not can_be_selected(list(keys.values())):
            return {}
        texts = self._sql.select("DISTINCT partition", of="$files") if keys else []
        return keys if all(_is_clear(text, keys) for (text,) in texts) else {}

    def keys(self) -> Mapping[str, str]:
        """Return the Hive types of the partition keys."""
        return self._keys

    def files(self, commit: str | None = None) -> Sequence[DataFile]:
        """Return the data files of all levels."""
        frame = self._sql.spark.read
        if commit is not None:
            frame = frame.option("scan.snapshot-id", commit)
        columns = ("partition", "bucket", "file_path", "file_size_in_bytes", "creation_time")
        rows = self._sql.run(lambda: frame.table(self._sql.name("$files")).select(*columns).collect())
        return [self._file(*row) for row in rows]

    def _file(self, partition: str | None, bucket: int, path: str, length: int, created: Any) -> DataFile:
        if not self._keys:
            return DataFile((), f"{partition}/{bucket}", path, length, self._millis(created))
        spec = _values(partition, self._keys)
        if spec is None:
            raise UnitChanged(
                f"{self._sql.facts.name} has a new partition {partition}, which cannot be selected"
            )
        return DataFile(spec, str(bucket), path, length, self._millis(created))

    def commits(self) -> Sequence[Commit]:
        """Return the snapshots, oldest first."""
        rows = sorted(self._sql.select("snapshot_id", "commit_kind", "commit_time", of="$snapshots"))
        return [Commit(str(number), self._time(at), kind in _REWRITES) for number, kind, at in rows]

    def tags(self) -> Mapping[str, str]:
        """Return nothing: no commit gets a name of ours, since there is no rollback."""
        return {}

    def tag(self, name: str, commit: str) -> None:
        """Raise an error."""
        raise LakekeeperError(f"{commit} gets no name {name}: there is no rollback")

    def untag(self, name: str) -> None:
        """Raise an error."""
        raise LakekeeperError(f"there is no name {name}")

    def compact(self, units: Sequence[UnitFiles], target: int) -> None:
        """Call `compact` for each unit, which commits once for each."""
        for unit in units:
            where = condition([unit.unit], self._keys) if self._keys else ""
            self._sql.call(
                "sys.compact",
                table=self._sql.argument(),
                **({"where": literal(where)} if where else {}),
                options=literal(_options(unit.lengths, target)),
            )

    def roll_back(self, commit: str, present: str) -> None:
        """Raise an error."""
        raise LakekeeperError(
            f"{self._sql.facts.name} stays at {present}, and not at {commit}: {self.no_rollback()}"
        )

    def retention(self) -> timedelta | None:
        """Return how long the table keeps its snapshots by itself."""
        return longest(int(self._loaded.coreOptions().snapshotTimeRetain().toMillis()))

    def no_expiry(self) -> str | None:
        """Return None: all files are the table's own."""
        return None

    def expire(self, before: datetime) -> None:
        """Call `expire_snapshots`, which keeps as many as the table asks for."""
        least = int(self._loaded.coreOptions().snapshotNumRetainMin())
        self._sql.call(
            "sys.expire_snapshots",
            table=self._sql.argument(),
            retain_min=str(least),
            older_than=timestamp(before),
        )

    @cached_property
    def _zone(self) -> tzinfo | None:
        """Return the time zone of the driver's JVM, in which Paimon writes times without one."""
        jvm: Any = self._sql.spark._jvm
        try:
            return ZoneInfo(str(jvm.java.util.TimeZone.getDefault().getID()))
        except (KeyError, ValueError, OSError):
            return None

    def _time(self, at: Any) -> datetime:
        known: datetime = at
        return (known.replace(tzinfo=self._zone) if self._zone else known).astimezone(timezone.utc)

    def _millis(self, at: Any) -> int:
        return int(self._time(at).timestamp() * 1000)


def _options(lengths: Sequence[int], target: int) -> str:
    """Return the options by which the procedure compacts all small files of a unit.

    It collects files, the smallest first, until they have the target size and are as many as `min.file-num`, or are as
    many as `max.file-num`; a rest stays (UnawareAppendTableCompactionCoordinator of 0.9). By default 50 are needed, so
    that it compacts nothing where there are fewer. With both numbers that of all small files, one task writes them all.
    """
    small = [length for length in lengths if length < _SMALL * target]
    tasks = max(1, math.ceil(sum(small) / _MOST_BYTES))
    each = max(2, math.ceil(len(small) / tasks))
    options = {
        "compaction.min.file-num": each,
        "compaction.max.file-num": each,
        "target-file-size": f"{target} b",
        # A commit expires snapshots, also those of a table whose owner keeps them by write-only.
        "snapshot.num-retained.min": _EVERY,
        "snapshot.num-retained.max": _EVERY,
    }
    return ",".join(f"{name}={value}" for name, value in options.items())


def _is_clear(text: str | None, keys: Mapping[str, str]) -> bool:
    """Tell whether the text of a partition says which one it is: a string `null` looks as NULL does."""
    values = _values(text, keys)
    kinds = keys.values()
    return values is not None and not any(
        v is None and kind == "string" for (_, v), kind in zip(values, kinds)
    )


def _values(text: str | None, keys: Mapping[str, str]) -> Spec | None:
    """Return the values of a partition from its text such as `[a, 7]`; None if it does not tell where they end."""
    parts = (text or "")[1:-1].split(", ")
    if len(parts) != len(keys):
        return None
    return tuple((key, _value(part, kind)) for (key, kind), part in zip(keys.items(), parts))


def _value(text: str, kind: str) -> str | None:
    """Return a value as the metastore has it. A date is the number of its day since 1970."""
    if text == _NULL:
        return None
    if kind == "date" and text.lstrip("-").isdigit():
        return (_EPOCH + timedelta(days=int(text))).isoformat()
    return text

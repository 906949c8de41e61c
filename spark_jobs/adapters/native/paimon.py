"""Apache Paimon by its Spark procedures and system tables (https://paimon.apache.org/docs/0.9/spark/procedures/)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from functools import cached_property
from typing import Any

from spark_jobs.adapters.native.spark_format import Needs
from spark_jobs.adapters.native.statements import Statements, can_be_selected, condition, timestamp
from spark_jobs.core.values.ddl import literal
from spark_jobs.core.values.model import Spec
from spark_jobs.protocol.native_ports import Commit, DataFile, UnitFiles

_EXTENSION = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
_CATALOG = "org.apache.paimon.spark.SparkCatalog"
#: Kinds of commits that change no row (Snapshot.CommitKind).
_REWRITES = ("COMPACT", "ANALYZE")
#: A file below this part of the target size is compacted (CoreOptions.compactionFileSize: seven tenths).
_SMALL = 0.7
_RETAINED, _DEFAULT_RETAINED = "snapshot.time-retained", "1 h"
_SECONDS = {"d": 86400, "h": 3600, "min": 60, "m": 60, "s": 1, "ms": 0.001}
_DURATION = re.compile(r"\s*(\d+)\s*([a-z]+)\s*\Z", re.IGNORECASE)
_EPOCH = date(1970, 1, 1)


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
    def _partitioned_by(self) -> dict[str, str]:
        """Return the types of the partition keys, by DESCRIBE."""
        rows = [(row[0], row[1]) for row in self._sql.rows(f"DESCRIBE TABLE {self._sql.name()}")]
        names = [name for name, _ in rows]
        if "# Partition Information" not in names:
            return {}
        listed = rows[names.index("# Partition Information") + 2 :]
        end = next((place for place, (name, _) in enumerate(listed) if not name), len(listed))
        return dict(listed[:end])

    @cached_property
    def _keys(self) -> dict[str, str]:
        """Return the types of the keys; nothing unless each partition can be selected by its own values.

        The table of files has the values of a partition as one text, which may not tell where one ends.
        """
        keys = self._partitioned_by
        if not can_be_selected(list(keys.values())):
            return {}
        texts = self._sql.select("DISTINCT partition", of="$files") if keys else []
        return keys if all(_values(text, keys) is not None for (text,) in texts) else {}

    def keys(self) -> Mapping[str, str]:
        """Return the Hive types of the partition keys."""
        return self._keys

    def files(self, commit: str | None = None) -> Sequence[DataFile]:
        """Return the data files of all levels."""
        frame = self._sql.spark.read
        if commit is not None:
            tag = next((name for name, at in self.tags().items() if at == commit), None)
            frame = frame.option("scan.tag-name", tag) if tag else frame.option("scan.snapshot-id", commit)
        columns = ("partition", "bucket", "file_path", "file_size_in_bytes", "creation_time")
        rows = self._sql.run(lambda: frame.table(self._sql.name("$files")).select(*columns).collect())
        return [self._file(*row) for row in rows]

    def _file(self, partition: str | None, bucket: int, path: str, length: int, created: Any) -> DataFile:
        spec: Spec = _values(partition, self._keys) or () if self._keys else ()
        group = f"{bucket}" if self._keys else f"{partition}/{bucket}"
        return DataFile(spec, group, path, length, _millis(created))

    def commits(self) -> Sequence[Commit]:
        """Return the snapshots, oldest first, with the one before them if a tag keeps it."""
        rows = sorted(self._sql.select("snapshot_id", "commit_kind", "commit_time", of="$snapshots"))
        kept = [Commit(str(number), _time(at), kind in _REWRITES) for number, kind, at in rows]
        if not kept:
            return kept
        tagged = self._sql.select("snapshot_id", "commit_time", of="$tags")
        # The numbers of snapshots have no gaps, so that nothing was committed between this one and the first.
        before = [
            Commit(str(number), _time(at), False) for number, at in tagged if number == int(kept[0].id) - 1
        ]
        return [*before[:1], *kept]

    def tags(self) -> Mapping[str, str]:
        """Return the tags with their snapshots."""
        return {name: str(number) for name, number in self._sql.select("tag_name", "snapshot_id", of="$tags")}

    def tag(self, name: str, commit: str) -> None:
        """Create a tag, or move it."""
        known = self.tags().get(name)
        if known == commit:
            return
        if known is not None:
            self.untag(name)
        self._sql.call(
            "sys.create_tag", table=self._sql.argument(), tag=literal(name), snapshot=str(int(commit))
        )

    def untag(self, name: str) -> None:
        """Delete a tag, if it exists: a rollback has deleted those of later snapshots."""
        if name in self.tags():
            self._sql.call("sys.delete_tag", table=self._sql.argument(), tag=literal(name))

    def compact(self, units: Sequence[UnitFiles], target: int) -> None:
        """Call `compact` for each unit, which commits once for each."""
        for unit in units:
            where = condition([unit.unit], self._keys) if unit.unit else ""
            self._sql.call(
                "sys.compact",
                table=self._sql.argument(),
                **({"where": literal(where)} if where else {}),
                options=literal(_options(unit.lengths, target)),
            )

    def roll_back(self, commit: str) -> None:
        """Call `rollback`, which deletes later snapshots, their files and tags."""
        snapshots = {each.id for each in self.commits()}
        tag = next((name for name, at in self.tags().items() if at == commit), None)
        version = commit if commit in snapshots or tag is None else tag
        self._sql.call("sys.rollback", table=self._sql.argument(), version=literal(version))

    def retention(self) -> timedelta | None:
        """Return how long the table keeps its snapshots by itself."""
        rows = self._sql.rows(f"SHOW TBLPROPERTIES {self._sql.name()}")
        text = {row[0]: row[1] for row in rows}.get(_RETAINED, _DEFAULT_RETAINED)
        found = _DURATION.match(str(text))
        unit = _SECONDS.get(found[2].lower()) if found else None
        return timedelta(seconds=int(found[1]) * unit) if found and unit else None

    def expire(self, before: datetime) -> None:
        """Call `expire_snapshots`."""
        self._sql.call("sys.expire_snapshots", table=self._sql.argument(), older_than=timestamp(before))


def _options(lengths: Sequence[int], target: int) -> str:
    """Return the options by which the procedure compacts all small files of a unit.

    It collects files, the smallest first, until they have the target size, or are as many as
    `compaction.max.file-num`; a rest that is neither stays (UnawareAppendTableCompactionCoordinator of 0.9). By default
    50 are needed, so that it compacts nothing where there are fewer.
    """
    small = [length for length in lengths if length < _SMALL * target]
    parts = max(1, math.ceil(sum(small) / target))
    most = max(2, math.ceil(len(small) / parts))
    return f"compaction.min.file-num=2,compaction.max.file-num={most},target-file-size={target} b"


def _values(text: str | None, keys: Mapping[str, str]) -> Spec | None:
    """Return the values of a partition from its text such as `[a, 7]`; None if it does not tell where they end."""
    parts = (text or "")[1:-1].split(", ")
    if len(parts) != len(keys):
        return None
    return tuple((key, _value(part, kind)) for (key, kind), part in zip(keys.items(), parts))


def _value(text: str, kind: str) -> str | None:
    """Return a value as the metastore has it. A date is the number of its day since 1970."""
    if text == "null":
        return None
    if kind == "date" and text.lstrip("-").isdigit():
        return (_EPOCH + timedelta(days=int(text))).isoformat()
    return text


def _millis(at: Any) -> int:
    return int(_time(at).timestamp() * 1000)


def _time(at: Any) -> datetime:
    """Return a time of the tables, which have the driver's local time."""
    known: datetime = at
    return known.astimezone(timezone.utc)

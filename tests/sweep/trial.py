"""One trial of the sweep: a table is compacted while a setting has another value, and read by another reader."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_jobs.core.messages.refusals import RefusalCode
from tests.spark.toolbox import Jobs, changed
from tests.sweep.recording import HADOOP, SPARK, SQL
from tests.sweep.tables import SweptTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Verdicts. Only DIFFERENT is a fault for certain: rows, types or metadata are others, and nobody was told.
SAME, REFUSED, FAILED, DIFFERENT = "same", "refused", "failed", "different"
#: Spark takes no such value for the setting, so that no cluster has it.
REJECTED = "rejected"
#: The compaction has failed with the name of the setting, and the originals are as before.
NAMED = "named"
#: The compaction has failed, and the originals are as before; so does a plain copy by Spark, with no code of the jobs.
UNUSABLE = "unusable"


class NotCreated(Exception):
    """Spark cannot create the table in this session, before any job has seen it."""


class Rejected(Exception):
    """A setting cannot have this value."""


@dataclass(frozen=True)
class Verdict:
    """What became of the table; `text` is the code of a refusal, or the reason of a failure."""

    kind: str
    text: str = ""


class Trials:
    """Trials in one session; each has a table of its own."""

    def __init__(self, spark: SparkSession, database: str, folder: Path) -> None:
        self._spark = spark
        self._database = database
        self._folder = folder
        self._number = 0

    def run(self, table: SweptTable, settings: Mapping[str, str]) -> Verdict:
        """Compact the table under these settings, which analyses it first.

        The table is written, and read before and after, under the session's own settings.
        """
        with self._table(table) as (name, folder):
            before = table.content(self._spark, folder)
            with under(self._spark, settings):
                verdict = self._tried(name, table)
            if table.content(self._spark, folder) != before:
                return Verdict(DIFFERENT, verdict.text)
            if verdict.kind == FAILED and any(key.partition(" ")[2] in verdict.text for key in settings):
                return Verdict(NAMED, verdict.text)
            if verdict.kind == FAILED and not self._copied_by_spark(name, table, settings):
                return Verdict(UNUSABLE, verdict.text)
            return verdict

    def plain(self, table: SweptTable, settings: Mapping[str, str]) -> bool:
        """Tell whether Spark by itself can copy the table under these settings."""
        with self._table(table) as (name, _):
            return self._copied_by_spark(name, table, settings)

    @contextmanager
    def _table(self, table: SweptTable) -> Iterator[tuple[str, Path]]:
        self._number += 1
        name, folder = f"{self._database}.t{self._number}", self._folder / f"t{self._number}"
        try:
            table.create(self._spark, name, folder)
        except Exception as error:
            raise NotCreated(f"{type(error).__name__}: {error}") from error
        try:
            yield name, folder
        finally:
            self._spark.sql(f"DROP TABLE {name}")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(self._folder / f".lakekeeper-t{self._number}", ignore_errors=True)

    def _tried(self, name: str, table: SweptTable) -> Verdict:
        try:
            return _verdict(self._compacted(name, table))
        except Exception as error:
            return Verdict(FAILED, f"{type(error).__name__}: {error}"[:300])

    def _copied_by_spark(self, name: str, table: SweptTable, settings: Mapping[str, str]) -> bool:
        copy = f"{name}_copy"
        session = self._spark.newSession()
        try:
            with under(self._spark, settings), under(session, settings):
                session.sql(f"CREATE TABLE {copy} STORED AS {table.stored} AS SELECT * FROM {name}")
                return bool(session.table(copy).count() == self._spark.table(name).count())
        except Exception:
            return False
        finally:
            self._spark.sql(f"DROP TABLE IF EXISTS {copy}")

    def _compacted(self, name: str, table: SweptTable) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as requests:
            jobs = Jobs(self._spark, Path(requests))
            report = jobs("compact", "--table", name, *table.arguments)
        return next(iter(report["tables"]), report)


def _verdict(report: Mapping[str, Any]) -> Verdict:
    units = report.get("units", [])
    outcomes = {str(unit["outcome"]) for unit in units}
    if outcomes == {"compacted"}:
        return Verdict(SAME)
    codes = {str(each.get("code")) for each in [report, *units] if each.get("code")}
    reasons = [each.get("reason") or each.get("error") for each in [*units, report]]
    reason = next(filter(None, reasons), "")
    # The files are whole: a setting that makes one pass for damaged leaves the unit alone until its files change.
    refused = codes and RefusalCode.UNREADABLE.name not in codes
    return Verdict(REFUSED, ", ".join(sorted(codes))) if refused else Verdict(FAILED, str(reason)[:600])


@contextmanager
def under(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings until the end of the block: `hadoop NAME`, `sql NAME` of the session, `spark NAME`.

    Settings of Spark itself are changed while it runs. Those that are read once, at the start, need a driver of their
    own (`run --static`). Raise Rejected if a setting cannot have the value.
    """
    conf, own = spark._jsc.hadoopConfiguration(), spark._jsc.sc().conf()
    kept = {field: field.get(conf).clone() for field in _fields_of(conf)}
    of_spark, of_sql = _of(SPARK, settings), _of(SQL, settings)
    try:
        for name, value in _of(HADOOP, settings).items():
            conf.set(name, value)
        with (
            changed(lambda name: own.get(name, None), own.set, own.remove, of_spark),
            changed(lambda name: spark.conf.get(name, None), _setting(spark), spark.conf.unset, of_sql),
        ):
            yield
    finally:
        # A name may be another one of an older release, which `unset` does not always undo.
        for field, values in kept.items():
            field.set(conf, values)


def _of(kind: str, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of one kind, by their names alone."""
    return {key.partition(" ")[2]: value for key, value in settings.items() if key.partition(" ")[0] == kind}


def _setting(spark: SparkSession) -> Callable[[str, str], None]:
    def put(name: str, value: str) -> None:
        try:
            spark.conf.set(name, value)
        except Exception as error:
            raise Rejected(f"{name} = {value}: {error}") from None

    return put


def _fields_of(conf: Any) -> list[Any]:
    kind = conf.getClass()
    while str(kind.getName()) != "org.apache.hadoop.conf.Configuration":
        kind = kind.getSuperclass()
    fields = [kind.getDeclaredField(name) for name in ("properties", "overlay")]
    for field in fields:
        field.setAccessible(True)
    return fields

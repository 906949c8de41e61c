"""Settings of HDFS's client, each with other values while a table on HDFS is compacted.

The settings are those that are read during a compaction. A run tries as many as fit into its minutes, in an order of
its own, and always those that have made a difference before; with `LAKEKEEPER_SWEEP=all` it tries all.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.toolbox import Jobs, many, only, rows
from tests.sweep.flips import flips
from tests.sweep.recording import HADOOP, Recorder
from tests.sweep.trial import under

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ALL = os.environ.get("LAKEKEEPER_SWEEP") == "all"
_MINUTES = 4.0
_CLIENT = ("dfs.", "ipc.", "fs.hdfs.", "hadoop.", "fs.permissions.")
#: Settings of how long, or how often, a client waits before it tries again: with a large value it does so for weeks.
_PATIENCE = re.compile(r"delay|interval|retr|sleep|attempts|timeout|max-backoff|expiry|cache")
#: Settings of how much memory a client takes for a stream: a large value ends the JVM, and the tests after it.
_MEMORY = re.compile(r"buffer|packet|bytes-per-checksum")
#: With these, Hadoop's client waits for ever at its first write, whoever writes.
_ENDLESS = {("dfs.client.write.max-packets-in-flight", "-1")}
#: Values with which a client waits or writes differently.
_KNOWN: list[tuple[str, str]] = []


class OnHdfs:
    """Tables on HDFS, one for each trial."""

    def __init__(self, spark: SparkSession, jobs: Jobs, folder: str) -> None:
        self._spark = spark
        self._jobs = jobs
        self._folder = folder
        self._number = 0

    def compacted(self, settings: Mapping[str, str]) -> tuple[str, str, bool]:
        """Compact a table with clients that start with these settings.

        Return the outcome, the reason, and whether the rows are as before.
        """
        self._number += 1
        name = f"t_{self._folder.rsplit('/', 1)[1]}_{self._number}"
        table, place = f"default.{name}", f"{self._folder}/{name}"
        many(self._spark, place, "SELECT id FROM range(20)", 3)
        self._spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{place}'")
        before = rows(self._spark, table)
        with under(self._spark, settings), self._new_clients():
            report = self._report(table)
        reason = " ".join(
            str(each.get("reason") or each.get("code") or each.get("error") or "")
            for each in (report, *report.get("units", []))
        )
        return str(report["outcome"]), reason, rows(self._spark, table) == before

    def _report(self, table: str) -> dict[str, Any]:
        report = self._jobs("compact", "--table", table)
        return only(report) if report["tables"] else report

    @contextmanager
    def _new_clients(self) -> Iterator[None]:
        """Close the clients, so that new ones read the settings; and again at the end."""
        kind = self._spark._jvm.org.apache.hadoop.fs.FileSystem
        kind.closeAll()
        try:
            yield
        finally:
            kind.closeAll()


def read_by_the_client(spark: SparkSession, tables: OnHdfs) -> list[str]:
    """Return the settings of HDFS's client that are read while a table is compacted."""
    assert tables.compacted({})[0] == "done"
    recorder = Recorder(spark)
    recorder.record_hadoop()
    assert tables.compacted({})[0] == "done"
    found = (key.partition(" ") for key in recorder.take())
    return sorted(name for kind, _, name in found if kind == HADOOP and name.startswith(_CLIENT))


@pytest.mark.full
def test_settings_of_the_client_lose_no_row(spark: SparkSession, jobs: Jobs, folder: str) -> None:
    tables = OnHdfs(spark, jobs, folder)
    names = read_by_the_client(spark, tables)
    assert "dfs.client.socket-timeout" in names
    conf: Any = spark._jsc.hadoopConfiguration()
    trials = [
        (name, value)
        for name in names
        for value in flips(name, conf.getRaw(name))
        if (name, value) not in _ENDLESS
        and not (
            (_PATIENCE.search(name) or _MEMORY.search(name))
            and len(value) > 5
            and value.strip("sm").isdigit()
        )
    ]
    random.Random().shuffle(trials)
    until, counts = time.monotonic() + 60 * _MINUTES, Counter[str]()
    for name, value in [*_KNOWN, *trials]:
        if not _ALL and time.monotonic() > until:
            break
        outcome, reason, same = tables.compacted({f"{HADOOP} {name}": value})
        counts[outcome] += 1
        print(f"{name} = {value}: {outcome} {reason}", flush=True)
        assert same, (name, value, outcome, reason)
        assert outcome in ("done", "failed", "refused"), (name, value, outcome, reason)
        assert outcome == "done" or reason.strip(), (name, value, outcome)
    print(f"{len(names)} settings, {counts.total()} of {len(trials)} trials: {dict(counts)}")
    assert counts["done"], counts

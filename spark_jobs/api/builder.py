"""A builder over `compact`, for those who know Apache Paimon's design of a compaction in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from spark_jobs.api.verbs import compact
from spark_jobs.core.options.calls import invocation
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.wire import Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Compaction:
    """A compaction whose options are valid.

    Attributes:
        options: by their names in the YAML file.
    """

    spark: SparkSession
    table: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def execute(self) -> Report:
        """Do it. Return the report, and raise JobFailed (a RuntimeError), as `compact` does."""
        return compact(self.spark, table=self.table, **self.options)


class CompactBuilder:
    """Collects the options of a compaction of one table. Each method returns the builder.

    Partitions, a condition and an idle time exclude each other.

    >>> builder = CompactBuilder(None, "sales.events").with_where("dt >= '2026-02-01'")
    >>> builder.with_options({"min_input_files": "10"}).build().options
    {'where': "dt >= '2026-02-01'", 'min_input_files': '10'}
    >>> builder.with_partition_idle_time("7d").build()
    Traceback (most recent call last):
        ...
    spark_jobs.core.errors.UsageError: both 'where' and 'idle_for' are given; use only one of them
    """

    def __init__(self, spark: SparkSession, table: str) -> None:
        self._spark = spark
        self._table = table
        self._options: dict[str, Any] = {}

    def with_strategy(self, strategy: str) -> CompactBuilder:
        """Choose which files are rewritten: `full` or `minor`."""
        return self.with_options({"strategy": strategy})

    def with_partitions(self, partitions: Sequence[Mapping[str, str | None]]) -> CompactBuilder:
        """Compact only these partitions, such as `[{"dt": "2026-02-23"}]`; a spec may name only some of the keys."""
        return self.with_options({"partitions": [dict(spec) for spec in partitions]})

    def with_where(self, where: str) -> CompactBuilder:
        """Compact only partitions that meet a condition on the partition keys."""
        return self.with_options({"where": where})

    def with_partition_idle_time(self, idle_time: str | timedelta) -> CompactBuilder:
        """Compact only partitions whose newest file is that old: `7d`, `168h`, `10080m`, `60s`, or a timedelta."""
        return self.with_options({"idle_for": idle_time})

    def with_options(self, options: Mapping[str, Any]) -> CompactBuilder:
        """Set other options, by their names in the YAML file; text is parsed as it is there."""
        self._options.update(options)
        return self

    def build(self) -> Compaction:
        """Return the compaction.

        Raises:
            UsageError: (a ValueError) an option is unknown, a value is wrong, or two exclude each other.
        """
        line = invocation("compact", self._table, None, None, self._options)
        Layers(command_line=line.options).check()
        return Compaction(self._spark, self._table, dict(self._options))

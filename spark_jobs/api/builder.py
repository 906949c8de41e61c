"""A builder over `compact` and `plan`, for those who know Apache Paimon's design of a compaction in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from spark_jobs.api.result import CompactResult
from spark_jobs.api.verbs import compact, plan
from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.options.calls import invocation
from spark_jobs.core.options.definitions import DEFAULTS, OPTIONS
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.options.option import PLAN
from spark_jobs.core.options.parsers import MB
from spark_jobs.core.wire.report import Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Paimon's names of options, and ours.
_SAME = {
    "sink.parallelism": "parallelism",
    "compaction.min.file-num": "min_input_files",
    "target-file-size": "target_file_size",
}
_FEWEST, _TARGET = "compaction.min.file-num", "target-file-size"
#: Paimon's options that a Hive external table cannot have.
_OTHER = {
    "num-sorted-run.compaction-trigger": "Hive external tables have no primary keys, and so no sorted runs",
    "compaction.delete-ratio-threshold": "Hive external tables have no delete files",
    "compaction.total-size-threshold": "a directory is compacted as a whole; max_bytes limits what one run reads",
    "write-only": "set the table property lakekeeper.enabled=false on a table that is not to be compacted",
}


class CompactBuilder:
    """Collects the options of a compaction of one table. Each method but the last two returns the builder.

    Partitions, a condition and an idle time exclude each other.

    >>> builder = CompactBuilder(None, "sales.events").with_where("dt >= '2026-02-01'")
    >>> builder.with_options({"compaction.min.file-num": "10"}).options
    {'where': "dt >= '2026-02-01'", 'min_input_files': '10'}
    >>> builder.with_partition_idle_time("7d").build()
    Traceback (most recent call last):
        ...
    spark_jobs.core.messages.errors.UsageError: both 'where' and 'idle_for' are given; use only one of them
    """

    def __init__(self, spark: SparkSession, table: str) -> None:
        self._spark = spark
        self._table = table
        self._given: dict[str, Any] = {}
        self._target: Any = None

    @property
    def options(self) -> dict[str, Any]:
        """Return the options so far, by their names in the YAML file."""
        return {**_small_below_half(self._target, self._given), **self._given}

    def with_strategy(self, strategy: str) -> CompactBuilder:
        """Choose which files are rewritten: `auto` (the default), `full` or `minor`."""
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
        """Set other options, by their names in the YAML file or in Paimon; text is parsed as it is in the file.

        Paimon's `target-file-size` says besides which directories have small files, as in its design: those with an
        average or median below half of it, unless `compaction_ratio_threshold` is given.

        Raises:
            UsageError: (a ValueError) an option of Paimon that Hive external tables cannot have.
        """
        for name, value in options.items():
            own = _own_name(name)
            self._given[own] = _own_value(name, value)
            if own == _SAME[_TARGET]:
                self._target = value if name == _TARGET else None
        return self

    def plan(self) -> Report:
        """Show what `build` would do. Changes nothing.

        Returns:
            The report of `plan`: the units in the order of their compaction.

        Raises:
            UsageError: (a ValueError) an option is unknown, a value is wrong, or two exclude each other.
            JobFailed: (a RuntimeError) the table failed, or was refused.
        """
        self._check()
        options = {name: value for name, value in self.options.items() if PLAN in OPTIONS[name].verbs}
        return plan(self._spark, table=self._table, **options)

    def build(self) -> CompactResult:
        """Compact the table, as Paimon's `build` does, and return the result.

        Raises:
            UsageError: (a ValueError) an option is unknown, a value is wrong, or two exclude each other; nothing was
                changed.
            JobFailed: (a RuntimeError) a unit failed, or the table was busy or refused. `CompactResult(error.report)`
                tells what was done before.
        """
        self._check()
        return CompactResult(compact(self._spark, table=self._table, **self.options))

    def _check(self) -> None:
        """Raise UsageError for what is wrong without a look at the table, and so before anything is begun."""
        line = invocation("compact", self._table, None, None, self.options)
        Layers(command_line=line.options).check()


def _own_name(name: str) -> str:
    if name in _OTHER:
        raise UsageError(f"the option '{name}' of Paimon is not one of ours: {_OTHER[name]}")
    return _SAME.get(name, name)


def _own_value(name: str, value: Any) -> Any:
    """Return the value of an option. A single file is never rewritten, so that 1 means 2."""
    return 2 if name == _FEWEST and str(value).strip() == "1" else value


def _small_below_half(target: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options by which files below half of a size are small: a job takes it as a part of the block size.

    A value that is wrong is an error of the job later.
    """
    block_size = given.get("block_size_mb", DEFAULTS.block_size_mb)
    try:
        size = OPTIONS["target_file_size"].parse(target)
        ratio = OPTIONS["block_size_mb"].parse(block_size) * MB * 2 / size
    except (ValueError, ZeroDivisionError):
        return {}
    # The least and the greatest ratio that the option may have.
    return {"block_size_mb": block_size, "compaction_ratio_threshold": min(max(0.001, ratio), 1e9)}

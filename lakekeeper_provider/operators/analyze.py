"""Find tables and partitions with too many small files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lakekeeper_provider.compat import Context
from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.options.choosing import check_selections
from lakekeeper_provider.options.option import ANALYZE
from lakekeeper_provider.options.parsers import is_template
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report.report import Report
from lakekeeper_provider.submission import request

PLANNING_KEYS = (
    "block_size_mb",
    "compaction_ratio_threshold",
    "min_input_files",
    "target_file_size",
    "strategy",
    "min_small_files",
    "min_files_per_gb",
    "partitions",
    "where",
    "idle_for",
    "full_scan",
    "trigger",
    "trigger_unit_files",
    "trigger_small_files",
    "trigger_growth",
    "trigger_interval",
    "trigger_average_size",
    "max_calls_per_second",
)


class PlanningOperator(LakekeeperOperator):
    """
    Base of analysis and compaction, which select units by the same options.

    :param block_size_mb: the HDFS block size in MB (128)
    :param compaction_ratio_threshold: a unit is flagged if the smaller of average and median file size is below
        ``block_size_mb`` / this ratio (10)
    :param min_input_files: ignore units with fewer files (2)
    :param target_file_size: size of the files to write, such as ``512mb`` (by default the block size)
    :param strategy: ``auto`` (default) and ``minor`` rewrite the files of a directory below ``target_file_size``, and
        copy larger ones byte by byte; ``minor`` rewrites them too where that costs less, ``full`` always
    :param min_small_files: with ``auto``, a unit of which average and median are not small is flagged for the sake of
        its small files alone if it has at least so many (30)
    :param min_files_per_gb: and if at least so many of them go away for each GB that is read (10)
    :param partitions: only these partitions, such as ``[{"date": "2026-02-23"}]``; a spec may be partial
    :param where: only the partitions that meet this SQL condition on the partition keys
    :param idle_for: only the partitions whose newest file is at least this old, such as ``7d``; ``0s`` for any age
    :param full_scan: list every directory, also those that have not changed since an earlier run
    :param trigger: whether a flagged unit is compacted if ``all`` of the conditions below that are given hold
        (default), or ``any`` of them; without a condition, all flagged units are
    :param trigger_unit_files: the unit has at least so many files
    :param trigger_small_files: the flagged units of the table have at least so many small files in total
    :param trigger_growth: at least so many files were added to the table since its last compaction
    :param trigger_interval: the last compaction of the table was at least this long ago, such as ``1d``
    :param trigger_average_size: the average size of the unit's files is below this, such as ``16mb``
    :param max_calls_per_second: calls to the NameNode that the driver makes per second at most (no limit)
    :raises UsageError: two of ``partitions``, ``where`` and ``idle_for`` are given
    """

    option_keys: ClassVar[tuple[str, ...]] = (*LakekeeperOperator.option_keys, *PLANNING_KEYS)
    template_fields: Sequence[str] = (*LakekeeperOperator.template_fields, *PLANNING_KEYS)

    def __init__(
        self,
        *,
        block_size_mb: int | str | None = None,
        compaction_ratio_threshold: float | str | None = None,
        min_input_files: int | str | None = None,
        target_file_size: str | None = None,
        strategy: str | None = None,
        min_small_files: int | str | None = None,
        min_files_per_gb: float | str | None = None,
        partitions: Sequence[dict[str, Any]] | str | None = None,
        where: str | None = None,
        idle_for: str | None = None,
        full_scan: bool | str | None = None,
        trigger: str | None = None,
        trigger_unit_files: int | str | None = None,
        trigger_small_files: int | str | None = None,
        trigger_growth: int | str | None = None,
        trigger_interval: str | None = None,
        trigger_average_size: str | None = None,
        max_calls_per_second: int | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        selections = {"partitions": partitions, "where": where, "idle_for": idle_for}
        check_selections({key: value for key, value in selections.items() if _is_set(value)})
        self.block_size_mb = block_size_mb
        self.compaction_ratio_threshold = compaction_ratio_threshold
        self.min_input_files = min_input_files
        self.target_file_size = target_file_size
        self.strategy = strategy
        self.min_small_files = min_small_files
        self.min_files_per_gb = min_files_per_gb
        self.partitions = partitions
        self.where = where
        self.idle_for = idle_for
        self.full_scan = full_scan
        self.trigger = trigger
        self.trigger_unit_files = trigger_unit_files
        self.trigger_small_files = trigger_small_files
        self.trigger_growth = trigger_growth
        self.trigger_interval = trigger_interval
        self.trigger_average_size = trigger_average_size
        self.max_calls_per_second = max_calls_per_second


def _is_set(value: Any) -> bool:
    """Tell whether an argument is given when the DAG is parsed; a template may turn out to be None."""
    return value is not None and not is_template(value)


class AnalyzeOperator(PlanningOperator):
    """
    Report which units need compaction, without a change of any table.

    The XCom has a summary of each table with its flagged units; pass it to ``CompactOperator(analysis=...)``. Units
    that do not fit are pushed under further keys, ``flagged_0`` and so on, from which ``CompactOperator`` pulls them.
    See ``PlanningOperator`` and ``LakekeeperOperator`` for the arguments.
    """

    verb = ANALYZE

    def summarize(self, found: Report, uri: str | None, context: Context) -> dict[str, Any]:
        """Return the summary; flagged units that do not fit are pushed as pages."""
        summary = report_summary.summary(found, uri, context["ti"] if self.do_xcom_push else None)
        part = request.part_of(self.arguments())
        return {**summary, "part": part} if part else summary

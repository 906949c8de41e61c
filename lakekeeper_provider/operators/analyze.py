"""Find tables and partitions with too many small files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lakekeeper_provider.compat import Context
from lakekeeper_provider.launch import request
from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.options.definitions import check_selections, documented
from lakekeeper_provider.options.option import ANALYZE
from lakekeeper_provider.options.parsers import is_template
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report.report import Report

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


@documented
class PlanningOperator(LakekeeperOperator):
    """Base of analysis and compaction, which select units by the same options.

    Raises:
        UsageError: two of ``partitions``, ``where`` and ``idle_for`` are given
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
    """Report which units need compaction, without a change of any table.

    The XCom has a summary of each table with its flagged units; pass it to ``CompactOperator(analysis=...)``. Units
    that do not fit are pushed under further keys, ``flagged_0`` and so on, from which ``CompactOperator`` pulls them.
    See ``PlanningOperator`` and ``LakekeeperOperator`` for the arguments.
    """

    verb = ANALYZE

    def summarize(self, report: Report, uri: str | None, context: Context) -> dict[str, Any]:
        """Return the summary; flagged units that do not fit are pushed as pages."""
        summary = report_summary.summary(report, uri, context["ti"] if self.do_xcom_push else None)
        part = request.part_of(self.arguments())
        return {**summary, "part": part} if part else summary

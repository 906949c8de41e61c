"""Find tables and partitions with too many small files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lakekeeper_provider import report_summary
from lakekeeper_provider.compat import Context
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.option import ANALYZE
from lakekeeper_provider.parsers import is_template
from lakekeeper_provider.report import Report

PLANNING_KEYS = (
    "block_size_mb",
    "compaction_ratio_threshold",
    "min_input_files",
    "target_file_size",
    "partitions",
    "where",
    "full_scan",
)


class PlanningOperator(LakekeeperOperator):
    """
    Base of analysis and compaction, which select units by the same options.

    :param block_size_mb: the HDFS block size in MB (128)
    :param compaction_ratio_threshold: a unit is flagged if the smaller of average and median file size is below
        ``block_size_mb`` / this ratio (10)
    :param min_input_files: ignore units with fewer files (2)
    :param target_file_size: size of the files to write, such as ``512mb`` (by default the block size)
    :param partitions: only these partitions, such as ``[{"date": "2026-02-23"}]``; a spec may be partial
    :param where: only the partitions that meet this SQL condition on the partition keys; mutually exclusive with
        ``partitions``
    :param full_scan: list every directory, also those that have not changed since an earlier run
    :raises UsageError: ``partitions`` and ``where`` are both given
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
        partitions: Sequence[dict[str, Any]] | str | None = None,
        where: str | None = None,
        full_scan: bool | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if _is_set(partitions) and _is_set(where):
            raise UsageError("partitions and where are mutually exclusive: give one of them")
        self.block_size_mb = block_size_mb
        self.compaction_ratio_threshold = compaction_ratio_threshold
        self.min_input_files = min_input_files
        self.target_file_size = target_file_size
        self.partitions = partitions
        self.where = where
        self.full_scan = full_scan


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
        return report_summary.summary(found, uri, context["ti"] if self.do_xcom_push else None)

"""The result of a compaction, by the names of Apache Paimon's design of a compaction in Python."""

from __future__ import annotations

from dataclasses import dataclass, field

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.wire.report import Report, UnitReport
from spark_jobs.core.wire.summary import failure


@dataclass(frozen=True)
class CompactResult:
    """What a compaction has done. Its fields are properties, so that it can be made of any report of `compact`.

    Attributes:
        report: the whole report, by partition.
    """

    report: Report = field(repr=False)

    @property
    def success(self) -> bool:
        """Tell whether nothing failed. There may have been nothing to do."""
        return self.report.exit_code == 0

    @property
    def files_compacted(self) -> int:
        """Return the number of files that were replaced."""
        return sum(unit.files or 0 for unit in self._compacted)

    @property
    def new_files_count(self) -> int:
        """Return the number of files that replace them."""
        return sum(unit.files_after or 0 for unit in self._compacted)

    @property
    def compaction_time_ms(self) -> int:
        """Return the time from the start of the job to its end, in milliseconds."""
        report = self.report
        if report.started is None or report.ended is None:
            return 0
        return int((report.ended - report.started).total_seconds() * 1000)

    @property
    def error_message(self) -> str | None:
        """Return why it failed; None if it did not."""
        return None if self.success else failure(self.report)

    def is_successful(self) -> bool:
        return self.success

    def get_error_message(self) -> str | None:
        return self.error_message

    def __str__(self) -> str:
        done = f"{self.files_compacted} files -> {self.new_files_count} in {self.compaction_time_ms} ms"
        return done if self.success else f"{done}; {self.error_message}"

    @property
    def _compacted(self) -> list[UnitReport]:
        units = (unit for table in self.report.tables for unit in table.units)
        return [unit for unit in units if unit.outcome == UnitOutcome.COMPACTED]

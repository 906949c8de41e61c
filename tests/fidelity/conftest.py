"""The matrix is played once for each session of Spark; its counts are printed at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fidelity import matrix, test_foreign_files
from tests.spark.toolbox import Jobs, by_arrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Jobs:
    return Jobs(spark, tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """N identical, M refused, 0 different."""
    _foreign(terminalreporter)
    _by_arrow(terminalreporter)
    if not matrix.COUNTS:
        return
    counts = dict(matrix.COUNTS)
    identical, different = counts.pop("identical", 0), counts.pop("different", 0)
    codes = ", ".join(f"{code} {number}" for code, number in sorted(counts.items()))
    refused = sum(counts.values())
    terminalreporter.write_line(
        f"fidelity: {identical + different + refused} cells: {identical} identical,"
        f" {refused} refused{f' ({codes})' if codes else ''}, {different} different"
    )


def _by_arrow(terminalreporter: pytest.TerminalReporter) -> None:
    if by_arrow():
        for what, number in matrix.BY_ARROW.most_common():
            terminalreporter.write_line(f"fidelity over Arrow: {number} cells: {what}")


def _foreign(terminalreporter: pytest.TerminalReporter) -> None:
    """For each other library: units compacted, and those that were not."""
    outcomes = test_foreign_files.FOUND
    for library in dict.fromkeys(name for name, _ in outcomes):
        found = {unit: outcome for (name, unit), outcome in outcomes.items() if name == library}
        left = [f"{unit} {outcome}" for unit, outcome in found.items() if outcome != "compacted"]
        terminalreporter.write_line(
            f"files of {library}: {len(found)} units, {len(found) - len(left)} compacted"
            f"{', ' if left else ''}{', '.join(left)}"
        )

"""The tasks that most tests of operators run, with the arguments that every one of them needs."""

from __future__ import annotations

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator


def analyze(**kwargs) -> AnalyzeOperator:
    return AnalyzeOperator(task_id="analyze", **{"table": "sales.events", **kwargs})


def compact(**kwargs) -> CompactOperator:
    return CompactOperator(task_id="compact", **{"table": "sales.events", **kwargs})

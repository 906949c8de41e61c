"""The jobs as functions, for notebooks and other schedulers: they run in a Spark session that stands already.

Each function does what the job of its name does, by the same code, and returns the report, whose fields docs/wire.md
describes (`Report.to_json` is the JSON). Options have the names that they have in the YAML file, for example
`min_input_files=10`, `where="dt >= '2026-02-01'"`, `idle_for="7d"`. Progress goes to the logger `lakekeeper`; nothing
is printed. The caller's session stays as it is.

>>> from spark_jobs import api
>>> api.compact(None, table="sales.events", were="dt = 1")
Traceback (most recent call last):
    ...
spark_jobs.core.messages.errors.UsageError: unknown option 'were' in the arguments of compact; did you mean 'where'?
>>> api.analyze(None)
Traceback (most recent call last):
    ...
spark_jobs.core.messages.errors.UsageError: nothing is named: name a table, several tables, or a database
"""

from __future__ import annotations

from spark_jobs.api.builder import CompactBuilder
from spark_jobs.api.calls import JobFailed
from spark_jobs.api.result import CompactResult
from spark_jobs.api.verbs import analyze, check, cleanup, compact, forget, history, plan, rollback
from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.wire.report import Report, TableReport, UnitReport

__all__ = [
    "CompactBuilder",
    "CompactResult",
    "JobFailed",
    "Report",
    "TableReport",
    "UnitReport",
    "UsageError",
    "analyze",
    "check",
    "cleanup",
    "compact",
    "forget",
    "history",
    "plan",
    "rollback",
]

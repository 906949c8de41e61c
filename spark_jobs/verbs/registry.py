"""The table of verbs: what each of them does with a table, and around all tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spark_jobs.core.options.option import ANALYZE, CHECK, CLEANUP, COMPACT, FORGET, HISTORY, PLAN, ROLLBACK
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import Report, TableReport
from spark_jobs.verbs.analyze import analyze_table
from spark_jobs.verbs.check import check_location, check_table, say_what_is_left
from spark_jobs.verbs.cleanup import cleanup_table
from spark_jobs.verbs.cleanup_location import cleanup_location
from spark_jobs.verbs.compact import compact_table
from spark_jobs.verbs.forget import forget_location, forget_table
from spark_jobs.verbs.history import history_table
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.plan import arrange, complete_dry_run, plan_table
from spark_jobs.verbs.rollback import rollback_table
from spark_jobs.verbs.table_order import by_gain


@dataclass(frozen=True)
class Verb:
    """What one verb does.

    Attributes:
        of_table: works on one table.
        at_location: works on the dropped tables of a location; None if the verb has no `--location`.
        order: returns the tables in the order in which they are worked on; None for the given order.
        finish: completes a report when all tables are known.
    """

    of_table: Callable[[Job, TableName], TableReport]
    at_location: Callable[[Job, str], Sequence[TableReport]] | None = None
    order: Callable[[Job, Sequence[TableName]], Sequence[TableName]] | None = None
    finish: Callable[[Job, Report], None] | None = None


VERBS: Mapping[str, Verb] = {
    ANALYZE: Verb(analyze_table),
    PLAN: Verb(plan_table, finish=arrange),
    COMPACT: Verb(compact_table, order=by_gain, finish=complete_dry_run),
    ROLLBACK: Verb(rollback_table),
    CLEANUP: Verb(cleanup_table, cleanup_location),
    HISTORY: Verb(history_table),
    FORGET: Verb(forget_table, forget_location),
    CHECK: Verb(check_table, check_location, finish=say_what_is_left),
}

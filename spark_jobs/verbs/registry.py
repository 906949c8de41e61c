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
from spark_jobs.protocol.native.session import NativeSession
from spark_jobs.verbs.native import (
    analyze_native,
    check_native,
    clean_up_native,
    compact_native,
    history_native,
    plan_native,
    roll_back_native,
)
from spark_jobs.verbs.plan import arrange, complete_dry_run, plan_table
from spark_jobs.verbs.rollback import rollback_table
from spark_jobs.verbs.table_order import by_gain


@dataclass(frozen=True)
class Verb:
    """What one verb does.

    Attributes:
        of_table: works on one table.
        of_native: works on one table of another format; None if the verb knows none of them.
        at_location: works on the dropped tables of a location; None if the verb has no `--location`.
        order: returns the tables in the order in which they are worked on; None for the given order.
        finish: completes a report when all tables are known.
    """

    of_table: Callable[[Job, TableName], TableReport]
    of_native: Callable[[Job, NativeSession], TableReport] | None = None
    at_location: Callable[[Job, str], Sequence[TableReport]] | None = None
    order: Callable[[Job, Sequence[TableName]], Sequence[TableName]] | None = None
    finish: Callable[[Job, Report], None] | None = None


VERBS: Mapping[str, Verb] = {
    ANALYZE: Verb(analyze_table, analyze_native),
    PLAN: Verb(plan_table, plan_native, finish=arrange),
    COMPACT: Verb(compact_table, compact_native, order=by_gain, finish=complete_dry_run),
    ROLLBACK: Verb(rollback_table, roll_back_native),
    CLEANUP: Verb(cleanup_table, clean_up_native, at_location=cleanup_location),
    HISTORY: Verb(history_table, history_native),
    FORGET: Verb(forget_table, at_location=forget_location),
    CHECK: Verb(check_table, check_native, at_location=check_location, finish=say_what_is_left),
}

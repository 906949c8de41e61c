"""Guards of tables of formats that keep lists of their own files: what a rollback and an expiry take away."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Operator, Remove, Value

_NATIVE, _OPTIONS = "tests/crash/test_native.py", "tests/crash/test_native_options.py"


def _of_native(name: str, what: str, edit: Operator, test: str, file: str = _NATIVE) -> Mutation:
    return Mutation(f"H60-{name}", what, (edit,), (f"{file}::{test}",))


NATIVE = (
    _of_native(
        "newer",
        "a rollback takes rows away that were committed since",
        Condition("newer_commits_stay", False),
        "test_a_rollback_takes_no_rows_that_were_committed_since",
    ),
    _of_native(
        "held",
        "a run is said to be rolled back that others have written after",
        Value("rewrites_only", "bool(later)"),
        "test_a_run_that_others_have_written_after_is_not_counted_as_one_to_roll_back",
    ),
    _of_native(
        "named",
        "a procedure runs before the commit has a name that a rollback needs",
        Remove("named_before_the_procedure"),
        "test_a_compaction_keeps_the_rows_and_can_be_rolled_back",
    ),
    _of_native(
        "lease",
        "a job that has slept changes a table that another job has taken over",
        Remove("lease_before_each_change"),
        "test_a_job_that_has_lost_its_lease_changes_nothing_more",
    ),
    _of_native(
        "retention",
        "commits are expired that the table itself asks to keep",
        Condition("own_retention_counts", False),
        "test_an_expiry_is_a_second_switch_and_keeps_what_the_table_asks_for",
        _OPTIONS,
    ),
    _of_native(
        "others",
        "an expiry deletes files that may be those of another table",
        Condition("files_of_other_tables", False),
        "test_files_that_may_be_those_of_another_table_are_not_deleted_with_the_commits",
        _OPTIONS,
    ),
    _of_native(
        "told",
        "a rollback says that there is nothing to undo of a table whose format it was not told of",
        Condition("rollback_of_other_formats", False),
        "test_a_rollback_that_was_not_told_of_the_format_does_not_say_that_there_is_nothing_to_undo",
        _OPTIONS,
    ),
    _of_native(
        "property",
        "a table is worked on that a property which only its format knows leaves out",
        Condition("opted_out_by_the_format", False),
        "test_a_property_that_only_the_format_knows_leaves_a_table_out",
        _OPTIONS,
    ),
)

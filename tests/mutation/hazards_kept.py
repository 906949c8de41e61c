"""Guards of the footers that an analysis keeps. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Rewrite

_KEPT = "tests/crash/test_kept_footers.py"
_VALUES = "tests/unit/core/test_kept_footers.py"

KEPT = (
    Mutation(
        "H29-kept-unit",
        "footers count that were kept of other files",
        (Condition("kept_footers_of_unit", False),),
        (f"{_KEPT}::test_what_is_about_other_files_does_not_count",),
    ),
    Mutation(
        "H29-kept-owner",
        "footers count that any account has written",
        (Rewrite("kept_footers_owner", "F is None or not T", "F is None"),),
        (f"{_KEPT}::test_what_another_account_has_written_does_not_count",),
    ),
    Mutation(
        "H29-kept-kinds",
        "no file is looked at before kept footers count",
        (Condition("kinds_confirmed", False),),
        (f"{_VALUES}::test_a_file_that_is_of_another_kind_now_refutes_what_was_kept",),
    ),
    Mutation(
        "H29-kept-quiet",
        "footers are kept of files that may change in the same second",
        (Rewrite("quiet_files_kept", "R or W or M", "W or M"),),
        (f"{_VALUES}::test_what_is_not_worth_it_or_not_safe_is_not_kept",),
    ),
    Mutation(
        "H29-kept-doubted",
        "a unit fails for good by figures that are wrong",
        (Condition("kept_footers_doubted", True),),
        (f"{_KEPT}::test_figures_that_are_wrong_cost_a_second_write_and_no_row",),
    ),
)

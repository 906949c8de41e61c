"""Guards of what one job may do: the first units of a run, limits, requested units. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Rewrite

_REQUESTED = "tests/crash/test_requested_units.py"
_LATE = "tests/crash/test_late_directory.py"
_CANARY = "tests/crash/test_canary.py"

LIMITS = (
    Mutation(
        "H46-alone",
        "other units are begun before the canaries have proved themselves",
        (Remove("canaries_alone"),),
        (f"{_CANARY}::test_a_canary_that_fails_stops_the_job",),
    ),
    Mutation(
        "H46-hash",
        "the values of the canaries are not compared",
        (Remove("canaries_hashed"),),
        (f"{_CANARY}::test_the_canaries_are_compared_value_by_value_before_the_others_begin",),
    ),
    Mutation(
        "H46-growth",
        "files that were added since the plan are read beyond the limits",
        (Rewrite("growth_within_limits", "self.reserved.lacks(more) if more != NONE else None", "None"),),
        (f"{_REQUESTED}::test_files_that_are_added_after_the_plan_count_in_the_limits",),
    ),
    Mutation(
        "H30-directory",
        "a directory that a late task creates gets the mode of a file",
        (Condition("no_file_mode_on_directories", False),),
        (f"{_LATE}::test_only_that_unit_fails_and_the_next_night_it_is_compacted",),
    ),
)

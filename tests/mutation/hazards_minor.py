"""Guards of a compaction in part, whose large files are copied. On the model, and in the decision itself."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Rewrite

_MINOR = "tests/crash/test_minor.py"
_STRATEGY = "tests/unit/core/test_strategy.py"

MINOR = (
    Mutation(
        "H47-compared",
        "a copy goes live that was not compared with its original",
        (Condition("copies_compared", False),),
        (f"{_MINOR}::test_a_copy_that_differs_does_not_go_live",),
    ),
    Mutation(
        "H47-numbers",
        "a check compares the rows of one schema with the files of another one",
        (Rewrite("groups_by_name", "sorted([*small, *large], key=K)", "[*small, *large]"),),
        (f"{_MINOR}::test_a_check_finds_what_was_written_of_each_schema_whichever_file_is_the_first",),
    ),
    Mutation(
        "H47-joint",
        "a unit with large files is written in one job with others, which does not copy them",
        (Condition("copies_not_joint", False),),
        (f"{_MINOR}::test_a_large_file_that_is_added_before_its_wave_is_not_left_out",),
    ),
    Mutation(
        "H47-all",
        "the rows of a file that no write has read are lost",
        (Condition("all_files_written", False),),
        (f"{_MINOR}::test_a_file_that_no_group_has_written_fails_the_unit",),
    ),
    Mutation(
        "H36-sorted",
        "only some rows of a sorted table are sorted",
        (Condition("sorted_is_full", False),),
        (f"{_STRATEGY}::test_tables_of_which_all_files_are_rewritten",),
    ),
    Mutation(
        "H47-footers",
        "files are copied of which no footer proves the rows",
        (Condition("footers_for_minor", False),),
        (f"{_STRATEGY}::test_tables_of_which_all_files_are_rewritten",),
    ),
)

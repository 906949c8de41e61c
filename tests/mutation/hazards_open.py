"""Guards of what may change without a trace in a listing: files that are opened again, and who may read them."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Rewrite

_CLOSED = "tests/crash/test_closed_folders.py"
_OPEN = "tests/crash/test_guards_open.py"
_FLAGS = "tests/crash/other_writers/test_flags.py"

_ASKS_NOBODY = Rewrite("reopened_files", "A if B else C", "A")

OPEN = (
    Mutation(
        "H5-again",
        "a file of lines that was opened again is not looked for in the sweep",
        (_ASKS_NOBODY,),
        (f"{_OPEN}::TestLines::test_a_file_that_is_opened_again_stays_its_writers",),
    ),
    Mutation(
        "H5-still",
        "a file of lines that was opened again is not looked for before the swap",
        (Remove("open_files_before_swap"),),
        (f"{_OPEN}::TestLines::test_one_that_was_opened_again_before_the_swap_is_never_moved",),
    ),
    Mutation(
        "H5-closed",
        "a file that is closed while HDFS is asked about it counts as it was listed before",
        (Rewrite("listed_after_close", "A if B else C", "C"),),
        (f"{_FLAGS}::test_an_empty_file_that_is_closed_with_rows_while_hdfs_is_asked_about_it_is_no_flag",),
    ),
    Mutation(
        "H6-again",
        "a rollback does not look for rewritten files that were opened again",
        (_ASKS_NOBODY, Condition("rollback_open_files", False), Condition("rollback_open_files_late", False)),
        (f"{_OPEN}::TestLines::test_a_rollback_takes_no_file_from_its_writer",),
    ),
    Mutation(
        "H24-closed",
        "who may read a unit is not looked at again before its swap",
        (Remove("attributes_kept"),),
        (f"{_OPEN}::TestRights::test_what_is_closed_while_it_is_compacted_stays_closed",),
    ),
    Mutation(
        "H24-listed",
        "who may read the files of a unit is not looked at again before its swap",
        (Remove("file_attributes_kept"),),
        (f"{_OPEN}::TestRights::test_a_file_that_is_closed_while_it_is_compacted_stays_closed",),
    ),
    Mutation(
        "H24-retry",
        "what a dead attempt has written keeps the rights that it was given then",
        (Remove("attributes_on_retry"),),
        (f"{_OPEN}::TestRights::test_what_is_closed_before_the_retry_of_a_dead_attempt_stays_closed",),
    ),
    Mutation(
        "H24-above",
        "what is above a partition in a run is open to whoever passes the run's directory",
        (Remove("closed_folders"),),
        (f"{_CLOSED}::test_what_a_kill_leaves_is_closed_and_stays_so",),
    ),
    Mutation(
        "H24-unlike",
        "a directory above a partition has the permissions of its original for another group",
        (Remove("closed_if_unlike"),),
        (f"{_CLOSED}::test_a_place_that_cannot_have_the_group_of_its_original_is_closed",),
    ),
)

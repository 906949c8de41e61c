"""Guards of the protocol: who may touch what, in which order, and what a fault leaves. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Replace, Rewrite, Value

_WRITERS = "tests/crash/test_guards_writers.py"
_ROLLBACK = "tests/crash/test_guards_rollback.py"
_CLEANUP = "tests/crash/test_guards_cleanup.py"
_STATEMENTS = "tests/unit/core/test_statements.py"
_BETWEEN = "test_rows_appended_between_the_renames_stay_in_the_table_that_is_not_rolled_back"

_UNLIKE_MANIFEST = Condition("cleanup_manifest", False)
_UNKNOWN_FILE = Condition("cleanup_unknown_file", False)
_REPLACED = Value("replaced_during_swap", "None")
_LATE_OVERWRITE = Value("rollback_overwritten_late", "None")
_STAGING_AT_WORK = Condition("staging_in_sweep", False)
SWAP = (
    Mutation(
        "H1-journal",
        "a run is a table's if the name only begins like it",
        (Rewrite("run_of_this_table", "A == B or C", "A.startswith(B)"),),
        (f"{_ROLLBACK}::TestRollback::test_a_table_whose_name_begins_like_another_s_leaves_its_runs_alone",),
    ),
    Mutation(
        "H1-backup",
        "a backup table is found by the prefix of its name",
        (
            Rewrite(
                "backup_by_properties",
                "A.get(B) == I and A.get(C) == T",
                "A and table.startswith(f\"__bkp_{T.split('.')[1]}\")",
            ),
        ),
        (f"{_STATEMENTS}::test_backup_tables_are_found_by_their_properties_and_never_by_their_names",),
    ),
    Mutation(
        "H1-drop",
        "a backup table is dropped whosever it is",
        (Rewrite("drop_own_backup_only", "not A or B", "B"),),
        (f"{_STATEMENTS}::test_what_is_not_the_backup_of_exactly_this_run_is_not_dropped",),
    ),
    Mutation(
        "H2",
        "a cleanup deletes what lies at a journaled path, whatever it is (three layers: identity, manifest, names)",
        (Condition("cleanup_identity", False), _UNLIKE_MANIFEST, _UNKNOWN_FILE),
        (f"{_CLEANUP}::TestCleanup::test_a_directory_that_is_not_the_journaled_one_is_not_deleted",),
    ),
    Mutation(
        "H2-live",
        "a cleanup deletes originals while the live directory is missing",
        (Replace("cleanup_live_missing", "return"),),
        (f"{_CLEANUP}::TestCleanup::test_originals_stay_while_the_live_directory_is_missing",),
    ),
    Mutation(
        "H2-empty",
        "a cleanup deletes originals while the live directory is empty",
        (
            Condition("cleanup_live_empty", False),
            Condition("cleanup_live_empty_files", False),
            Condition("cleanup_live_incomplete", False),
        ),
        (f"{_CLEANUP}::TestCleanup::test_originals_stay_while_the_live_directory_is_empty",),
    ),
    Mutation(
        "H2-files",
        "a cleanup takes an empty file for data",
        (Condition("cleanup_live_empty_files", False),),
        (
            "tests/crash/test_guards_cleanup.py::TestCleanup::test_originals_stay_while_the_live_directory_holds_only_an_empty_file",
        ),
    ),
    Mutation(
        "H2-moved",
        "a partition whose directory was moved counts as dropped",
        (Value("cleanup_live_moved", "None"),),
        (
            "tests/crash/test_guards_cleanup.py::TestCleanup::test_originals_stay_where_the_directory_was_moved_to_another_value",
        ),
    ),
    Mutation(
        "H2-leases",
        "a cleanup takes leases for what is due by its driver's clock alone",
        (Rewrite("leases_by_file_system", "A() if R else ()", "R"),),
        (
            "tests/crash/test_guards_cleanup.py::TestCleanup::test_leases_are_taken_also_of_what_is_due_by_the_clock_of_the_file_system_alone",
        ),
    ),
    Mutation(
        "H2-renamed",
        "a partition that has another value now counts as dropped",
        (Condition("cleanup_live_renamed", False),),
        (
            "tests/crash/test_guards_cleanup.py::TestCleanup::test_originals_stay_where_the_partition_has_another_value_now",
        ),
    ),
    Mutation(
        "H2-incomplete",
        "a cleanup deletes originals while files that were made of them are gone",
        (Condition("cleanup_live_incomplete", False),),
        (f"{_CLEANUP}::TestCleanup::test_originals_stay_while_a_compacted_file_is_gone",),
    ),
    Mutation(
        "H6-dropped",
        "a partition that was dropped in the last moment comes back with a rollback",
        (Condition("dropped_stays_dropped", False),),
        (
            f"{_ROLLBACK}::TestRollback::test_a_partition_that_is_dropped_in_the_last_moment_does_not_come_back",
        ),
    ),
    Mutation(
        "H20-homes",
        "an interrupted run is not seen once the metastore has lost its partition",
        (Replace("homes_by_journal", "return ()"),),
        (
            f"{_ROLLBACK}::TestUnfinished::test_a_run_is_found_although_the_metastore_has_lost_its_only_partition",
        ),
    ),
    Mutation(
        "H3-anew",
        "a directory that a writer of unknown kind made in the gap is merged into the table",
        (Condition("unknown_writers_refused", True),),
        (f"{_WRITERS}::TestWriters::test_a_directory_made_anew_in_the_gap_is_nobodys_to_judge",),
    ),
    Mutation(
        "H4-check",
        "nothing is looked at again before the swap (and not after it: the sweep would undo it)",
        (Condition("replaced_before_swap", False), _REPLACED),
        (f"{_WRITERS}::TestWriters::test_rows_replaced_during_the_compaction_call_the_swap_off",),
    ),
    Mutation(
        "H4-sweep",
        "files that came in the last moment stay with the originals",
        (Value("carry_late_files", "0"),),
        (f"{_WRITERS}::TestWriters::test_rows_appended_in_the_last_moment_are_carried",),
    ),
    Mutation(
        "H4-replaced",
        "an overwrite in the last moment is not noticed, and old rows come back",
        (_REPLACED,),
        (f"{_WRITERS}::TestWriters::test_rows_replaced_in_the_last_moment_are_not_brought_back",),
    ),
    Mutation(
        "H5-staging",
        "a writer's staging file in a unit is taken for data",
        (Condition("staging_in_unit", False),),
        (f"{_WRITERS}::TestWriters::test_staging_in_a_unit_is_left_alone",),
    ),
    Mutation(
        "H5-above",
        "a writer's staging folder above a unit is not looked for",
        (Condition("staging_above_unit", False),),
        (f"{_WRITERS}::TestWriters::test_staging_above_a_unit_is_left_alone",),
    ),
    Mutation(
        "H5-open",
        "nobody asks for open files, neither before the swap nor in the sweep",
        (Condition("files_being_written", False), Condition("open_files_in_sweep", False)),
        (f"{_WRITERS}::TestWriters::test_a_unit_with_an_open_file_is_left_alone",),
    ),
    Mutation(
        "H5-sweep",
        "a job that staged right before the swap loses its staging folder",
        (_STAGING_AT_WORK,),
        (f"{_WRITERS}::TestWriters::test_a_job_that_stages_as_the_swap_begins_gets_through",),
    ),
    Mutation(
        "H5-cleanup",
        "a cleanup deletes what came to the originals late (two layers: manifest, names)",
        (_UNLIKE_MANIFEST, _UNKNOWN_FILE),
        (f"{_CLEANUP}::TestCleanup::test_a_file_that_came_to_the_originals_late_is_kept",),
    ),
    Mutation(
        "H6-carry",
        "a rollback leaves rows behind that were added since",
        (Value("carry_appended", "0"),),
        (f"{_ROLLBACK}::TestRollback::test_rows_appended_since_stay_in_the_table",),
    ),
    Mutation(
        "H6-conflict",
        "what appenders wrote between the renames is left in a folder that nobody reads",
        (Rewrite("conflicts_carried", "A + B", "A"),),
        (f"{_ROLLBACK}::TestRollback::{_BETWEEN}",),
    ),
    Mutation(
        "H6-delete",
        "a rollback deletes the live directory instead of renaming it aside",
        (Rewrite("rollback_renames_aside", "F.M(L, A, I)", "F.delete_tree(L)"),),
        (f"{_ROLLBACK}::TestRollback::test_rows_appended_since_stay_in_the_table",),
    ),
    Mutation(
        "H6-overwritten",
        "a rollback brings rows back that were overwritten since (two layers: before, and between the renames)",
        (Value("rollback_overwritten", "[]"), _LATE_OVERWRITE),
        (f"{_ROLLBACK}::TestRollback::test_rows_that_were_overwritten_since_do_not_come_back",),
    ),
    Mutation(
        "H6-late",
        "a rollback brings rows back that were overwritten in the last moment",
        (_LATE_OVERWRITE,),
        (f"{_ROLLBACK}::TestRollback::test_rows_that_were_overwritten_in_the_last_moment_do_not_come_back",),
    ),
    Mutation(
        "H6-theirs",
        "tidying up deletes files that the run did not write",
        (Condition("delete_own_files_only", True),),
        (f"{_ROLLBACK}::TestRollback::test_what_others_put_into_a_folder_of_ours_is_not_deleted",),
    ),
    Mutation(
        "H8",
        "a folder in a unit is read past, before the swap and in the sweep",
        (Condition("folders_in_unit", False), _STAGING_AT_WORK),
        (f"{_WRITERS}::TestWriters::test_folders_in_a_unit_are_refused",),
    ),
    Mutation(
        "H9",
        "what is ours lies below a `_` folder, which Impala lists",
        (Value("hidden_home", "'_lakekeeper'"),),
        ("tests/unit/core/test_layout.py::test_homes_hide_behind_a_dot_and_keep_the_leaf_visible",),
    ),
)

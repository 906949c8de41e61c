"""Guards of what other writers keep in a unit, and of journals that are not this table's. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Replace, Rewrite, Value

_PENDING = "tests/crash/other_writers/test_pending_files.py"
_FLAGS = "tests/crash/other_writers/test_flags.py"
_SUMMARIES = "tests/crash/other_writers/test_summaries.py"
_COPIES = "tests/crash/test_copied_tables.py"
_PLANTED = "tests/crash/test_planted_journals.py"
_PLACES = "tests/crash/test_places_of_others.py"
_AGAIN = "tests/crash/test_guards_again.py"

WRITERS = (
    Mutation(
        "H40-owner",
        "anybody's records count",
        (Remove("journal_owner"),),
        (f"{_COPIES}::test_records_of_a_stranger_are_refused",),
    ),
    Mutation(
        "H40-folder",
        "records count in a folder of anybody",
        (Remove("run_folder_owner"),),
        (f"{_COPIES}::test_records_of_ours_in_a_folder_of_somebody_else_are_refused",),
    ),
    Mutation(
        "H40-shared",
        "records count in a folder to which anybody may write",
        (Condition("shared_run_folder", False),),
        (f"{_COPIES}::test_records_in_a_folder_that_others_may_write_to_are_refused",),
    ),
    Mutation(
        "H40-outside",
        "the owner of a root counts in homes that do not lie there, wherever they are (two layers)",
        (Value("root_owner_outside", "self._trust"), Rewrite("homes_of_one_directory", "A and B", "True")),
        (f"{_PLANTED}::test_the_owner_of_a_root_leads_to_no_home_of_others",),
    ),
    Mutation(
        "H40-records",
        "a folder without any record, as open as the umask has it, stops a table",
        (Condition("folders_without_records", True),),
        (
            "tests/crash/test_run_folders.py::test_a_folder_that_a_late_task_of_a_dead_driver_makes_again_is_no_run",
        ),
    ),
    Mutation(
        "H40-closed",
        "a run goes on in a folder that cannot be closed",
        (Remove("run_folder_closed"),),
        ("tests/crash/test_run_folders.py::test_a_folder_that_cannot_be_closed_is_not_worked_in",),
    ),
    Mutation(
        "H40-retry",
        "a retry swaps what is refused by now",
        (Condition("refused_since", False),),
        (f"{_PLANTED}::test_a_retry_swaps_nothing_that_is_refused_by_now",),
    ),
    Mutation(
        "H40-between",
        "a table of another format between the root and a unit is rewritten",
        (Condition("table_format_marks_between", False),),
        (
            "tests/crash/test_free_layouts.py::test_a_table_of_another_format_between_the_root_and_a_unit_is_a_refusal",
        ),
    ),
    Mutation(
        "H42-lands",
        "a file that holds offsets is carried under another name",
        (Condition("offsets_carried", False),),
        (
            "tests/crash/other_writers/test_pending_files.py::test_a_file_of_kafka_connect_that_lands_in_the_last_moment_keeps_its_name",
        ),
    ),
    Mutation(
        "H43-gap",
        "a copy taken between the renames hides rows, and all is well",
        (Condition("missing_in_a_copy", True),),
        (f"{_COPIES}::test_a_copy_taken_between_the_renames_says_so_until_somebody_has_looked",),
    ),
    Mutation(
        "H40-layout",
        "any property of a table reaches readers and writers",
        (Rewrite("layout_properties_only", "_fits(K, V)", "True"),),
        ("tests/unit/core/test_writer_options.py::test_no_others_are",),
    ),
    Mutation(
        "H40-types",
        "the type of a column is whatever its table's owner says",
        (Condition("types_are_types", False),),
        ("tests/unit/core/test_statements.py::test_the_type_of_a_column_is_a_type",),
    ),
    Mutation(
        "H40-local",
        "a table lies on the driver's disk",
        (Condition("local_disk_of_the_driver", False),),
        (f"{_PLACES}::test_a_local_disk_is_no_place_where_the_default_file_system_is_another",),
    ),
    Mutation(
        "H40-home",
        "a home that was moved leads to a directory of others",
        (Remove("owner_of_unit_outside"), Remove("owner_of_partition_outside")),
        (f"{_PLACES}::test_a_home_that_was_moved_leads_to_no_directory_of_others",),
    ),
    Mutation(
        "H40-twin",
        "runs of another table on the same root count",
        (Value("runs_of_another_table", "runs"),),
        (f"{_PLACES}::test_a_table_on_the_root_of_another_does_not_clean_up_its_runs",),
    ),
    Mutation(
        "H40-owner-of-merged",
        "whoever may only add files owns the one in which they end up with those of others",
        (Value("owner_of_merged_files", "file"),),
        (
            "tests/unit/core/test_faithful.py::TestAttributes::test_a_file_made_of_those_of_several_owners_belongs_to_the_owner_of_the_directory",
        ),
    ),
    Mutation(
        "H40-units",
        "any folder below the root is a unit that a journal may be about",
        (Remove("units_of_this_table"),),
        (f"{_PLANTED}::test_a_folder_below_the_root_that_is_no_partition_is_left_alone",),
    ),
    Mutation(
        "H40-partition",
        "a partition may lie in a directory of anybody",
        (Remove("owner_of_partition_outside"),),
        (f"{_PLANTED}::test_a_partition_that_points_at_a_directory_of_others_is_refused",),
    ),
    Mutation(
        "H40-formats",
        "a partition may lie inside a table of Iceberg, Delta or Hudi",
        (Remove("table_format_marks_outside"),),
        (f"{_PLANTED}::test_a_partition_inside_a_table_of_another_format_is_refused",),
    ),
    Mutation(
        "H40-log",
        "a snapshot of the commit log leads to any file",
        (Condition("names_in_the_log", False),),
        ("tests/unit/core/test_commit_log_names.py::test_a_snapshot_leads_to_no_file_outside_the_log",),
    ),
    Mutation(
        "H40-readers",
        "rows that only their owner may read end up in a file of somebody else",
        (Rewrite("files_of_several_owners", "None if C else O", "None"),),
        (
            "tests/unit/core/test_faithful.py::TestAttributes::test_files_that_only_their_owners_may_read_are_not_made_one",
        ),
    ),
    Mutation(
        "H40-properties",
        "whoever may change a table's properties says what SQL the jobs run",
        (Remove("properties_of_the_table"),),
        (
            "tests/unit/core/test_options.py::test_a_table_property_says_nothing_of_what_lies_outside_the_table",
        ),
    ),
    Mutation(
        "H42-summaries",
        "a summary of files that are gone is carried into the table",
        (Condition("summaries_left_behind", False),),
        (f"{_SUMMARIES}::test_a_summary_with_the_originals_does_not_return",),
    ),
    Mutation(
        "H4-after",
        "what was appended after an overwrite stays aside",
        (Value("appended_after_overwrite", "0"),),
        (f"{_AGAIN}::TestTwice::test_an_append_after_an_overwrite_is_kept",),
    ),
    Mutation(
        "H2-claimed",
        "what a cleanup has claimed is not looked at again",
        (Remove("claimed_unused"),),
        (f"{_AGAIN}::TestClaims::test_what_a_cleanup_has_claimed_is_looked_at_again",),
    ),
    Mutation(
        "H42-pending",
        "a file that its writer has still to rename is taken for nobody's",
        (Condition("pending_files", False),),
        (f"{_PENDING}::test_a_pending_file_is_left_to_its_writer",),
    ),
    Mutation(
        "H42-kept",
        "hidden files go where the originals go, and are deleted with them",
        (Rewrite("hidden_files_kept", "not A", "True"), Remove("hidden_files_back")),
        (f"{_PENDING}::test_an_old_pending_file_can_still_be_committed",),
    ),
    Mutation(
        "H42-before",
        "hidden files that lie with the originals are deleted with them",
        (Remove("hidden_files_back"),),
        (f"{_PENDING}::test_a_hidden_file_with_the_originals_returns_before_a_cleanup",),
    ),
    Mutation(
        "H42-name",
        "a hidden file is carried into the table under another name",
        (Replace("own_name_kept", "raise FileExistsError"),),
        (f"{_PENDING}::test_a_pending_file_that_comes_in_the_last_moment_keeps_its_name",),
    ),
    Mutation(
        "H42-flag",
        "a flag that was taken away comes back with the swap",
        (Condition("flags_before_swap", False),),
        (f"{_FLAGS}::test_a_flag_that_is_taken_away_meanwhile_does_not_come_back",),
    ),
    Mutation(
        "H42-summary",
        "a summary of files that are gone stays",
        (Condition("summary_files", False),),
        (f"{_SUMMARIES}::test_summary_files_are_a_refusal",),
    ),
    Mutation(
        "H42-above",
        "a summary above a unit stays",
        (Remove("summaries_above_unit"),),
        (f"{_SUMMARIES}::test_summary_files_are_a_refusal",),
    ),
    Mutation(
        "H42-offsets",
        "names in which a connector keeps its offsets are replaced",
        (Condition("offsets_in_names", False),),
        (f"{_SUMMARIES}::test_names_of_kafka_connect_are_a_refusal",),
    ),
    Mutation(
        "H44",
        "a backup table of Lakekeeper 0.0.6 is compacted like any other",
        (Remove("legacy_backup_tables"),),
        ("tests/crash/test_legacy.py::test_its_backup_tables_are_left_alone",),
    ),
    Mutation(
        "H44-name",
        "a backup table of Lakekeeper 0.0.6 that still reads the live directories is compacted",
        (Condition("legacy_backup_names", False),),
        ("tests/crash/test_legacy.py::test_a_backup_table_that_still_reads_the_table_itself_is_left_alone",),
    ),
    Mutation(
        "H44-partition",
        "originals of Lakekeeper 0.0.6 that MSCK has registered as a partition are compacted",
        (Condition("leftovers_no_partitions", False),),
        ("tests/crash/test_legacy.py::test_a_leftover_that_is_registered_as_a_partition_is_not_compacted",),
    ),
    Mutation(
        "H43-copy",
        "a run that came with a copy is settled as if it were of this place",
        (Condition("copied_run", False), Condition("copied_closing", False)),
        (f"{_COPIES}::test_a_copy_taken_at_any_moment_doubles_no_row",),
    ),
    Mutation(
        "H43-moved",
        "a unit is where the journal says, and not where its home is",
        (Rewrite("live_by_home", "A(S, live=L)", "S"),),
        (f"{_COPIES}::test_a_table_that_was_moved_still_has_its_runs",),
    ),
)

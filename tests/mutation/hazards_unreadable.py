"""Guards of refusals that are remembered: of files that cannot be read, and of what only reading finds."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Replace, Rewrite, Value

_ERRORS = "tests/unit/core/test_content_errors.py"
_MODEL = "tests/crash/test_unreadable.py"
_PLACES = "tests/crash/test_exits_out_of_place.py"
_LINKS = "tests/unit/core/test_symbolic_links.py"
_SEARCH = "tests/unit/core/test_unreadable_files.py"
_CACHE = "tests/unit/core/test_surveyed_units.py"

UNREADABLE = (
    Mutation(
        "H57-cluster",
        "a missing block, a permission or too little memory is taken for a damaged file",
        (Condition("cluster_errors", False),),
        (f"{_ERRORS}::test_what_the_cluster_says_is_not",),
    ),
    Mutation(
        "H57-library",
        "a codec without its native library is taken for a damaged file",
        (Condition("library_is_no_content", False),),
        (f"{_ERRORS}::test_what_the_cluster_says_is_not",),
    ),
    Mutation(
        "H57-settings",
        "a buffer of no bytes, which a cluster has set, is taken for a damaged file",
        (Condition("setting_is_no_content", False),),
        (f"{_ERRORS}::test_what_the_cluster_says_is_not",),
    ),
    Mutation(
        "H57-configuration",
        "a setting that is no number is taken for a damaged file",
        (Condition("configuration_is_no_content", False),),
        (f"{_ERRORS}::test_what_the_cluster_says_is_not",),
    ),
    Mutation(
        "H57-reading",
        "each error that names a file is taken for one about its content",
        (Rewrite("content_found_by_reading", "F and C", "F"),),
        (f"{_ERRORS}::test_a_file_that_the_cluster_fails_to_read_fails_its_unit",),
    ),
    Mutation(
        "H57-lost",
        "while the cluster fails, a whole file is taken for the damaged one",
        (Condition("cluster_tells_nothing_of_files", False),),
        (f"{_SEARCH}::test_no_file_is_named_if_the_cluster_fails_meanwhile",),
    ),
    Mutation(
        "H57-named",
        "a file is taken for the damaged one because its name is in a message",
        (Rewrite("named_file_fails", "A is not None and B", "A is not None"),),
        (f"{_SEARCH}::test_no_file_is_named_if_all_of_them_can_be_read",),
    ),
    Mutation(
        "H57-alone",
        "the last file is taken for the damaged one although it can be read",
        (Value("fails_alone", "files[0]"),),
        (f"{_SEARCH}::test_no_file_is_named_if_all_of_them_can_be_read",),
    ),
    Mutation(
        "H57-stripes",
        "an error of the client of HDFS is taken for one of the types of a file",
        (Condition("cluster_is_no_type", False),),
        (f"{_SEARCH}::test_an_error_of_the_client_while_stripes_are_appended_is_none",),
    ),
    Mutation(
        "H57-jars",
        "a refusal outlives the setting or the jar that it is about",
        (Condition("verdicts_of_settings", False),),
        (f"{_CACHE}::test_what_depends_on_settings_is_not_kept",),
    ),
    Mutation(
        "H57-planned",
        "a refusal counts for files that it is not about",
        (Rewrite("verdict_of_planned_files", "A and A.of_planned_files", "A"),),
        (f"{_MODEL}::test_what_was_found_in_a_file_that_came_later_is_not_kept",),
    ),
    Mutation(
        "H57-written",
        "a written file that cannot be read leaves its unit alone for good",
        (Replace("written_files_are_not_refused", "raise"),),
        (f"{_MODEL}::test_a_written_file_that_cannot_be_read_is_no_fault_of_the_table",),
    ),
    Mutation(
        "H57-young",
        "a file that may still be completed is never looked at again",
        (Value("young_files_forgotten", "listed is not None"),),
        (f"{_MODEL}::test_a_young_file_is_asked_again",),
    ),
    Mutation(
        "H57-open",
        "a file that is being written is taken for a damaged one",
        (Value("unreadable_because_open", "False"),),
        (f"{_MODEL}::test_a_file_that_is_being_written_is_left_to_the_compaction",),
    ),
    Mutation(
        "H57-other-files",
        "a refusal counts for files that were added since",
        (Condition("verdict_of_these_files", False),),
        (f"{_MODEL}::TestTableWithoutPartitions::test_other_files_are_asked_again",),
    ),
    Mutation(
        "H57-option",
        "a refusal counts where another option would not refuse",
        (Rewrite("verdict_by_option", "B == C and D", "B == C"),),
        (f"{_CACHE}::test_a_verdict_on_values_holds_for_one_way_to_compare_them",),
    ),
    Mutation(
        "H57-large",
        "values that are too large for a batch are taken for damaged ones",
        (Condition("large_values_are_sound", False),),
        (f"{_ERRORS}::test_values_too_large_for_a_batch_are_refused_with_the_setting",),
    ),
    Mutation(
        "H57-home",
        "a file in the place of the home fails each job of the database",
        (Rewrite("home_is_a_directory", "raise R(A, B, C)", "raise Unsafe(B)"),),
        (f"{_PLACES}::TestFileInPlaceOfTheHome::test_fails_no_job_of_a_database",),
    ),
    Mutation(
        "H57-link",
        "a swap renames a symbolic link, which leads nowhere then",
        (Condition("units_are_no_links", False),),
        (f"{_LINKS}::test_a_unit_that_is_a_link_is_refused",),
    ),
    Mutation(
        "H57-link-swap",
        "a directory that became a symbolic link while it was compacted is renamed",
        (Remove("no_link_before_swap"),),
        (
            "tests/crash/test_guards_writers.py"
            "::TestWriters::test_a_directory_that_became_a_link_meanwhile_is_not_renamed",
        ),
    ),
    Mutation(
        "H57-link-known",
        "a directory that became a symbolic link since the last analysis is not seen to be one",
        (Remove("known_units_are_no_links"),),
        (
            "tests/crash/test_survey.py"
            "::test_a_unit_that_became_a_link_is_refused_though_its_figures_are_known",
        ),
    ),
)
UNREADABLE_ON_SPARK = (
    Mutation(
        "H57-read",
        "values that the writer has changed are taken for wrong statistics of the originals",
        (Condition("values_that_were_read", False),),
        ("tests/spark/test_wrong_statistics.py::test_values_that_the_writer_has_changed_fail_the_unit",),
        "spark",
    ),
    Mutation(
        "H57-nan",
        "a NaN that the writer has changed is no difference, whatever verify says",
        (Value("bits_of_nans_hashed", "self._one_nan"),),
        ("tests/fidelity/test_nan.py",),
        "spark",
    ),
    Mutation(
        "H57-bzip2",
        "a file of bzip2 that is cut off between two blocks is taken for a whole one",
        (Condition("end_of_bzip2", False),),
        (
            "tests/fidelity/test_text_rows.py"
            "::test_a_file_of_bzip2_that_is_cut_off_between_two_blocks_is_refused",
        ),
        "spark",
    ),
    Mutation(
        "H57-values",
        "values that no reader returns go away with the original",
        (Condition("values_of_rows", False),),
        ("tests/fidelity/test_unreadable_files.py::test_a_row_group_with_other_values_than_rows_is_refused",),
        "spark",
    ),
    Mutation(
        "H57-values-groups",
        "values that no reader returns go away with the original, if executors have read the footers",
        (Condition("refusals_of_groups", False),),
        ("tests/fidelity/test_unreadable_files.py::test_a_row_group_with_other_values_than_rows_is_refused",),
        "spark",
    ),
    Mutation(
        "H57-groups",
        "files whose footers the executors could not read are left out",
        (Value("footers_of_all_files", "[(batch[0].directory, in_order)]"),),
        ("tests/spark/test_executor_footers.py::test_a_file_that_cannot_be_read_is_named",),
        "spark",
    ),
    Mutation(
        "H57-columns",
        "a table with encrypted columns fails each night",
        (Condition("encrypted_columns", False),),
        ("tests/fidelity/test_unreadable_files.py::test_encrypted_columns_under_a_plain_footer_are_refused",),
        "spark",
    ),
    Mutation(
        "H57-encrypted",
        "a table with encrypted footers fails each night",
        (Condition("encrypted_footers", False),),
        ("tests/fidelity/test_unreadable_files.py::test_a_file_with_an_encrypted_footer_is_no_damaged_one",),
        "spark",
    ),
)

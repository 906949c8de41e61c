"""Guards of what one format alone has: metadata, and files of several schemas."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Rewrite, Value

_METADATA = "tests/unit/core/test_avro_metadata.py"
_GROUPS = "tests/unit/core/test_file_groups.py"
_WRITTEN = "tests/crash/test_file_groups.py"
_STRIPES = "tests/unit/core/test_stripes.py"

FORMATS = (
    Mutation(
        "H15-metadata",
        "metadata that no copy carries is lost",
        (Condition("unknown_metadata_refused", False),),
        (f"{_METADATA}::test_keys_that_only_say_how_dates_are_meant_pass_and_all_others_are_refused",),
    ),
    Mutation(
        "H14-metadata",
        "the metadata of one file says how the dates of all are meant",
        (Condition("metadata_agrees", False),),
        (f"{_METADATA}::test_files_that_differ_in_it_are_refused",),
    ),
    Mutation(
        "H15-carried",
        "nobody looks whether the metadata was carried",
        (Condition("metadata_compared", False),),
        (f"{_METADATA}::test_what_was_written_must_have_it",),
    ),
    Mutation(
        "H7-widened",
        "files of two types are written with one schema",
        (Condition("group_of_one_type", False),),
        (f"{_GROUPS}::test_files_with_a_widened_column_are_groups_of_one_type",),
    ),
    Mutation(
        "H7-unrelated",
        "any two types of a column are taken for a widened one",
        (Value("only_widened", "False"),),
        (f"{_GROUPS}::test_files_with_any_other_two_types_stay_together_and_are_refused",),
    ),
    Mutation(
        "H16-union",
        "columns that are at one position in different files are united by name",
        (Value("positions_in_group", "True"),),
        (f"{_GROUPS}::test_by_position_the_columns_of_a_file_are_the_first_of_its_group",),
    ),
    Mutation(
        "H16-readers",
        "how the readers of a table match its columns is not asked",
        (Value("readers_by_position", "False"),),
        (f"{_WRITTEN}::test_where_readers_go_by_position_no_column_gets_another_one",),
    ),
    Mutation(
        "H29-groups",
        "the rows of a group are not counted",
        (Remove("each_group_compared"),),
        (f"{_WRITTEN}::test_a_group_that_lost_a_row_to_another_one_fails_the_unit",),
    ),
    Mutation(
        "H38-groups",
        "files that no write of the unit has made go live",
        (Condition("files_of_no_group", False),),
        (f"{_WRITTEN}::test_a_file_that_belongs_to_no_group_fails_the_unit",),
    ),
    Mutation(
        "H14-stripes-alone",
        "a file whose stripes cannot be merged is merged with others",
        (Condition("mergeable_alone", False),),
        (f"{_STRIPES}::test_all_files_are_merged_or_none",),
    ),
    Mutation(
        "H14-stripes-layout",
        "stripes of files that differ are merged",
        (Rewrite("one_layout_to_merge", "A if B else C", "C"),),
        (f"{_STRIPES}::test_all_files_are_merged_or_none",),
    ),
    Mutation(
        "H14-stripes-missing",
        "a stripe without statistics is merged",
        (Condition("statistics_of_stripes", False),),
        (f"{_STRIPES}::test_a_stripe_without_statistics_cannot_be_merged",),
    ),
    Mutation(
        "H14-stripes-types",
        "stripes without statistics of timestamps are merged: readers would skip their rows",
        (Condition("statistics_of_each_type", False),),
        (f"{_STRIPES}::test_statistics_decide_what_can_be_merged",),
    ),
    Mutation(
        "H7-rows",
        "files with rows are left out, or those without rows have a say",
        (Value("only_files_without_rows_left_out", "footers"),),
        (f"{_STRIPES}::test_files_without_rows_do_not_count_beside_others",),
    ),
    Mutation(
        "H7-fields",
        "fields that differ only in case are read as one",
        (Condition("fields_by_case", False),),
        (f"{_STRIPES}::test_fields_that_differ_only_in_case_are_refused",),
    ),
    Mutation(
        "H4-stripes",
        "a file whose footer counts no rows is left out, with the rows of its stripes",
        (Condition("rows_of_stripes", False),),
        (
            "tests/fidelity/test_public_orc_files.py::test_every_row_is_kept[TestOrcFile.testWithoutCompressionBlockSize]",
        ),
        "spark",
    ),
    Mutation(
        "H14-lists",
        "lists without statistics of their own are appended without any",
        (Condition("any_list_fits", False),),
        ("tests/fidelity/test_old_orc.py::test_lists_and_maps_without_statistics_are_merged",),
        "spark",
    ),
    Mutation(
        "H14-stripes-calendar",
        "a merged file is in the calendar of the cluster, not of its stripes",
        (Remove("calendar_of_stripes"),),
        (
            "tests/fidelity/test_old_orc.py"
            "::test_a_merge_keeps_the_calendar_whatever_the_cluster_says[names1]",
        ),
        "spark",
    ),
    Mutation(
        "H14-noted",
        "records are copied without the note of their calendar",
        (Condition("noted_calendar", False),),
        ("tests/unit/core/test_footer_keys.py::test_a_copy_without_the_note_is_read_as_before",),
    ),
)

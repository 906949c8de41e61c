"""Guards of what is in the files: formats, types, places and values. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Rewrite, Value

_TABLES = "tests/crash/test_guards_tables.py"
_STATEMENTS = "tests/unit/core/test_statements.py"
_DECIDING = "tests/unit/core/test_deciding.py"
_FOOTERS = "tests/unit/core/test_footers.py"
_LEAVES = "tests/unit/core/test_leaf_statistics.py"

ROWS = Condition("rows_compared", False)
TYPES = Condition("types_compared", False)
FIGURES = Remove("leaf_statistics_compared")

FILES = (
    Mutation(
        "H7-types",
        "two types of one column are not noticed",
        (Condition("one_type_per_column", False),),
        (f"{_FOOTERS}::test_conflicting_types_and_foreign_int96_are_refused",),
    ),
    Mutation(
        "H13-format",
        "the SerDe alone tells the format",
        (
            Rewrite(
                "input_format_and_serde",
                "F.get((I, S))",
                "next((kind for (_, serde), kind in F.items() if serde == S), None)",
            ),
        ),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
    ),
    Mutation(
        "H13-partition",
        "a partition has the format of its table",
        (Condition("partition_format", False),),
        (f"{_TABLES}::TestLeftAlone::test_a_partition_of_another_format_than_its_table",),
    ),
    Mutation(
        "H13-marks",
        "nobody looks for another table format's folders",
        (Remove("table_format_marks"),),
        (f"{_TABLES}::TestLeftAlone::test_another_table_format_under_the_root",),
    ),
    Mutation(
        "H14-int96",
        "INT96 of an unknown writer is rewritten",
        (Condition("int96_writer", False),),
        (f"{_FOOTERS}::test_conflicting_types_and_foreign_int96_are_refused",),
    ),
    Mutation(
        "H15-types",
        "what Spark makes of a type is not looked at",
        (TYPES,),
        (f"{_FOOTERS}::test_what_was_written_must_be_what_was_read",),
    ),
    Mutation(
        "H16",
        "columns by position do not need files of one schema",
        (Condition("columns_by_position", False),),
        (f"{_TABLES}::TestFiles::test_columns_by_position_need_files_of_one_schema",),
    ),
    Mutation(
        "H17-select",
        "partition values are compared as numbers",
        (Rewrite("values_as_text", "A == B", "(A or '').lstrip('0') == (B or '').lstrip('0')"),),
        (f"{_DECIDING}::test_partition_specs_select_by_the_text_that_the_metastore_holds",),
    ),
    Mutation(
        "H17-quotes",
        "values go into SQL as they are",
        (Rewrite("sql_quoting", "T.replace(A, B).replace(C, D)", "T"),),
        (f"{_STATEMENTS}::test_values_are_quoted_and_not_interpreted",),
    ),
    Mutation(
        "H17-decode",
        "a location is read as it is encoded",
        (Rewrite("location_decoded_once", "D(L).rstrip('/')", "L.rstrip('/')"),),
        (f"{_STATEMENTS}::test_a_location_is_decoded_once",),
    ),
    Mutation(
        "H27-bucketed",
        "bucketed tables are compacted",
        (Condition("bucketed_tables", False),),
        (f"{_DECIDING}::test_tables_are_refused_by_code", f"{_DECIDING}::test_plain_external_tables_pass"),
    ),
    Mutation(
        "H27-files",
        "bucket files are rewritten",
        (Condition("bucket_files_stay", False),),
        ("tests/unit/core/test_bucket_files.py::test_files_that_may_be_buckets_are_refused",),
    ),
    Mutation(
        "H27-partition",
        "bucket files of a partition are rewritten that has another number of buckets than its table",
        (Condition("buckets_of_partitions", False),),
        ("tests/unit/core/test_bucket_files.py::test_a_partition_with_another_number_of_buckets_is_refused",),
    ),
    Mutation(
        "H27-left",
        "a compaction leaves as many files as there are buckets, which engines take for them",
        (Condition("no_files_like_buckets", False),),
        (
            "tests/unit/core/test_bucket_files.py::test_no_compaction_leaves_as_many_files_as_there_are_buckets",
        ),
    ),
    Mutation(
        "H27-skewed",
        "skewed tables are compacted",
        (Condition("skewed_tables", False),),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
    ),
    Mutation(
        "H28",
        "the backup table is made like its source",
        (Value("backup_own_definition", "f'CREATE TABLE {backup} LIKE {source.name}'"),),
        (f"{_STATEMENTS}::test_a_backup_table_is_defined_by_what_we_say_and_nothing_else",),
    ),
    Mutation(
        "H29-rows",
        "rows are not counted after the rewrite",
        (ROWS,),
        (f"{_FOOTERS}::test_what_was_written_must_be_what_was_read",),
    ),
    Mutation(
        "H29-figures",
        "figures of the columns are not compared",
        (FIGURES,),
        (f"{_LEAVES}::test_a_rewrite_with_other_figures_fails_before_the_swap_and_names_all",),
    ),
    Mutation(
        "H29-empty",
        "files of no length are read",
        (Rewrite("empty_files_not_read", "[A for F in M if L]", "[A for F in M]"),),
        (f"{_TABLES}::TestFiles::test_files_of_no_length_are_dropped_and_recorded",),
    ),
    Mutation(
        "H29-footers",
        "a file may have no footer",
        (Remove("each_file_has_a_footer"),),
        (f"{_TABLES}::TestFiles::test_a_file_without_a_footer_fails_its_unit",),
    ),
    Mutation(
        "H31-scheme",
        "a rename on an object store passes for atomic",
        (Value("atomic_rename_schemes", "('hdfs', 'file', 's3a')"),),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
    ),
    Mutation(
        "H31-overlap",
        "shared directories are compacted",
        (Condition("shared_directories", False),),
        (f"{_TABLES}::TestLeftAlone::test_partitions_that_share_a_directory",),
    ),
    Mutation(
        "H31-prefix",
        "a path that begins like another is inside it",
        (
            Rewrite(
                "path_below_path", "(A.rstrip('/') + '/').startswith(B.rstrip('/') + '/')", "A.startswith(B)"
            ),
        ),
        (f"{_DECIDING}::test_shared_and_nested_locations_overlap_but_prefixes_of_names_do_not",),
    ),
    Mutation(
        "H36-codec",
        "the codec is the session's default",
        (Rewrite("codec_of_files", "A[0] if A else B", "'snappy' if A else B"),),
        (f"{_FOOTERS}::test_a_profile_unites_all_footers",),
    ),
    Mutation(
        "H36-files",
        "every unit becomes one file",
        (Value("files_by_target_size", "1"),),
        (f"{_DECIDING}::test_small_files_are_judged_by_the_smaller_of_average_and_median",),
    ),
)

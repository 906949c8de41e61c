"""Guards of the seam itself, which only a real Spark and a real metastore can tell."""

from __future__ import annotations

from tests.mutation.hazards_files import FIGURES, ROWS, TYPES
from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Item, Remove, Replace, Rewrite, Value

_SEAM = "tests/spark/test_seam.py"
_FIDELITY = "tests/spark/test_fidelity.py"
_AVRO = "tests/fidelity/test_avro_metadata.py"
_READING = "tests/spark/test_exact_reading.py"
_CORRUPT_FILES = Item("pinned_settings", "spark.sql.files.ignoreCorruptFiles", "true")


SEAM = (
    Mutation(
        "H3",
        "a rename goes by FileSystem, which moves into an existing directory",
        (Rewrite("rename_never_into", "A.C(S).M(P, T, N)", "A._fs(S).M(P, T)"),),
        (f"{_SEAM}::test_a_rename_never_goes_into_or_over_a_directory",),
        "spark",
    ),
    Mutation(
        "H3-local",
        "a rename on a local disk goes over an empty directory",
        (Rewrite("local_rename_never_over", "A(B, C, D, E, F(G))", "A(B, C, D, E, F(0))"),),
        (f"{_SEAM}::test_a_rename_never_goes_into_or_over_a_directory",),
        "spark",
    ),
    Mutation(
        "H4-names",
        "the files of a copy have the names of those of the copy before it",
        (Value("copies_named_fresh", "str(status.getPath().getName())"),),
        (f"{_AVRO}::test_the_files_of_a_copy_have_fresh_names[SEQUENCEFILE]",),
        "spark",
    ),
    Mutation(
        "H7-schema",
        "the schema is that of one file (two layers: the union, and the look at what was written)",
        (Rewrite("schema_of_all_files", "S[1:]", "S[:0]"), TYPES),
        (f"{_FIDELITY}::test_a_column_that_only_later_files_have_keeps_every_value[parquet]",),
        "spark",
    ),
    Mutation(
        "H14-calendar",
        "ancient dates are shifted to another calendar",
        (Value("unknown_calendar", "'corrected'"),),
        (f"{_SEAM}::test_ancient_dates_of_two_calendars_are_left_alone",),
        "spark",
    ),
    Mutation(
        "H15-legacy",
        "legacy decimals have no way to be written (the unit is refused then, not changed)",
        (Rewrite("legacy_decimals", "('false', 'true')", "('false',)"),),
        (f"{_FIDELITY}::test_timestamps_and_decimals_keep_their_encoding[true-TIMESTAMP_MICROS]",),
        "spark",
    ),
    Mutation(
        "H14-zone",
        "ORC timestamps are rewritten where clocks move",
        (Rewrite("moving_zone", "A if B else C", "C"),),
        ("tests/fidelity/test_zones.py::test_files_that_do_not_fit_together_are_refused[Europe/Paris-UTC]",),
        "spark",
    ),
    Mutation(
        "H14-orc",
        "Spark rewrites ORC timestamps that others wrote, to the microsecond",
        (Condition("values_that_spark_changes", False),),
        ("tests/fidelity/test_zones.py::test_fractions_below_a_microsecond_stay",),
        "spark",
    ),
    Mutation(
        "H16-nameless",
        "ORC files whose columns have no names are put together with others",
        (Rewrite("columns_by_position", "A or B", "A"),),
        (
            "tests/fidelity/test_evolution.py"
            "::test_orc_files_without_names_beside_files_with_names_are_refused[True]",
        ),
        "spark",
    ),
    Mutation(
        "H24-files",
        "new files have the modes that the writer gives them",
        (Rewrite("file_attributes", "J(G(E, A), P, W)", "J((), P, W)"),),
        (f"{_FIDELITY}::test_modes_and_success_markers_are_kept",),
        "spark",
    ),
    Mutation(
        "H24-folder",
        "a new directory has the mode that the file system gives it",
        (Remove("folder_attributes"), Value("folder_attributes_early", "()")),
        (f"{_FIDELITY}::test_modes_and_success_markers_are_kept",),
        "spark",
    ),
    Mutation(
        "H29-hash",
        "a value that was written as another is not noticed",
        (Condition("hashes_compared", False),),
        ("tests/fidelity/test_hashing.py::test_a_value_that_was_written_as_another_fails_the_unit",),
        "spark",
    ),
    Mutation(
        "H29-columns",
        "a column that was emptied, or exchanged with another, is not noticed where values are not hashed",
        (FIGURES,),
        (
            "tests/fidelity/test_leaf_statistics.py"
            "::test_a_faulty_rewrite_fails_the_unit_and_names_the_column",
        ),
        "spark",
    ),
    Mutation(
        "H17-keys",
        "the backup table's keys have the types of the source's",
        (
            Rewrite(
                "backup_keys_are_strings",
                'J.join(f"{N(K)} STRING" for K in S.A)',
                'J.join(f"{N(K)} {kind}" for K, kind in zip(S.A, S.partition_types))',
            ),
        ),
        (f"{_SEAM}::test_two_partitions_whose_values_are_the_same_number_stay_two",),
        "spark",
    ),
    Mutation(
        "H19-create",
        "a lease is written over another's",
        (Rewrite("create_exclusive", "S.M(F.CREATE)", "S.M(F.CREATE, F.OVERWRITE)"),),
        (f"{_SEAM}::test_a_new_file_is_never_written_over_another",),
        "spark",
    ),
    Mutation(
        "H19-folder",
        "a record brings back the folder of a fenced attempt",
        (Rewrite("create_in_folder", "A.C(F).M(P, N, O)", "A._fs(F).M(P, False)"),),
        (f"{_SEAM}::test_a_new_file_does_not_bring_its_folder_back",),
        "spark",
    ),
    Mutation(
        "H21-closed",
        "an error of the metastore reads as 'there are no partitions'",
        (Replace("metastore_fails_closed", "try:\n    STATEMENT\nexcept Exception:\n    return []"),),
        (f"{_SEAM}::test_the_metastore_fails_closed",),
        "spark",
    ),
    Mutation(
        "H5-viewfs",
        "a viewfs is asked for open files, of which it knows nothing",
        (Rewrite("viewfs_resolved", "str(A)", "path"),),
        (f"{_SEAM}::test_a_path_of_a_viewfs_is_where_its_mounts_lead",),
        "spark",
    ),
    Mutation(
        "H38-tasks",
        "the files of a task are in place as soon as it ends",
        (Item("committer_pinned", "mapreduce.fileoutputcommitter.algorithm.version", "2"),),
        (f"{_SEAM}::test_a_write_that_fails_leaves_no_file_of_the_tasks_that_ended",),
        "spark",
    ),
    Mutation(
        "H29-checksums",
        "the checksums of pages are not compared",
        (Item("page_checksums_compared", "parquet.page.verify-checksum.enabled", "false"),),
        ("tests/fidelity/test_public_files.py::test_a_page_with_a_wrong_checksum_keeps_the_unit_as_it_is",),
        "spark",
    ),
    Mutation(
        "H29-pages",
        "pages that cannot be read are left out (three layers: the setting, rows and figures of columns)",
        (_CORRUPT_FILES, ROWS, FIGURES),
        (f"{_SEAM}::test_a_page_that_cannot_be_read_keeps_the_unit_as_it_is[count]",),
        "spark",
    ),
    Mutation(
        "H29-pages-read",
        "rows that cannot be read are left out on both sides of hashes (three layers: the setting, rows counted twice)",
        (_CORRUPT_FILES, Condition("rows_read_compared", False), ROWS),
        (f"{_SEAM}::test_a_page_that_cannot_be_read_keeps_the_unit_as_it_is[hash]",),
        "spark",
    ),
    Mutation(
        "H38-index",
        "a file that came after the manifest is read with the others",
        (Condition("index_is_manifest", True),),
        (
            f"{_READING}::test_a_file_that_is_not_in_the_manifest_is_not_read",
            f"{_READING}::test_a_file_that_is_added_before_the_rewrite_stays_beside_the_result",
        ),
        "spark",
    ),
    Mutation(
        "H29-index",
        "a file that is missing before it is read is left out",
        (Condition("inputs_as_listed", False),),
        (f"{_READING}::test_a_file_that_is_missing_is_an_error",),
        "spark",
    ),
    Mutation(
        "H31-identity",
        "a file system without identities is taken for a local disk",
        (Condition("identity_known", True),),
        (f"{_SEAM}::test_a_file_system_without_identities_is_refused",),
        "spark",
    ),
)

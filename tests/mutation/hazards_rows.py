"""Guards of formats whose files do not count their rows, and of values whose bits must be kept."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Item, Rewrite, Value

_DECIDING = "tests/unit/core/test_deciding.py"
_READERS = "tests/spark/test_readers_of_tables.py"
_METADATA = "tests/unit/core/test_avro_metadata.py"
_GROUPS = "tests/unit/core/test_file_groups.py"
_PROOF = "tests/unit/core/test_plain_text.py"
_TEXT = "tests/fidelity/test_text_rows.py"
_AVRO_ROWS = "tests/fidelity/test_avro_rows.py"
_SEQUENCE_ROWS = "tests/fidelity/test_sequence_rows.py"
_BLOCKS = "tests/unit/core/test_avro_blocks.py"
_SEQUENCES = "tests/unit/core/test_sequence_records.py"

ROWS = (
    Mutation(
        "H51-controls",
        "control characters are taken for text",
        (Condition("text_has_few_controls", False),),
        (f"{_PROOF}::test_each_sample_counts",),
    ),
    Mutation(
        "H51-utf8",
        "random bytes are taken for text of another encoding",
        (Condition("text_is_utf8", False),),
        (f"{_PROOF}::test_another_encoding_is_text_but_not_utf8",),
    ),
    Mutation(
        "H51-marker",
        "a block without its marker is taken for a whole one",
        (Condition("blocks_end_with_the_marker", False),),
        (f"{_BLOCKS}::test_a_file_that_is_cut_off_is_damaged",),
    ),
    Mutation(
        "H51-interval",
        "an interval of Parquet is written so that other readers take it for nulls",
        (Condition("intervals_refused", False),),
        ("tests/unit/core/test_footers.py::test_an_interval_is_not_written_as_it_is",),
    ),
    Mutation(
        "H51-groups",
        "files of several schemas or codecs are appended to one",
        (Condition("group_of_one_header", False),),
        (f"{_GROUPS}::test_files_that_differ_in_their_headers_are_groups",),
    ),
    Mutation(
        "H51-markers",
        "a marker of another file is taken for the file's own",
        (Condition("markers_are_the_files", False),),
        (f"{_SEQUENCES}::test_a_marker_of_another_file_is_damage",),
    ),
    Mutation(
        "H51-schema",
        "nobody looks whether the schema was kept",
        (Condition("schema_compared", False),),
        (f"{_METADATA}::test_what_was_written_must_have_the_schema",),
    ),
    Mutation(
        "H51-filters",
        "a table is compacted whose readers leave out files by their names or times",
        (Condition("file_filters", False),),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
    ),
    Mutation(
        "H51-cluster-filters",
        "a table is compacted although all readers of the cluster leave out files",
        (Condition("filters_of_the_cluster", False),),
        (f"{_DECIDING}::test_a_filter_of_the_cluster_is_one_of_all_its_readers",),
    ),
    Mutation(
        "H51-delimiter",
        "the cluster says where a row of text ends, and nobody asks it",
        (Rewrite("lines_of_the_cluster", "(A, B, C, D)", "(B, C, D)"),),
        (f"{_DECIDING}::test_lines_of_text_end_where_the_cluster_says",),
    ),
    Mutation(
        "H51-codecs",
        "the table's readers may have other codecs",
        (Condition("codecs_of_the_table", False),),
        ("tests/unit/core/test_text_lines.py::test_codecs_of_the_table_are_refused",),
    ),
    Mutation(
        "H51-figures",
        "what a reader reads otherwise than it was written, before and after, is named by nobody",
        (Value("other_figures_named", "[]"),),
        ("tests/unit/core/test_leaf_statistics.py",),
    ),
    Mutation(
        "H16-cluster",
        "the cluster says that columns are matched by position, and nobody asks it",
        (Rewrite("positions_of_the_cluster", "(A, B, C)", "(B, C)"),),
        (f"{_DECIDING}::test_positional_columns_are_noticed_wherever_they_are_set",),
    ),
)

ROWS_ON_SPARK = (
    Mutation(
        "H51-proof",
        "a file that no codec reads is taken for text",
        (Condition("text_is_proved", False),),
        (f"{_TEXT}::test_a_file_that_is_not_shown_to_be_plain_text_is_left_alone",),
        "spark",
    ),
    Mutation(
        "H51-declared",
        "another encoding is taken for declared",
        (Condition("encoding_declared", False),),
        (f"{_TEXT}::test_another_encoding_is_text_where_the_table_declares_it",),
        "spark",
    ),
    Mutation(
        "H51-pinned",
        "the cluster says which lines are too long to be read",
        (Value("no_line_is_skipped", '{"lineSep": "\\n"}'),),
        (f"{_TEXT}::test_settings_of_the_cluster_do_not_skip_lines",),
        "spark",
    ),
    Mutation(
        "H51-bytes",
        "lines that the reader leaves out go unnoticed",
        (Condition("each_byte_counted", False),),
        (f"{_TEXT}::test_lines_that_the_reader_leaves_out_on_both_sides_fail_the_unit",),
        "spark",
    ),
    Mutation(
        "H51-bits",
        "one NaN is taken for another where all values are compared",
        (Value("bits_of_floats_hashed", "one_nan"),),
        ("tests/fidelity/test_nan.py",),
        "spark",
    ),
    Mutation(
        "H51-count",
        "records that the reader leaves out go unnoticed",
        (Condition("records_counted", False),),
        (f"{_SEQUENCE_ROWS}::test_records_that_the_reader_leaves_out_on_both_sides_fail_the_unit",),
        "spark",
    ),
    Mutation(
        "H51-blocks",
        "a block that was not copied goes unnoticed",
        (Condition("blocks_compared", False),),
        (f"{_AVRO_ROWS}::test_a_block_that_is_lost_on_the_way_fails_the_unit",),
        "spark",
    ),
    Mutation(
        "H51-attributes",
        "attributes of a schema that Avro's library does not know are left out",
        (Value("schema_as_it_is", "str(reader.getSchema().toString()).encode()"),),
        (f"{_AVRO_ROWS}::test_records_keep_their_bytes_and_files_their_schema",),
        "spark",
    ),
    Mutation(
        "H51-filter",
        "the cluster says which files are read",
        (Value("nothing_filtered", "()"),),
        (f"{_SEQUENCE_ROWS}::test_a_filter_that_these_jobs_set_to_nothing_is_not_asked",),
        "spark",
    ),
    Mutation(
        "H51-written",
        "records that were not written go unnoticed",
        (Condition("records_compared", False),),
        (f"{_SEQUENCE_ROWS}::test_records_that_were_not_written_fail_the_unit",),
        "spark",
    ),
    Mutation(
        "H51-literal",
        "a text with a variable becomes a setting",
        (Condition("settings_are_literal", False),),
        (f"{_SEQUENCE_ROWS}::test_a_text_with_a_variable_is_no_setting",),
        "spark",
    ),
    Mutation(
        "H51-library",
        "a codec without its native library fails the unit each night",
        (Rewrite("libraries_of_codecs", "A or B", "A"),),
        (f"{_READERS}::test_a_codec_without_its_native_library_is_named",),
        "spark",
    ),
    Mutation(
        "H14-orc-pinned",
        "the cluster says which calendar ORC files have",
        (Item("orc_pinned", "orc.proleptic.gregorian", "true"),),
        (f"{_READERS}::test_a_calendar_that_the_cluster_sets_for_orc_changes_no_day",),
        "spark",
    ),
    Mutation(
        "H14-orc-days",
        "Spark writes days of another calendar than it has read",
        (Condition("calendar_of_orc", False),),
        (f"{_READERS}::test_a_calendar_that_the_cluster_sets_for_orc_changes_no_day",),
        "spark",
    ),
)

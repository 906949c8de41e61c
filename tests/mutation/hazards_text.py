"""Guards of text that a table brings: it is never substituted, expanded or executed."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Item, Remove, Rewrite

_STATEMENTS = "tests/spark/test_hostile_statements.py"
_SETTINGS = "tests/spark/test_hostile_settings.py"

_PRINTABLE = "tests/unit/core/test_printable.py"
_RECORDS = "tests/unit/core/test_record_files.py"
_COMMANDS = "tests/unit/core/test_commands.py"
_LAYOUT = "tests/unit/core/test_writer_options.py"

TEXT = (
    Mutation(
        "H48-layout",
        "the value of a property of the layout is handed on whatever it is",
        (Rewrite("layout_values_checked", "A and B and C and D(E)", "A and B and C"),),
        (f"{_LAYOUT}::test_a_value_that_its_writer_does_not_take_is_left_out",),
    ),
    Mutation(
        "H48-variables",
        "the value of a property of the layout may have a variable",
        (Rewrite("layout_values_checked", "A and B and C and D(E)", "A and B and D(E)"),),
        (f"{_LAYOUT}::test_no_value_with_a_variable_or_without_a_form_is_handed_on",),
    ),
    Mutation(
        "H48-control",
        "control characters of names are printed as they are",
        (Rewrite("control_characters", "A if B else C", "A"),),
        (f"{_PRINTABLE}::test_what_cannot_be_seen_is_shown_by_its_escape",),
    ),
    Mutation(
        "H48-log",
        "a value begins a line of the log",
        (Remove("log_lines"),),
        (f"{_PRINTABLE}::test_a_record_is_one_line",),
    ),
    Mutation(
        "H48-traceback",
        "a text of an error begins a line of the log",
        (Remove("log_tracebacks"),),
        (f"{_PRINTABLE}::test_no_line_of_a_traceback_begins_a_line_of_the_log",),
    ),
    Mutation(
        "H48-shell",
        "a quote in a path ends the word of a command",
        (Rewrite("shell_quoting", "T.replace(A, B)", "T"),),
        (f"{_COMMANDS}::test_the_commands_of_messages_run_nothing_else",),
    ),
    Mutation(
        "H48-pattern",
        "a path in a command is a pattern of Hadoop's shell",
        (Rewrite("hadoop_pattern_quoting", "A.sub(B, C)", "C"),),
        (f"{_COMMANDS}::test_a_path_is_no_pattern_for_hadoops_shell",),
    ),
    Mutation(
        "H48-sql-shell",
        "a variable or the end of a statement is in a literal as it is",
        (Remove("sql_shell_quoting"),),
        (f"{_COMMANDS}::test_no_shell_for_sql_changes_a_literal",),
    ),
    Mutation(
        "H48-classes",
        "the class of a user-defined type in a table's schema is imported",
        (Condition("classes_not_loaded", False),),
        ("tests/unit/core/test_user_defined_types.py::test_a_module_is_not_imported",),
    ),
    Mutation(
        "H49-length",
        "a file of any length is read and decompressed",
        (Condition("record_length", False),),
        (f"{_RECORDS}::test_a_record_that_grows_without_bounds_is_not_decompressed",),
    ),
    Mutation(
        "H49-decompress",
        "a file is decompressed whatever becomes of it",
        (Rewrite("bounded_decompression", "S.read(A)", "S.read()"),),
        (f"{_RECORDS}::test_a_record_that_grows_without_bounds_is_not_decompressed",),
    ),
    Mutation(
        "H48-names",
        "a statement is shown although a shell takes a name in it for its end",
        (Condition("names_in_statements", False),),
        (f"{_COMMANDS}::test_a_statement_whose_name_a_shell_for_sql_acts_on_is_not_shown",),
    ),
    Mutation(
        "H48-lease",
        "a message shows any text of a lease",
        (Condition("lease_texts", False),),
        ("tests/unit/core/test_lease_messages.py::test_a_text_of_another_form_is_not_shown",),
    ),
    Mutation(
        "H49-values",
        "a record is parsed whatever number of values it has",
        (Condition("record_values", False),),
        (f"{_RECORDS}::test_a_record_of_many_values_does_not_take_the_memory_of_the_driver",),
    ),
    Mutation(
        "H49-types",
        "a field of the commit log has any type",
        (Condition("record_types", False),),
        (f"{_RECORDS}::test_a_field_of_another_type_is_a_broken_log",),
    ),
    Mutation(
        "H49-owner",
        "a file of the commit log counts whoever wrote it",
        (Condition("commit_log_owner", False),),
        (f"{_RECORDS}::test_a_file_of_the_log_by_another_account_is_not_read",),
    ),
    Mutation(
        "H49-log",
        "a file of the commit log is read whatever its size",
        (Condition("commit_log_length", False),),
        (f"{_RECORDS}::test_a_file_of_the_log_that_is_too_large_is_not_read",),
    ),
)
#: Those that need Spark.
TEXT_ON_SPARK = (
    Mutation(
        "H48-substitute",
        "variables in SQL text are replaced by their values",
        (Item("statements_pinned", "spark.sql.variable.substitute", "true"),),
        (f"{_STATEMENTS}::test_a_condition_means_what_it_says[defaults]",),
        "spark",
    ),
    Mutation(
        "H48-settings",
        "a cluster's settings say what a literal or a statement means",
        (Remove("statements_by_default"),),
        (f"{_STATEMENTS}::test_a_condition_means_what_it_says[others]",),
        "spark",
    ),
    Mutation(
        "H48-session",
        "the text of a condition is parsed by the settings of another session",
        (Remove("text_parsed_by_own_session"),),
        (f"{_STATEMENTS}::test_a_condition_means_what_it_says[defaults]",),
        "spark",
    ),
    Mutation(
        "H48-paths",
        "a path with a variable is handed to a Hadoop configuration",
        (Condition("paths_without_variables", False),),
        (f"{_SETTINGS}::test_a_path_that_hadoop_would_expand_is_refused[TEXTFILE]",),
        "spark",
    ),
    Mutation(
        "H48-columns-of-parquet",
        "Spark writes Parquet columns whose names a Hadoop configuration replaces",
        (Condition("parquet_names_without_variables", False),),
        (f"{_SETTINGS}::test_columns_of_parquet_with_a_name_that_hadoop_would_replace[column]",),
        "spark",
    ),
    Mutation(
        "H48-columns-orc",
        "Spark reads and writes ORC columns whose names a Hadoop configuration replaces",
        (Condition("orc_names_without_variables", False), Condition("orc_not_read_by_variables", False)),
        (f"{_SETTINGS}::test_columns_of_orc_with_a_name_that_hadoop_would_replace[column-hash]",),
        "spark",
    ),
    Mutation(
        "H48-like",
        "a pattern of a condition takes years to match",
        (Condition("patterns_that_end", False),),
        ("tests/spark/test_where.py::test_what_is_not_a_condition_on_the_keys_is_refused_by_name",),
        "spark",
    ),
)

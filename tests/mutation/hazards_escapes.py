"""Guards of texts in messages, commands, SQL and Hadoop's settings, beside those of `hazards_text`."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Operator, Remove, Rewrite, Value

_COMMANDS = "tests/unit/core/test_commands.py"
_SHOWN = "tests/unit/core/test_shown.py"
_PRINTABLE = "tests/unit/core/test_printable.py"
_LAYOUT = "tests/unit/core/test_writer_options.py"
_WORD = f"{_COMMANDS}::test_a_word_comes_out_as_it_is"
_SENTENCES = f"{_PRINTABLE}::test_the_sentences_of_a_report_are_lines_and_its_values_are_exact"
_NAMES = f"{_COMMANDS}::test_a_statement_names_its_table"


def _escape(name: str, what: str, edit: Operator, test: str, env: str = "model") -> Mutation:
    return Mutation(f"H48-{name}", what, (edit,), (test,), env)


ESCAPES = (
    _escape("unquoted", "a word of a command is not quoted", Value("words_quoted", "text"), _WORD),
    _escape(
        "zero",
        "a zero byte cuts off the path of a command",
        Remove("no_word_is_cut_off"),
        f"{_COMMANDS}::test_a_zero_byte_does_not_cut_a_path_off",
    ),
    _escape(
        "unseen",
        "a command has characters that nobody sees",
        Condition("unseen_characters_of_words", True),
        _WORD,
    ),
    _escape("ansi", "a quote ends the word of a command", Condition("quotes_in_ansi", False), _WORD),
    _escape(
        "long",
        "a message is as long as somebody likes",
        Value("texts_of_others_shortened", "text"),
        f"{_SHOWN}::test_a_text_is_one_short_line",
    ),
    _escape(
        "lines",
        "a text of others begins a line",
        Value("texts_of_others_printable", "short"),
        f"{_SHOWN}::test_a_text_is_one_short_line",
    ),
    _escape(
        "values",
        "a value in a message is as long as somebody likes",
        Rewrite("values_of_others_shortened", "100", "10**9"),
        f"{_SHOWN}::test_a_value_is_short",
    ),
    _escape(
        "sql-names",
        "a name ends its quotes in a statement",
        Rewrite("sql_names_quoted", "N.replace(A, B)", "N"),
        _NAMES,
    ),
    _escape(
        "sql-tables",
        "the name of a table is not quoted in a statement",
        Rewrite("names_of_tables_quoted", "A if B else C", "A"),
        _NAMES,
    ),
    _escape(
        "sql-hint",
        "nobody says that a shell replaces the variable in a name",
        Condition("variables_pointed_out", True),
        f"{_COMMANDS}::test_a_variable_in_a_name_is_pointed_out",
    ),
    _escape(
        "sentences",
        "a sentence of a report has several lines",
        Value("sentences_are_lines", "text"),
        _SENTENCES,
    ),
    _escape(
        "warned",
        "a warning of a report has several lines",
        Rewrite("warnings_are_lines", "[printable(T) for T in W]", "list(W)"),
        _SENTENCES,
    ),
    _escape(
        "errors",
        "the text of an error has several lines",
        Rewrite("errors_are_lines", "printable(A)", "A"),
        f"{_PRINTABLE}::test_the_text_of_an_error_is_one_line",
    ),
    _escape(
        "hadoop",
        "a Hadoop configuration replaces the variable in a text",
        Value("variables_of_hadoop", "True"),
        f"{_LAYOUT}::test_no_value_with_a_variable_or_without_a_form_is_handed_on",
    ),
    _escape(
        "columns",
        "the name of a column with a variable becomes an option",
        Rewrite("columns_without_variables", "filter(A, B)", "B"),
        f"{_LAYOUT}::test_a_column_with_a_variable_in_its_name_is_no_option",
    ),
)
#: Those that need Spark.
ESCAPES_ON_SPARK = (
    _escape(
        "where",
        "a condition reads other tables, or calls functions",
        Condition("conditions_on_keys_only", False),
        "tests/spark/test_where.py::test_a_condition_with_anything_else_in_it_is_refused",
        "spark",
    ),
    _escape(
        "globs",
        "the path of a file whose records are copied is a pattern",
        Value("paths_are_no_patterns", "file"),
        "tests/spark/test_pins.py::test_the_path_of_a_file_is_no_pattern_while_records_are_copied",
        "spark",
    ),
)

"""Guards of the provider: texts of tables in logs, messages, templates and the SQL of other engines."""

from __future__ import annotations

from tests.mutation.mutation import of_provider
from tests.mutation.operators import Condition, Rewrite, Value

_UNIT = "tests/unit/provider"
_LINE = f"{_UNIT}/test_report_line.py"
_RESULT = f"{_UNIT}/test_process_failure.py"
_TEXTS = f"{_UNIT}/test_hostile_texts.py"
_REPORT = f"{_UNIT}/test_report.py"
_REFRESH = f"{_UNIT}/test_refresh.py"
_STATEMENT = f"{_TEXTS}::test_a_statement_for_another_engine_has_the_name_as_a_name_or_is_not_made"

#: Texts of tables in logs, templates, URIs, links, metrics and SQL.
TEXTS_OF_PROVIDER = (
    of_provider(
        "H48-one-line",
        "control characters are in logs of Airflow",
        Value("one_line_is_one", "text"),
        f"{_LINE}::test_control_characters_are_escaped_and_nothing_else",
    ),
    of_provider(
        "H48-output",
        "a line of the job acts on a terminal",
        Rewrite("lines_shown_safely", "one_line(A)", "A"),
        f"{_LINE}::test_a_line_of_the_process_ends_where_it_ended_and_acts_on_no_terminal",
    ),
    of_provider(
        "H48-doctor",
        "a text of a check begins a line, or acts on a terminal",
        Rewrite("checks_shown_safely", "one_line(A)", "A"),
        f"{_UNIT}/test_doctor_driver.py::test_texts_of_a_job_are_lines",
    ),
    of_provider(
        "H48-reason",
        "a reason begins a line of the task log",
        Rewrite("reason_is_one_line", "one_line(A)", "A"),
        f"{_TEXTS}::test_the_message_of_a_task",
    ),
    of_provider(
        "H48-worse-reason",
        "a reason begins a line of the task log, if the process died",
        Rewrite("worse_reason_is_one_line", "one_line(A)", "A"),
        f"{_RESULT}::test_text_of_a_table_cannot_end_the_line_of_a_reason_of_a_process_that_died",
    ),
    of_provider(
        "H48-task-log",
        "a text begins a line of the table in the task log",
        Rewrite("lines_of_the_log", "A.join(map(B, C))", "A.join(C)"),
        f"{_TEXTS}::test_the_text_for_the_log",
    ),
    of_provider(
        "H48-warnings",
        "a warning begins a line of the task log",
        Rewrite("lines_of_warnings", "one_line(A)", "A"),
        f"{_TEXTS}::test_the_text_for_the_log",
    ),
    of_provider(
        "H48-overview",
        "a text begins a line of the overview",
        Rewrite("lines_of_the_overview", "A.join(map(B, C))", "A.join(C)"),
        f"{_TEXTS}::test_the_overview_of_a_night",
    ),
    of_provider(
        "H48-template",
        "the text of a report is rendered as a template",
        Condition("reports_not_rendered", False),
        f"{_TEXTS}::test_a_summary_of_a_report_among_the_arguments_is_not_rendered",
    ),
    of_provider(
        "H48-words",
        "the name of a database is a part of a command",
        Rewrite("words_of_commands", "A.join(B)", "' '.join(B)"),
        f"{_TEXTS}::test_a_command_that_a_message_tells_to_run_has_the_name_as_one_word",
    ),
    of_provider(
        "H48-metrics",
        "a code names a metric",
        Value("codes_are_codes", "text"),
        f"{_TEXTS}::test_names_of_metrics",
    ),
    of_provider(
        "H48-outcomes",
        "an outcome names a metric",
        Value("outcomes_are_words", "outcome"),
        f"{_TEXTS}::test_names_of_metrics",
    ),
    of_provider(
        "H48-uris",
        "the name of a table leads to the asset of another one",
        Value("names_in_uris_quoted", 'f"hive://{server}/{database}/{name}?lakekeeper={verb}"'),
        f"{_TEXTS}::test_the_uri_of_an_asset_has_the_name_as_one_part_of_its_path",
    ),
    of_provider(
        "H48-links",
        "a text in a line becomes a link in Airflow's UI",
        Rewrite("links_are_whole_lines", "A.fullmatch(B)", "A.search(B)"),
        f"{_TEXTS}::test_no_text_in_a_line_becomes_a_link",
    ),
    of_provider(
        "H48-storable",
        "a text of a record cannot be stored in an XCom",
        Rewrite("texts_can_be_stored", "A.sub(B, C)", "C"),
        f"{_REPORT}::test_what_no_database_stores_is_replaced_and_other_texts_stay",
    ),
    of_provider(
        "H48-impala-names",
        "a name ends the quotes of Impala",
        Condition("quoted_names_only", False),
        _STATEMENT,
    ),
    of_provider(
        "H48-plain-names",
        "a name is SQL in the statement of a user",
        Condition("plain_names_only", False),
        _STATEMENT,
    ),
    of_provider(
        "H48-paste",
        "a statement is shown in which a shell acts on a name or a value",
        Condition("statements_to_paste", False),
        f"{_REFRESH}::test_no_statement_is_shown_in_which_a_shell_acts_on_a_name_or_a_value",
    ),
    of_provider(
        "H48-comments",
        "a name begins a comment in the statement of a user",
        Rewrite("plain_names_only", "A or B", "A"),
        _STATEMENT,
    ),
    of_provider(
        "H48-trino",
        "a name ends a literal of Trino",
        Value("literals_of_standard_sql", "f\"'{value}'\""),
        _STATEMENT,
    ),
    of_provider(
        "H48-impala",
        "a value ends a literal of Impala",
        Value("literals_of_impala", "f\"'{value}'\""),
        f"{_REFRESH}::test_impala_can_be_told_of_the_partitions_alone",
    ),
    of_provider(
        "H48-numbers",
        "the value of a number is SQL",
        Rewrite("numbers_are_numbers", "A.match(B)", "True"),
        f"{_REFRESH}::test_where_a_partition_cannot_be_named_the_table_is_refreshed",
    ),
    of_provider(
        "H48-fields",
        "the statement of a user reaches into objects of Python",
        Condition("fields_of_statements", False),
        f"{_REFRESH}::test_a_wrong_refresh_is_an_error_that_names_the_value",
    ),
    of_provider(
        "H48-tables",
        "the name of a table has any characters",
        Condition("names_of_tables_only", False),
        f"{_UNIT}/test_options.py::test_a_wrong_selection_is_shown",
    ),
    of_provider(
        "H48-html",
        "a text of a table is markup on a page",
        Rewrite(
            "html_escaped",
            "Environment(loader=A, autoescape=True, undefined=B)",
            "Environment(loader=A, autoescape=False, undefined=B)",
        ),
        f"{_UNIT}/test_report_command.py::test_texts_of_a_table_are_no_markup",
    ),
    of_provider(
        "H48-island",
        "a text of a table ends the data of a page's script",
        Value("data_is_no_markup", "text"),
        f"{_UNIT}/page/test_rendering.py::test_data_of_a_script_is_no_markup",
    ),
)

"""Guards of the provider: secrets of a worker, results of tasks, texts of tables and bounds of options."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Operator, Remove, Replace, Rewrite, Value

_ENV, _UNIT = "provider", "tests/unit/provider"
_ENVIRONMENT = f"{_UNIT}/test_driver_environment.py"
_PROCESS = f"{_UNIT}/test_spark_submit_process.py"
_LINE = f"{_UNIT}/test_report_line.py"
_RESULT = f"{_UNIT}/test_process_failure.py"
_SHELL = f"{_UNIT}/test_shell.py"
_TEXTS = f"{_UNIT}/test_hostile_texts.py"
_REPORT = f"{_UNIT}/test_report.py"
_REFRESH = f"{_UNIT}/test_refresh.py"
_LAYERS = f"{_UNIT}/test_plan_options.py"
_VALUES = "tests/contract/test_provider_side.py::test_values_of_options"
_STATEMENT = f"{_TEXTS}::test_a_statement_for_another_engine_has_the_name_as_a_name_or_is_not_made"
_WORSE = f"{_RESULT}::test_a_report_never_makes_a_success_of_a_process_that_failed_or_died"
_NO_RESULT = f"{_REPORT}::test_a_report_that_breaks_the_wire_is_refused"


def _of_provider(name: str, what: str, edit: Operator, test: str) -> Mutation:
    return Mutation(name, what, (edit,), (test,), _ENV)


#: The environment of a driver, the command line and the keytab.
_SECRETS = (
    _of_provider(
        "H54-variables",
        "a driver gets all variables of the worker",
        Rewrite("driver_variables_allowed", "A(N, M)", "True"),
        f"{_ENVIRONMENT}::test_a_client_of_spark_gets_what_it_needs_and_no_secret_of_the_worker",
    ),
    _of_provider(
        "H54-names",
        "the file has the value of a variable in place of its name",
        Condition("names_of_variables_only", False),
        f"{_ENVIRONMENT}::test_a_value_in_place_of_a_name_is_a_mistake",
    ),
    _of_provider(
        "H54-set",
        "spark-submit is started with the environment of the worker",
        Remove("driver_environment_set"),
        f"{_PROCESS}::test_in_client_mode_the_process_has_the_variables_that_were_chosen_and_no_other",
    ),
    _of_provider(
        "H54-own",
        "the hook adds the operator's variables to the environment of the worker",
        Remove("own_variables_given_already"),
        f"{_PROCESS}::test_in_client_mode_the_process_has_the_variables_that_were_chosen_and_no_other",
    ),
    _of_provider(
        "H54-replaced",
        "the process inherits the environment of the worker",
        Remove("environment_replaced"),
        f"{_PROCESS}::test_in_client_mode_the_process_has_the_variables_that_were_chosen_and_no_other",
    ),
    _of_provider(
        "H54-client",
        "a submission in client mode leaves the environment as it is",
        Condition("client_mode_environment", False),
        f"{_PROCESS}::test_a_submission_in_client_mode_gives_the_driver_no_secret",
    ),
    _of_provider(
        "H54-keytab",
        "other accounts of the worker's machine may read the keytab of a connection",
        Rewrite("keytab_for_this_user", "0o077", "0o022"),
        f"{_PROCESS}::test_the_keytab_of_a_connection_is_readable_for_this_user_alone",
    ),
    _of_provider(
        "H54-hook",
        "the error of a failed process shows the credentials of its command",
        Remove("credentials_hidden"),
        f"{_PROCESS}::test_the_error_of_a_process_that_failed_shows_no_credentials",
    ),
    _of_provider(
        "H54-properties",
        "the command in a log shows secret properties",
        Rewrite("commands_shown_safely", "A if B else C(D)", "A if B else D"),
        f"{_UNIT}/test_cli.py::test_secrets_among_the_spark_properties_are_not_printed",
    ),
    _of_provider(
        "H54-flags",
        "the command in a log shows keytab, principal and the word of the report",
        Rewrite("commands_shown_safely", "A if B else C", "C"),
        f"{_SHELL}::test_neither_the_word_of_the_report_nor_keytab_and_principal_are_shown",
    ),
    _of_provider(
        "H54-uri",
        "a password in the URI of a report directory gets into logs and XComs",
        Condition("no_password_in_uris", False),
        f"{_TEXTS}::test_a_password_in_a_uri_is_refused_before_any_log_has_it",
    ),
)
#: The line of the report, and the worse one of process and report.
_RESULTS = (
    _of_provider(
        "H55-word",
        "any line that begins like a report is one",
        Value("word_begins_the_report", 'f"{SENTINEL} "'),
        f"{_LINE}::test_another_line_is_no_report",
    ),
    _of_provider(
        "H55-random",
        "the word of a report can be guessed",
        Value("word_is_random", 'field(default="0123456789abcdef0123456789abcdef")'),
        f"{_LINE}::test_each_submission_has_a_word_that_nobody_can_guess",
    ),
    _of_provider(
        "H55-masked",
        "a log shows the word of the report while the job runs",
        Rewrite("lines_shown_safely", "A.replace(B, C)", "A"),
        f"{_LINE}::test_no_line_shows_the_word",
    ),
    _of_provider(
        "H55-filtered",
        "the lines of spark-submit are logged as they are",
        Rewrite("output_filtered", "S.F(N)", "N"),
        f"{_PROCESS}::test_lines_of_the_process_are_logged_without_the_word_and_without_control_characters",
    ),
    _of_provider(
        "H55-worse",
        "a report makes a success of a process that died",
        Condition("worse_of_report_and_process", True),
        _WORSE,
    ),
    _of_provider(
        "H55-told",
        "a failure is told by any report",
        Value("told_by_the_report", "True"),
        _WORSE,
    ),
    _of_provider(
        "H55-kept",
        "what a retry cannot mend is retried, because the process died too",
        Value("worse_result", "TaskResult.RETRY"),
        _WORSE,
    ),
    _of_provider(
        "H55-failure",
        "nobody is told that a process died",
        Value("failure_told", "None"),
        f"{_PROCESS}::test_the_failure_of_a_process_counts_although_its_report_says_done",
    ),
    _of_provider(
        "H55-counts",
        "the result of a task is that of the report alone",
        Rewrite("failure_counts", "M.evaluate(A, B, C)", "M.evaluate(A, B)"),
        f"{_PROCESS}::test_the_failure_of_a_process_counts_although_its_report_says_done",
    ),
    _of_provider(
        "H55-shell",
        "the shell takes the exit code of the report",
        Rewrite("worse_exit_code", "max(A, B, key=K)", "B"),
        f"{_SHELL}::test_the_exit_code_is_the_worse_one_of_process_and_report",
    ),
    _of_provider(
        "H55-none",
        "a job without a report has succeeded",
        Value("no_report_no_success", "code"),
        f"{_SHELL}::test_without_a_report_of_its_own_a_job_has_not_succeeded",
    ),
    _of_provider(
        "H55-other",
        "a job with something else for a report has succeeded",
        Value("wrong_report_no_success", "own"),
        f"{_SHELL}::test_a_report_that_is_none_is_no_success",
    ),
    _of_provider(
        "H55-verb", "the report of another verb counts", Condition("report_of_the_verb", False), _NO_RESULT
    ),
    _of_provider(
        "H55-jobs",
        "an outcome that nobody knows is no failure",
        Condition("known_outcomes_of_jobs", False),
        _NO_RESULT,
    ),
    _of_provider(
        "H55-tables",
        "the outcome of a table that nobody knows is no failure",
        Condition("known_outcomes_of_tables", False),
        _NO_RESULT,
    ),
)
#: Texts of tables in logs, templates, URIs, links, metrics and SQL.
_ESCAPES = (
    _of_provider(
        "H48-one-line",
        "control characters are in logs of Airflow",
        Value("one_line_is_one", "text"),
        f"{_LINE}::test_control_characters_are_escaped_and_nothing_else",
    ),
    _of_provider(
        "H48-output",
        "a line of the job acts on a terminal",
        Rewrite("lines_shown_safely", "one_line(A)", "A"),
        f"{_LINE}::test_a_line_of_the_process_ends_where_it_ended_and_acts_on_no_terminal",
    ),
    _of_provider(
        "H48-reason",
        "a reason begins a line of the task log",
        Rewrite("reason_is_one_line", "one_line(A)", "A"),
        f"{_TEXTS}::test_the_message_of_a_task",
    ),
    _of_provider(
        "H48-worse-reason",
        "a reason begins a line of the task log, if the process died",
        Rewrite("worse_reason_is_one_line", "one_line(A)", "A"),
        f"{_RESULT}::test_text_of_a_table_cannot_end_the_line_of_a_reason_of_a_process_that_died",
    ),
    _of_provider(
        "H48-task-log",
        "a text begins a line of the table in the task log",
        Rewrite("lines_of_the_log", "A.join(map(B, C))", "A.join(C)"),
        f"{_TEXTS}::test_the_text_for_the_log",
    ),
    _of_provider(
        "H48-warnings",
        "a warning begins a line of the task log",
        Rewrite("lines_of_warnings", "one_line(A)", "A"),
        f"{_TEXTS}::test_the_text_for_the_log",
    ),
    _of_provider(
        "H48-overview",
        "a text begins a line of the overview",
        Rewrite("lines_of_the_overview", "A.join(map(B, C))", "A.join(C)"),
        f"{_TEXTS}::test_the_overview_of_a_night",
    ),
    _of_provider(
        "H48-template",
        "the text of a report is rendered as a template",
        Condition("reports_not_rendered", False),
        f"{_TEXTS}::test_a_summary_of_a_report_among_the_arguments_is_not_rendered",
    ),
    _of_provider(
        "H48-words",
        "the name of a database is a part of a command",
        Rewrite("words_of_commands", "A.join(B)", "' '.join(B)"),
        f"{_TEXTS}::test_a_command_that_a_message_tells_to_run_has_the_name_as_one_word",
    ),
    _of_provider(
        "H48-metrics",
        "a code names a metric",
        Value("codes_are_codes", "text"),
        f"{_TEXTS}::test_names_of_metrics",
    ),
    _of_provider(
        "H48-outcomes",
        "an outcome names a metric",
        Value("outcomes_are_words", "outcome"),
        f"{_TEXTS}::test_names_of_metrics",
    ),
    _of_provider(
        "H48-uris",
        "the name of a table leads to the asset of another one",
        Value("names_in_uris_quoted", 'f"hive://{server}/{database}/{name}?lakekeeper={verb}"'),
        f"{_TEXTS}::test_the_uri_of_an_asset_has_the_name_as_one_part_of_its_path",
    ),
    _of_provider(
        "H48-links",
        "a text in a line becomes a link in Airflow's UI",
        Rewrite("links_are_whole_lines", "A.fullmatch(B)", "A.search(B)"),
        f"{_TEXTS}::test_no_text_in_a_line_becomes_a_link",
    ),
    _of_provider(
        "H48-storable",
        "a text of a record cannot be stored in an XCom",
        Rewrite("texts_can_be_stored", "A.sub(B, C)", "C"),
        f"{_REPORT}::test_what_no_database_stores_is_replaced_and_other_texts_stay",
    ),
    _of_provider(
        "H48-impala-names",
        "a name ends the quotes of Impala",
        Condition("quoted_names_only", False),
        _STATEMENT,
    ),
    _of_provider(
        "H48-plain-names",
        "a name is SQL in the statement of a user",
        Condition("plain_names_only", False),
        _STATEMENT,
    ),
    _of_provider(
        "H48-paste",
        "a statement is shown in which a shell acts on a name or a value",
        Condition("statements_to_paste", False),
        f"{_REFRESH}::test_no_statement_is_shown_in_which_a_shell_acts_on_a_name_or_a_value",
    ),
    _of_provider(
        "H48-comments",
        "a name begins a comment in the statement of a user",
        Rewrite("plain_names_only", "A or B", "A"),
        _STATEMENT,
    ),
    _of_provider(
        "H48-trino",
        "a name ends a literal of Trino",
        Value("literals_of_standard_sql", "f\"'{value}'\""),
        _STATEMENT,
    ),
    _of_provider(
        "H48-impala",
        "a value ends a literal of Impala",
        Value("literals_of_impala", "f\"'{value}'\""),
        f"{_REFRESH}::test_impala_can_be_told_of_the_partitions_alone",
    ),
    _of_provider(
        "H48-numbers",
        "the value of a number is SQL",
        Rewrite("numbers_are_numbers", "A.match(B)", "True"),
        f"{_REFRESH}::test_where_a_partition_cannot_be_named_the_table_is_refreshed",
    ),
    _of_provider(
        "H48-fields",
        "the statement of a user reaches into objects of Python",
        Condition("fields_of_statements", False),
        f"{_REFRESH}::test_a_wrong_refresh_is_an_error_that_names_the_value",
    ),
    _of_provider(
        "H48-tables",
        "the name of a table has any characters",
        Condition("names_of_tables_only", False),
        f"{_UNIT}/test_options.py::test_a_wrong_selection_is_shown",
    ),
)
#: Bounds of options, and the layers that may set them.
_OPTIONS = (
    _of_provider("H52-numbers", "a number has no bounds", Condition("numbers_have_bounds", False), _VALUES),
    _of_provider(
        "H52-whole", "a whole number has no bounds", Condition("whole_numbers_have_bounds", False), _VALUES
    ),
    _of_provider(
        "H52-sizes",
        "a size or a duration has no bounds",
        Rewrite("forms_have_bounds", "A or B or C", "A or B"),
        _VALUES,
    ),
    _of_provider(
        "H52-forms",
        "a size or a duration has any form",
        Rewrite("forms_have_bounds", "A or B or C", "A or C"),
        _VALUES,
    ),
    _of_provider("H52-texts", "a text has no bounds", Condition("texts_have_bounds", False), _VALUES),
    _of_provider("H52-lists", "a list has no bounds", Condition("lists_have_bounds", False), _VALUES),
    _of_provider(
        "H52-unicode",
        "a text is handed over that the job cannot read",
        Replace("valid_unicode_only", "value = repr(value)"),
        _VALUES,
    ),
    _of_provider(
        "H52-planned",
        "a plan sets any option",
        Condition("plans_set_what_they_may", False),
        f"{_LAYERS}::test_a_plan_sets_nothing_but_what_chooses_and_sizes_work",
    ),
    _of_provider(
        "H52-file",
        "the file sets what belongs to one call",
        Remove("options_of_the_file"),
        f"{_LAYERS}::test_the_file_does_not_set_what_belongs_to_one_call",
    ),
    _of_provider(
        "H52-section",
        "the section of a table sets what belongs to a job",
        Remove("options_of_a_table"),
        f"{_LAYERS}::test_the_section_of_a_table_does_not_set_what_belongs_to_a_job",
    ),
    _of_provider(
        "H52-empty",
        "an empty retention means all originals",
        Condition("no_empty_limit", False),
        f"{_UNIT}/test_retention.py::test_a_template_that_renders_to_nothing_is_an_error",
    ),
)
OF_PROVIDER = (*_SECRETS, *_RESULTS, *_ESCAPES, *_OPTIONS)

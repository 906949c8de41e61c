"""Guards of the provider: secrets of a worker, results of tasks and bounds of options."""

from __future__ import annotations

from tests.mutation.mutation import of_provider
from tests.mutation.operators import Condition, Remove, Replace, Rewrite, Value

_UNIT = "tests/unit/provider"
_ENVIRONMENT = f"{_UNIT}/test_driver_environment.py"
_PROCESS = f"{_UNIT}/test_spark_submit_process.py"
_LINE = f"{_UNIT}/test_report_line.py"
_RESULT = f"{_UNIT}/test_process_failure.py"
_SHELL = f"{_UNIT}/test_shell.py"
_TEXTS = f"{_UNIT}/test_hostile_texts.py"
_REPORT = f"{_UNIT}/test_report.py"
_LAYERS = f"{_UNIT}/test_plan_options.py"
_VALUES = "tests/contract/test_provider_side.py::test_values_of_options"
_WORSE = f"{_RESULT}::test_a_report_never_makes_a_success_of_a_process_that_failed_or_died"
_NO_RESULT = f"{_REPORT}::test_a_report_that_breaks_the_wire_is_refused"


#: The environment of a driver, the command line and the keytab.
_SECRETS = (
    of_provider(
        "H54-variables",
        "a driver gets all variables of the worker",
        Rewrite("driver_variables_allowed", "A(N, M)", "True"),
        f"{_ENVIRONMENT}::test_a_client_of_spark_gets_what_it_needs_and_no_secret_of_the_worker",
    ),
    of_provider(
        "H54-names",
        "the file has the value of a variable in place of its name",
        Condition("names_of_variables_only", False),
        f"{_ENVIRONMENT}::test_a_value_in_place_of_a_name_is_a_mistake",
    ),
    of_provider(
        "H54-set",
        "spark-submit is started with the environment of the worker",
        Remove("driver_environment_set"),
        f"{_PROCESS}::test_in_client_mode_the_process_has_the_variables_that_were_chosen_and_no_other",
    ),
    of_provider(
        "H54-own",
        "the hook adds the operator's variables to the environment of the worker",
        Remove("own_variables_given_already"),
        f"{_PROCESS}::test_in_client_mode_the_process_has_the_variables_that_were_chosen_and_no_other",
    ),
    of_provider(
        "H54-replaced",
        "the process inherits the environment of the worker",
        Remove("environment_replaced"),
        f"{_PROCESS}::test_in_client_mode_the_process_has_the_variables_that_were_chosen_and_no_other",
    ),
    of_provider(
        "H54-client",
        "a submission in client mode leaves the environment as it is",
        Condition("client_mode_environment", False),
        f"{_PROCESS}::test_a_submission_in_client_mode_gives_the_driver_no_secret",
    ),
    of_provider(
        "H54-keytab",
        "other accounts of the worker's machine may read the keytab of a connection",
        Rewrite("keytab_for_this_user", "0o077", "0o022"),
        f"{_PROCESS}::test_the_keytab_of_a_connection_is_readable_for_this_user_alone",
    ),
    of_provider(
        "H54-hook",
        "the error of a failed process shows the credentials of its command",
        Remove("credentials_hidden"),
        f"{_PROCESS}::test_the_error_of_a_process_that_failed_shows_no_credentials",
    ),
    of_provider(
        "H54-properties",
        "the command in a log shows secret properties",
        Rewrite("commands_shown_safely", "A if B else C(D)", "A if B else D"),
        f"{_UNIT}/test_cli.py::test_secrets_among_the_spark_properties_are_not_printed",
    ),
    of_provider(
        "H54-flags",
        "the command in a log shows keytab, principal and the word of the report",
        Rewrite("commands_shown_safely", "A if B else C", "C"),
        f"{_SHELL}::test_neither_the_word_of_the_report_nor_keytab_and_principal_are_shown",
    ),
    of_provider(
        "H54-doctor",
        "the file of a doctor, which is sent to others, has a password",
        Rewrite("checks_shown_safely", "redacted_text(A)", "A"),
        f"{_UNIT}/test_doctor.py::test_the_file_has_all_and_no_credentials",
    ),
    of_provider(
        "H54-uri",
        "a password in the URI of a report directory gets into logs and XComs",
        Condition("no_password_in_uris", False),
        f"{_TEXTS}::test_a_password_in_a_uri_is_refused_before_any_log_has_it",
    ),
)
#: The line of the report, and the worse one of process and report.
_RESULTS = (
    of_provider(
        "H55-word",
        "any line that begins like a report is one",
        Value("word_begins_the_report", 'f"{SENTINEL} "'),
        f"{_LINE}::test_another_line_is_no_report",
    ),
    of_provider(
        "H55-random",
        "the word of a report can be guessed",
        Value("word_is_random", 'field(default="0123456789abcdef0123456789abcdef")'),
        f"{_LINE}::test_each_submission_has_a_word_that_nobody_can_guess",
    ),
    of_provider(
        "H55-masked",
        "a log shows the word of the report while the job runs",
        Rewrite("lines_shown_safely", "A.replace(B, C)", "A"),
        f"{_LINE}::test_no_line_shows_the_word",
    ),
    of_provider(
        "H55-filtered",
        "the lines of spark-submit are logged as they are",
        Rewrite("output_filtered", "S.F(N)", "N"),
        f"{_PROCESS}::test_lines_of_the_process_are_logged_without_the_word_and_without_control_characters",
    ),
    of_provider(
        "H55-worse",
        "a report makes a success of a process that died",
        Condition("worse_of_report_and_process", True),
        _WORSE,
    ),
    of_provider("H55-told", "a failure is told by any report", Value("told_by_the_report", "True"), _WORSE),
    of_provider(
        "H55-kept",
        "what a retry cannot mend is retried, because the process died too",
        Value("worse_result", "TaskResult.RETRY"),
        _WORSE,
    ),
    of_provider(
        "H58-task",
        "the task of a rollback succeeds where its job could not read a run",
        Value("hidden_runs_of_a_rollback", "False"),
        f"{_REPORT}::test_a_rollback_of_a_database_fails_by_a_run_that_it_has_left",
    ),
    of_provider(
        "H55-failure",
        "nobody is told that a process died",
        Value("failure_told", "None"),
        f"{_PROCESS}::test_the_failure_of_a_process_counts_although_its_report_says_done",
    ),
    of_provider(
        "H55-counts",
        "the result of a task is that of the report alone",
        Rewrite("failure_counts", "M.evaluate(A, B, C)", "M.evaluate(A, B)"),
        f"{_PROCESS}::test_the_failure_of_a_process_counts_although_its_report_says_done",
    ),
    of_provider(
        "H55-shell",
        "the shell takes the exit code of the report",
        Rewrite("worse_exit_code", "max(A, B, key=K)", "B"),
        f"{_SHELL}::test_the_exit_code_is_the_worse_one_of_process_and_report",
    ),
    of_provider(
        "H55-none",
        "a job without a report has succeeded",
        Value("no_report_no_success", "code"),
        f"{_SHELL}::test_without_a_report_of_its_own_a_job_has_not_succeeded",
    ),
    of_provider(
        "H55-other",
        "a job with something else for a report has succeeded",
        Value("wrong_report_no_success", "own"),
        f"{_SHELL}::test_a_report_that_is_none_is_no_success",
    ),
    of_provider(
        "H55-verb", "the report of another verb counts", Condition("report_of_the_verb", False), _NO_RESULT
    ),
    of_provider(
        "H55-jobs",
        "an outcome that nobody knows is no failure",
        Condition("known_outcomes_of_jobs", False),
        _NO_RESULT,
    ),
    of_provider(
        "H55-tables",
        "the outcome of a table that nobody knows is no failure",
        Condition("known_outcomes_of_tables", False),
        _NO_RESULT,
    ),
)
#: Bounds of options, and the layers that may set them.
_OPTIONS = (
    of_provider("H52-numbers", "a number has no bounds", Condition("numbers_have_bounds", False), _VALUES),
    of_provider(
        "H52-whole", "a whole number has no bounds", Condition("whole_numbers_have_bounds", False), _VALUES
    ),
    of_provider(
        "H52-sizes",
        "a size or a duration has no bounds",
        Rewrite("forms_have_bounds", "A or B or C", "A or B"),
        _VALUES,
    ),
    of_provider(
        "H52-forms",
        "a size or a duration has any form",
        Rewrite("forms_have_bounds", "A or B or C", "A or C"),
        _VALUES,
    ),
    of_provider("H52-texts", "a text has no bounds", Condition("texts_have_bounds", False), _VALUES),
    of_provider("H52-lists", "a list has no bounds", Condition("lists_have_bounds", False), _VALUES),
    of_provider(
        "H52-listed", "a list has words that nobody knows", Condition("known_words_in_lists", False), _VALUES
    ),
    of_provider(
        "H52-unicode",
        "a text is handed over that the job cannot read",
        Replace("valid_unicode_only", "value = repr(value)"),
        _VALUES,
    ),
    of_provider(
        "H52-planned",
        "a plan sets any option",
        Condition("plans_set_what_they_may", False),
        f"{_LAYERS}::test_a_plan_sets_nothing_but_what_chooses_and_sizes_work",
    ),
    of_provider(
        "H52-file",
        "the file sets what belongs to one call",
        Remove("options_of_the_file"),
        f"{_LAYERS}::test_the_file_does_not_set_what_belongs_to_one_call",
    ),
    of_provider(
        "H52-section",
        "the section of a table sets what belongs to a job",
        Remove("options_of_a_table"),
        f"{_LAYERS}::test_the_section_of_a_table_does_not_set_what_belongs_to_a_job",
    ),
    of_provider(
        "H52-empty",
        "an empty retention means all originals",
        Condition("no_empty_limit", False),
        f"{_UNIT}/test_retention.py::test_a_template_that_renders_to_nothing_is_an_error",
    ),
)
OF_PROVIDER = (*_SECRETS, *_RESULTS, *_OPTIONS)

"""Base of the operators: selection of tables, options, maintenance window, submission and result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from lakekeeper_provider.compat import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
    Context,
    SparkSubmitOperator,
    fail_on_usage_error,
    utcnow,
)
from lakekeeper_provider.events import health
from lakekeeper_provider.events.observed_job import ObservedJob
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch import request
from lakekeeper_provider.operators.report_arguments import ReportArguments
from lakekeeper_provider.options import config
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import documented, parse_options
from lakekeeper_provider.options.parsers import choice, given, is_template
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.options.window import MaintenanceWindow
from lakekeeper_provider.report import report
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report import text as report_text
from lakekeeper_provider.report.report import Report, TaskResult
from lakekeeper_provider.submission.links import ReportLink, YarnApplicationLink, browser_address
from lakekeeper_provider.submission.spark_submit_adapter import PRIVATE_ARGUMENTS, publish_private_arguments
from lakekeeper_provider.submission.submission import Ended, Submission, SubmissionRunner
from lakekeeper_provider.triggers.maintenance_window import MaintenanceWindowTrigger

ON_CLOSED = ("wait", "skip", "fail")
ON_REFUSED = ("fail", "skip")
_EXCEPTIONS: Mapping[TaskResult, type[Exception]] = {
    TaskResult.NOTHING: AirflowSkipException,
    TaskResult.RETRY: AirflowException,
    TaskResult.FAIL: AirflowFailException,
    TaskResult.REFUSED: AirflowFailException,
}


@documented
class LakekeeperOperator(ReportArguments, ObservedJob, SparkSubmitOperator):
    """Base of the operators; accepts every argument of ``SparkSubmitOperator`` as well.

    It inherits arguments and template fields from ``SparkSubmitOperator`` and delegates the submission to a
    ``SubmissionRunner``. Arguments take precedence over the YAML file, and the file over the connection. All of
    them can be templated; a list may be a real list, JSON or separated by commas, a boolean must be true or false.

    Args:
        table: the table to work on, ``db.table``
        tables: or several tables
        database: or all the tables of a database, narrowed by ``include`` and ``exclude``
        config_file: YAML file with options and the ``spark_submit`` section; read when the task runs
        report_dir: directory that this worker and the Spark driver both reach, such as
            ``webhdfs://namenode:9870/lakekeeper`` or ``file:///shared``; required in cluster deploy mode
        window: a ``MaintenanceWindow``, its fields as a mapping, or a name under ``windows`` of the file;
            nothing is submitted while it is closed
        on_closed: ``wait`` (deferred until the window opens), ``skip`` or ``fail``
        on_refused: ``fail`` if a table that was selected by name cannot be compacted safely, or ``skip``, for
            lists that another task made
        conn_id: the Spark connection, which determines the master
        use_krb5ccache: use the ticket cache of the worker; by default as the file says
        name: name of the Spark application (``lakekeeper-`` and the verb)
        hive_server: host and port of HiveServer2 in the URIs of asset events, ``hive://HOST:PORT/DB/TABLE?lakekeeper=VERB``

    Raises:
        UsageError: ``application_args`` was given, which the operator builds itself
    """

    verb: ClassVar[str]
    skips_on_nothing: ClassVar[bool] = False
    option_keys: ClassVar[tuple[str, ...]] = (
        *("include", "exclude", "native_formats", "log_level"),
        *("trusted_owners", "staging_ttl", "writers"),
    )
    template_fields: Sequence[str] = (
        *SparkSubmitOperator.template_fields,
        *PRIVATE_ARGUMENTS,
        *("report_dir", "table", "tables", "database", "config_file"),
        *("window", "on_closed", "on_refused", "hive_server"),
        *option_keys,
    )
    operator_extra_links = (YarnApplicationLink(), ReportLink())
    ui_color = "#d7ecd9"

    def __init__(
        self,
        *,
        table: str | None = None,
        tables: Sequence[str] | str | None = None,
        database: str | None = None,
        include: str | None = None,
        exclude: str | None = None,
        native_formats: Sequence[str] | str | None = None,
        config_file: str | None = None,
        report_dir: str | None = None,
        window: MaintenanceWindow | Mapping[str, Any] | str | None = None,
        on_closed: str = "wait",
        on_refused: str = "fail",
        log_level: str | None = None,
        trusted_owners: Sequence[str] | str | None = None,
        staging_ttl: str | None = None,
        writers: str | None = None,
        use_krb5ccache: bool | str | None = None,
        name: str | None = None,
        hive_server: str | None = None,
        application_args: list[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name or f"lakekeeper-{self.verb}", **kwargs)
        publish_private_arguments(self)
        if application_args:
            raise UsageError("application_args: the operator builds them; use its own arguments instead")
        _check_choices(on_closed=(on_closed, ON_CLOSED), on_refused=(on_refused, ON_REFUSED))
        self.table = table
        self.tables = tables
        self.database = database
        self.include = include
        self.exclude = exclude
        self.native_formats = native_formats
        self.config_file = config_file
        self.report_dir = report_dir
        self.window = window
        self.on_closed = on_closed
        self.on_refused = on_refused
        self.log_level = log_level
        self.trusted_owners = trusted_owners
        self.staging_ttl = staging_ttl
        self.writers = writers
        self.use_krb5ccache = use_krb5ccache
        self.hive_server = hive_server
        self.outlets = self.with_own_outlets(self.outlets)  # type: ignore[has-type]
        if hasattr(self, "durable"):
            # A durable job is not submitted again when a succeeded task is cleared. These jobs must be, and
            # it is safe: a job resumes from its journal.
            self.durable = False
        self._runner: SubmissionRunner | None = None
        self._killed = False

    def execute(self, context: Context) -> Any:
        """Submit the job and return the summary of its report."""
        return self.run_job(context)

    def execute_complete(self, context: Context, event: dict[str, Any] | None = None) -> Any:
        """Continue after the trigger has fired; the maintenance window is checked again."""
        self.log.info("The trigger fired: %s", event)
        return self.run_job(context)

    def on_kill(self) -> None:
        """Kill the job; ``execute`` continues after that and must not take it for a regular end."""
        self._killed = True
        if self._runner is not None:
            self._runner.kill()

    @property
    def is_killed(self) -> bool:
        """Tell whether the task was killed."""
        return self._killed

    def run_job(self, context: Context) -> Any:
        """Check the window, submit the job and evaluate its report."""
        with fail_on_usage_error():
            settings = config.load(given(self.config_file))
            skip_refused, server = self._choices(settings)
            deadline = self.wait_for_window(settings, context)
            submission = self.prepare(settings, deadline, context)
        if not isinstance(submission, Submission):
            return submission
        ended = self.submit(submission, settings, context)
        if address := browser_address(ended.uri):
            ReportLink.store(context, address)
        ended = replace(ended, report=self.follow_up(ended.report, ended.uri, context))
        told = {"report": ended.uri, **self.told(settings)}
        self.tell(ended.report, ended.uri, server, told, context)
        try:
            return self.conclude(ended, submission, skip_refused, context)
        except BaseException:  # Airflow records the events of a task that succeeds.
            health.push(context, ended.report, told, server)
            raise

    def told(self, settings: Config) -> dict[str, Any]:
        """Return what the events of the tables' health say of this job, beside what its report says."""
        return {"whole": not any(given(getattr(self, name, None)) for name in ("partitions", "where"))}

    def submit(self, submission: Submission, settings: Config, context: Context) -> Ended:
        """Run the job until it has ended."""
        self._runner = SubmissionRunner(self, self.verb, settings.spark_submit)
        if self._killed:  # on_kill may have run before there was a runner
            self._runner.kill()
        return self._runner.run(submission, context)

    def prepare(
        self, settings: Config, deadline: str | None, context: Context
    ) -> Submission | dict[str, Any]:
        """Return what to submit, or the result if there is nothing to submit."""
        built = request.build_request(settings, self.arguments())
        return Submission(self.selection(), built, {}, own_flags=self.own_flags())

    def own_flags(self) -> tuple[str, ...]:
        """Return the flags that only this verb has, with their values."""
        return ()

    def selection(self) -> Selection:
        """Return the selected tables."""
        return Selection.of(self.table, self.tables, self.database)

    def arguments(self) -> dict[str, Any]:
        """Return the options that were given to this operator, typed."""
        return parse_options({key: getattr(self, key) for key in self.option_keys})

    def wait_for_window(self, settings: Config, context: Context) -> str | None:
        """Return when the open window closes, or None without a window.

        Raises:
            AirflowSkipException: the window is closed and ``on_closed`` is ``skip``
            AirflowFailException: the window is closed and ``on_closed`` is ``fail``
        """
        if given(self.window) is None:
            return None
        window, now = settings.window(self.window), utcnow()
        closes = window.closes_at(now)
        if closes is not None:
            return instant(closes)
        self.before_closed_window(settings, context)
        opens = window.next_open(now).isoformat()
        self._handle_closed(window, f"the maintenance window is closed until {opens}: not submitted")
        return None

    def before_closed_window(self, settings: Config, context: Context) -> None:
        """Do what must not wait until a window opens."""

    def _handle_closed(self, window: MaintenanceWindow, message: str) -> None:
        action = choice(*ON_CLOSED)("on_closed", self.on_closed)
        if action == "skip":
            raise AirflowSkipException(message)
        if action == "fail":
            raise AirflowFailException(message)
        self.wait(window, message)

    def wait(self, window: MaintenanceWindow, message: str) -> None:
        """Defer until the window opens, which frees the worker."""
        self.log.info("%s; waiting", message)
        self.defer(trigger=MaintenanceWindowTrigger(window.as_dict()), method_name="execute_complete")

    def follow_up(self, report: Report, uri: str | None, context: Context) -> Report:
        """Return the report after what has to follow the job, whatever its outcome."""
        return report

    def _choices(self, settings: Config) -> tuple[bool, str]:
        """Return whether a refused table only skips the task, and the HiveServer2 in the URIs of assets.

        They are needed after the job, and checked before it: a mistake must not fail a job that is done.
        """
        on_refused = choice(*ON_REFUSED)("on_refused", given(self.on_refused) or "fail")
        server = (
            config.hive_server(given(self.hive_server)) if given(self.hive_server) else settings.hive_server
        )
        return on_refused == "skip", server

    def skips(self, report: Report) -> bool:
        """Tell whether a job that had nothing to do skips the task."""
        return self.skips_on_nothing

    def conclude(self, ended: Ended, submission: Submission, skip_refused: bool, context: Context) -> Any:
        """Return the summary, or push it and raise the exception for the result of the task."""
        self.show(ended.report)
        if ended.failure is not None and not ended.failure.is_told_by(ended.report):
            self.log.warning("%s", ended.failure.text)
        # guard: failure_counts
        task_result, reason = report.evaluate(ended.report, submission.selection.tables, ended.failure)
        with fail_on_usage_error():
            value = self.result(self.summarize(ended.report, ended.uri, context), submission)
        if task_result is TaskResult.DONE or (
            task_result is TaskResult.NOTHING and not self.skips(ended.report)
        ):
            return value
        # Pushed before the task fails: rollback needs the run ids of a partial run.
        self.push(value, context)
        if task_result is not TaskResult.REFUSED or not skip_refused:
            raise _EXCEPTIONS[task_result](reason)
        if not any(table["outcome"] == "done" for table in value["tables"]):
            raise AirflowSkipException(reason)
        return value

    def show(self, report: Report) -> None:
        """Write the report into the task log. The job is done, so an error in this must not fail the task."""
        try:
            self.log.info("%s", report_text.render(report))
            for text in report_text.warnings(report):
                self.log.warning("%s", text)
        except Exception as error:
            self.log.warning("the report could not be shown as a text: %r", error)

    def summarize(self, report: Report, uri: str | None, context: Context) -> dict[str, Any]:
        """Return the summary of the report for XCom."""
        return report_summary.summary(report, uri)

    def result(self, summary: dict[str, Any], submission: Submission) -> dict[str, Any]:
        """Return the value of the task's XCom."""
        return summary

    def push(self, value: Mapping[str, Any], context: Context) -> None:
        """Push an XCom under the key of a returned value."""
        if self.do_xcom_push:
            context["ti"].xcom_push(key="return_value", value=value)


def instant(moment: datetime) -> str:
    """Return a time as the jobs read a deadline."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _check_choices(**arguments: tuple[str, tuple[str, ...]]) -> None:
    """Check arguments when the DAG is parsed; a template is checked when it is rendered."""
    for name, (value, allowed) in arguments.items():
        if not is_template(value):
            choice(*allowed)(name, value)

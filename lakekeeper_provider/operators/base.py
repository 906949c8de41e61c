"""What the four operators share: tables, options, the maintenance window, and what a report means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lakekeeper_provider import config, report, request
from lakekeeper_provider.compat import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
    Context,
    fail_on_usage_error,
    utcnow,
)
from lakekeeper_provider.config import Config
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators.submission import Submission, SubmissionOperator
from lakekeeper_provider.options import parse_options
from lakekeeper_provider.parsers import choice, given
from lakekeeper_provider.report import Report, TaskResult
from lakekeeper_provider.selection import Selection
from lakekeeper_provider.triggers.maintenance_window import MaintenanceWindowTrigger
from lakekeeper_provider.window import MaintenanceWindow

ON_CLOSED = ("wait", "skip", "fail")
ON_REFUSED = ("fail", "skip")
_EXCEPTIONS: Mapping[TaskResult, type[Exception]] = {
    TaskResult.NOTHING: AirflowSkipException,
    TaskResult.RETRY: AirflowException,
    TaskResult.FAIL: AirflowFailException,
    TaskResult.REFUSED: AirflowFailException,
}


class LakekeeperOperator(SubmissionOperator):
    """
    Base of the operators; takes every argument of ``SparkSubmitOperator`` as well.

    What is given here wins over the YAML file, the file over the connection. All of it can be templated; a
    list may be a real list, JSON or separated by commas, a boolean must be true or false.

    :param table: the table to work on, ``db.table``
    :param tables: or several tables
    :param database: or all the tables of a database, narrowed by ``include`` and ``exclude``
    :param include: glob of table names
    :param exclude: glob of table names
    :param config_file: YAML file with options and the ``spark_submit`` section; read when the task runs
    :param report_dir: a folder that this worker and the Spark driver both reach, such as
        ``webhdfs://namenode:9870/lakekeeper`` or ``file:///shared``; needed in cluster deploy mode, and by
        analyses too large for XCom
    :param window: a ``MaintenanceWindow``, its fields as a mapping, or a name under ``windows`` of the file;
        while it is closed nothing is submitted
    :param on_closed: ``wait`` (deferred until it opens), ``skip`` or ``fail``
    :param on_refused: ``fail`` where a table that was asked for by name is none that can be compacted safely, or
        ``skip``, for lists that a task drew up
    :param log_level: verbosity of the job
    :param conn_id: the Spark connection; it names the master
    """

    skips_on_nothing: ClassVar[bool] = False
    option_keys: ClassVar[tuple[str, ...]] = ("include", "exclude", "log_level")
    template_fields: Sequence[str] = (
        *SubmissionOperator.template_fields,
        "table",
        "tables",
        "database",
        "config_file",
        "window",
        "on_closed",
        "on_refused",
        *option_keys,
    )
    ui_color = "#d7ecd9"

    def __init__(
        self,
        *,
        table: str | None = None,
        tables: Sequence[str] | str | None = None,
        database: str | None = None,
        include: str | None = None,
        exclude: str | None = None,
        config_file: str | None = None,
        window: MaintenanceWindow | Mapping[str, Any] | str | None = None,
        on_closed: str = "wait",
        on_refused: str = "fail",
        log_level: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for name, value, allowed in (
            ("on_closed", on_closed, ON_CLOSED),
            ("on_refused", on_refused, ON_REFUSED),
        ):
            if "{{" not in value:
                choice(*allowed)(name, value)
        self.table = table
        self.tables = tables
        self.database = database
        self.include = include
        self.exclude = exclude
        self.config_file = config_file
        self.window = window
        self.on_closed = on_closed
        self.on_refused = on_refused
        self.log_level = log_level

    def execute(self, context: Context) -> Any:
        """Submit the job and return the summary of its report."""
        return self.run_job(context)

    def execute_complete(self, context: Context, event: dict[str, Any] | None = None) -> Any:
        """Go on after the maintenance window has opened; it is looked at again."""
        self.log.info("The trigger fired: %s", event)
        return self.run_job(context)

    def run_job(self, context: Context) -> Any:
        """Look at the window, then submit, then judge the report."""
        with fail_on_usage_error():
            settings = config.load(given(self.config_file))
            deadline = self.wait_for_window(settings)
            submission = self.prepare(settings, deadline, context)
        if not isinstance(submission, Submission):
            return submission
        found, uri = self.submit(settings, submission, context)
        return self.conclude(found, uri, submission, context)

    def prepare(
        self, settings: Config, deadline: str | None, context: Context
    ) -> Submission | dict[str, Any]:
        """Return what to submit, or the result where there is nothing to submit."""
        return Submission(self.selection(), request.build_request(settings, self.arguments()), {})

    def selection(self) -> Selection:
        """Return what to work on."""
        return Selection.of(self.table, self.tables, self.database)

    def arguments(self) -> dict[str, Any]:
        """Return the options that were given to this operator, typed."""
        return parse_options({key: getattr(self, key) for key in self.option_keys})

    def wait_for_window(self, settings: Config) -> str | None:
        """Return when the open window closes; a closed one ends here, before anything is submitted."""
        if given(self.window) is None:
            return None
        window, now = settings.window(self.window), utcnow()
        closes = window.closes_at(now)
        if closes is not None:
            return closes.strftime("%Y-%m-%dT%H:%M:%SZ")
        message = f"the maintenance window is closed until {window.next_open(now).isoformat()}: not submitted"
        action = choice(*ON_CLOSED)("on_closed", self.on_closed)
        if action == "skip":
            raise AirflowSkipException(message)
        if action == "fail":
            raise AirflowFailException(message)
        self.wait(window, message)
        return None

    def wait(self, window: MaintenanceWindow, message: str) -> None:
        """Free the worker until the window opens."""
        self.log.info("%s; waiting", message)
        self.defer(trigger=MaintenanceWindowTrigger(window.as_dict()), method_name="execute_complete")

    def conclude(self, found: Report, uri: str | None, submission: Submission, context: Context) -> Any:
        """Return the summary, or push it and raise what the report means."""
        self.log.info("%s", report.render(found))
        result, why = report.evaluate(found, submission.selection.tables)
        with fail_on_usage_error():
            value = self.result(report.summary(found, uri), submission)
            skip_refused = choice(*ON_REFUSED)("on_refused", self.on_refused) == "skip"
        if result is TaskResult.DONE or (result is TaskResult.NOTHING and not self.skips_on_nothing):
            return value
        # Pushed before the task fails: rollback needs the run ids of a partial run.
        self.push(value, context)
        if result is TaskResult.REFUSED and skip_refused:
            if any(table["outcome"] == "done" for table in value["tables"]):
                return value
            raise AirflowSkipException(why)
        raise _EXCEPTIONS[result](why)

    def result(self, summary: dict[str, Any], submission: Submission) -> dict[str, Any]:
        """Return the value of the task's XCom."""
        return summary

    def push(self, value: Mapping[str, Any], context: Context) -> None:
        """Push the XCom that a returned value would have become."""
        if self.do_xcom_push:
            context["ti"].xcom_push(key="return_value", value=value)


def check_source(name: str, source: Any, *tables: Any) -> bool:
    """Tell whether the tables come from another task, which then must be the only one that names them."""
    if source is not None and any(given is not None for given in tables):
        raise UsageError(f"{name} already says which tables: leave table, tables and database out")
    if source is None and all(given is None for given in tables):
        raise UsageError(f"give {name}, or one of table, tables and database")
    return source is not None

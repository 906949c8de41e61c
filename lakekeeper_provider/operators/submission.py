"""One spark-submit that ends in a report."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from lakekeeper_provider import bundle, commands, report, request
from lakekeeper_provider.compat import (
    AirflowException,
    AirflowFailException,
    AirflowNotFoundException,
    BaseHook,
    Context,
    SparkSubmitOperator,
    execute_spark_submit,
    fail_on_usage_error,
)
from lakekeeper_provider.config import Config, SparkSubmit
from lakekeeper_provider.exceptions import ReportError, UsageError
from lakekeeper_provider.exchange import Exchange
from lakekeeper_provider.parsers import boolean, given
from lakekeeper_provider.report import Report
from lakekeeper_provider.selection import Selection

# Our name -> the attribute from which SparkSubmitOperator builds its hook.
_PRIVATE = {
    "conn_id": "_conn_id",
    "archives": "_archives",
    "yarn_queue": "_yarn_queue",
    "deploy_mode": "_deploy_mode",
    "executor_memory": "_executor_memory",
    "executor_cores": "_executor_cores",
    "num_executors": "_num_executors",
    "total_executor_cores": "_total_executor_cores",
    "driver_memory": "_driver_memory",
    "spark_binary": "_spark_binary",
    "use_krb5ccache": "_use_krb5ccache",
}
_PUBLIC = ("application", "conf", "files", "py_files", "keytab", "principal", "proxy_user")


@dataclass(frozen=True)
class Submission:
    """What one submission does."""

    selection: Selection
    request: Mapping[str, Any]
    flags: Mapping[str, Any]
    run_id: str | None = None


class SubmissionOperator(SparkSubmitOperator):
    """
    Base that hands a job to ``SparkSubmitOperator`` and returns the report that it leaves.

    What is given here wins over the YAML file, the file over the connection.
    """

    verb: ClassVar[str]
    template_fields: Sequence[str] = (*SparkSubmitOperator.template_fields, *_PRIVATE, "report_dir")

    def __init__(
        self,
        *,
        report_dir: str | None = None,
        conn_id: str = "spark_default",
        archives: str | None = None,
        yarn_queue: str | None = None,
        deploy_mode: str | None = None,
        executor_memory: str | None = None,
        executor_cores: int | str | None = None,
        num_executors: int | str | None = None,
        total_executor_cores: int | str | None = None,
        driver_memory: str | None = None,
        spark_binary: str | None = None,
        use_krb5ccache: bool | str | None = None,
        name: str | None = None,
        application_args: list[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name or f"lakekeeper-{self.verb}", **kwargs)
        if application_args:
            raise UsageError("application_args: the operator builds them; use its own arguments instead")
        self.report_dir = report_dir
        self.conn_id = conn_id
        self.archives = archives
        self.yarn_queue = yarn_queue
        self.deploy_mode = deploy_mode
        self.executor_memory = executor_memory
        self.executor_cores = executor_cores
        self.num_executors = num_executors
        self.total_executor_cores = total_executor_cores
        self.driver_memory = driver_memory
        self.spark_binary = spark_binary
        self.use_krb5ccache = use_krb5ccache
        if hasattr(self, "durable"):
            # A durable job is not submitted again when a succeeded task is cleared. Ours must be, and it is
            # safe to: the job itself resumes from its journal.
            self.durable = False
        self._given: dict[str, Any] | None = None
        self._stdout_report: str | None = None
        self._killed = False

    def submit(self, settings: Config, submission: Submission, context: Context) -> tuple[Report, str | None]:
        """Run spark-submit; return the report, and where it stays."""
        # TemporaryDirectory makes a folder that nobody else can enter.
        with tempfile.TemporaryDirectory(prefix="lakekeeper-") as folder:
            with fail_on_usage_error():
                exchange = self._configure(settings, submission, Path(folder))
            self._write_request(exchange, request.dump(submission.request))
            try:
                error = self._spark_submit(context)
                found = self._report(exchange, error)
            finally:
                self._remove_request(exchange)
        return found, exchange.lasting_report

    def _write_request(self, exchange: Exchange, content: bytes) -> None:
        try:
            exchange.write_request(content)
        except Exception as error:
            raise AirflowException(f"cannot write the request {exchange.request}: {error}") from error

    def _remove_request(self, exchange: Exchange) -> None:
        try:
            exchange.remove_request()
        except Exception as error:  # it tells nobody anything new, and must not hide how the job ended
            self.log.warning("could not remove the request %s: %s", exchange.request, error)

    def _configure(self, settings: Config, submission: Submission, folder: Path) -> Exchange:
        """Set all that SparkSubmitOperator.execute reads, and check what its hook would let pass."""
        self._merge(settings.spark_submit, folder)
        hook = self._get_hook()
        self._check(hook, settings.spark_submit)
        cluster = hook._connection["deploy_mode"] == "cluster"
        # The file's is for cluster mode: in client mode a report stays only where the task itself asks for it.
        report_dir = given(self.report_dir) or (settings.spark_submit.report_dir if cluster else None)
        if cluster and not report_dir:
            raise UsageError(
                "deploy_mode is cluster: set report_dir to a folder that this worker and the driver reach"
            )
        exchange = Exchange(report_dir or str(folder), lasting=bool(report_dir))
        conf = self._given_value("conf")
        self.conf = commands.spark_conf(settings.spark_submit, conf, client=not cluster)
        arguments = commands.job_arguments(
            submission.selection,
            request=exchange.request,
            report=exchange.report,
            options=submission.flags,
            run_id=submission.run_id,
        )
        own_script = self._own_script(settings.spark_submit)
        self.application_args = [self.verb, *arguments] if own_script else arguments
        return exchange

    def _own_script(self, spark: SparkSubmit) -> bool:
        return not self._given_value("application") and bool(spark.script_path)

    def _given_value(self, name: str) -> Any:
        # A sensor submits many times: what the first submission set must not be taken for what the user gave.
        if self._given is None:
            self._given = {item: getattr(self, item) for item in (*_PUBLIC, *_PRIVATE)}
        return given(self._given[name])

    def _merge(self, spark: SparkSubmit, folder: Path) -> None:
        own = self._given_value
        self.application = own("application") or spark.script_path or str(bundle.job_script(self.verb))
        self.files = own("files") or ",".join(spark.extra_files) or None
        bundled = [] if self._own_script(spark) else [str(bundle.build_bundle(folder))]
        extra = own("py_files") or ",".join(spark.py_files)
        self.py_files = ",".join([*bundled, *([extra] if extra else [])]) or None
        self._run_as(spark)
        for name, attribute in _PRIVATE.items():
            setattr(self, attribute, own(name) or _from_file(spark, name))
        ticket = own("use_krb5ccache")
        self._use_krb5ccache = spark.use_krb5ccache if ticket is None else boolean("use_krb5ccache", ticket)

    def _run_as(self, spark: SparkSubmit) -> None:
        """Whom the job runs as: spark-submit takes a principal or a proxy user, so that who says one here wants none of
        the file's other."""
        own = {name: self._given_value(name) for name in ("keytab", "principal", "proxy_user")}
        unwanted: tuple[str, ...] = ("keytab", "principal") if own["proxy_user"] else ()
        unwanted += ("proxy_user",) if own["keytab"] or own["principal"] else ()
        for name, value in own.items():
            setattr(self, name, value or (None if name in unwanted else getattr(spark, name)))

    def _check(self, hook: Any, spark: SparkSubmit) -> None:
        master = hook._connection["master"]
        if spark.master and spark.master != master:
            raise UsageError(
                f"spark_submit.master is {spark.master!r} in the configuration file, but the connection "
                f"{self._conn_id!r} says {master!r}: change one of them"
            )
        binary = hook._connection["spark_binary"]
        if not shutil.which(binary, path=(self.env_vars or {}).get("PATH")):
            raise UsageError(
                f"{binary!r} was not found on this worker: install a Spark client, put it on PATH, or set "
                "spark_binary"
            )

    def _get_hook(self) -> Any:
        connection = self._connection()
        # The hook writes a keytab that a connection holds to a file: for this user alone.
        before = os.umask(0o077)
        try:
            hook = super()._get_hook()
        finally:
            os.umask(before)
        # The hook's answer to a connection that it cannot read is the master yarn, not an error.
        if hook._connection["master"] == "yarn" and "yarn" not in (connection.host, connection.conn_type):
            raise AirflowException(f"the connection {self._conn_id!r} could not be read a second time")
        # The ticket says whose it is; spark-submit takes a principal only together with its keytab.
        if self._use_krb5ccache and not hook._connection["keytab"]:
            hook._connection["principal"] = None
        process_log = hook._process_spark_submit_log
        hook._process_spark_submit_log = lambda lines: process_log(self._without_report(lines))
        return hook

    def _connection(self) -> Any:
        try:
            return BaseHook.get_connection(self._conn_id)
        except AirflowNotFoundException:
            raise AirflowFailException(
                f"the Spark connection {self._conn_id!r} does not exist: create it, or set conn_id"
            ) from None

    def _without_report(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            if line.startswith(report.SENTINEL):
                self._stdout_report = line[len(report.SENTINEL) :]
            else:
                yield line

    def _spark_submit(self, context: Context) -> Exception | None:
        """Run spark-submit; a failure is returned, for the report may know more about it."""
        self._hook, self._stdout_report, error = None, None, None
        try:
            if not self._killed:
                execute_spark_submit(self, context)
        except Exception as failure:
            error = failure
        if self._killed:
            raise AirflowException(
                f"{self.verb} was killed; its next try resumes from the journal"
            ) from error
        return error

    def _report(self, exchange: Exchange, error: Exception | None) -> Report:
        """Return the report. It decides, even after a failed process: YARN flattens exit codes."""
        content = exchange.read_report() or self._stdout_report
        if content is None:
            raise error or AirflowException(self._without())
        try:
            return report.parse(content, self.verb)
        except ReportError as unreadable:
            raise error or AirflowException(str(unreadable)) from unreadable

    def _without(self) -> str:
        """What there is to say where a job ended well, and left no report."""
        if str(self.application) == str(bundle.job_script(self.verb)):
            return f"{self.verb} ended without a report, so nothing is known of it"
        return (
            f"{self.application} ended without a report of this package's jobs: it is another program, or it hands"
            " --report on to none of them; leave script_path and application out to submit the jobs themselves"
        )

    def on_kill(self) -> None:
        """Kill spark-submit; ``execute`` goes on after that, and must not take it for an end of the job."""
        self._killed = True
        if self._hook is not None:
            super().on_kill()


def _from_file(spark: SparkSubmit, name: str) -> Any:
    return getattr(spark, {"yarn_queue": "queue", "spark_binary": "submit_command"}.get(name, name), None)

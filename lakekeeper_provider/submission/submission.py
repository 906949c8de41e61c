"""Submit a job with spark-submit and return its report."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lakekeeper_provider.compat import AirflowException, Context, SparkSubmitOperator, fail_on_usage_error
from lakekeeper_provider.exceptions import ReportError, UsageError
from lakekeeper_provider.launch import bundle, commands, request
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.options.parsers import given
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.options.spark_submit import SparkSubmit
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report import report
from lakekeeper_provider.report.report import ProcessFailure, Report
from lakekeeper_provider.submission.driver_environment import DriverEnvironment
from lakekeeper_provider.submission.driver_log import DriverLog
from lakekeeper_provider.submission.exchange import Exchange
from lakekeeper_provider.submission.links import YarnApplicationLink, watch_application
from lakekeeper_provider.submission.spark_submit_adapter import PRIVATE_ARGUMENTS, SparkSubmitter, SparkTarget

_ARGUMENTS = (*("application", "files", "py_files", "keytab", "principal", "proxy_user"), *PRIVATE_ARGUMENTS)


@dataclass(frozen=True)
class Submission:
    """What one spark-submit runs.

    Args:
        request: content of the request file
        flags: options that are passed on the command line
        run_id: run to start, to resume or to undo
        own_flags: flags that only this verb has, with their values
    """

    selection: Selection
    request: Mapping[str, Any]
    flags: Mapping[str, Any]
    run_id: str | None = None
    own_flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """What has become of a submission.

    Args:
        uri: where the report is kept, if it is
        failure: how the process failed, although there is a report
        by_file: the report was where it is exchanged, and not only on the driver's standard output
    """

    report: Report
    uri: str | None
    failure: ProcessFailure | None
    by_file: bool = True


class SubmissionRunner:
    """Run one submission: exchange request and report with the job, and run spark-submit.

    Args:
        operator: has the arguments that the user gave; it is not changed
        verb: the job to run
        spark: the ``spark_submit`` section of the configuration file
    """

    def __init__(self, operator: SparkSubmitOperator, verb: str, spark: SparkSubmit) -> None:
        self._operator = operator
        self._verb = verb
        self._spark = spark
        self._own = {name: given(getattr(operator, name)) for name in _ARGUMENTS}
        self._has_launcher = commands.has_launcher(self._own, spark)
        self._submitter: SparkSubmitter | None = None
        self._resource_manager: str | None = None
        self._on_yarn = False
        self._line = ReportLine()
        self._driver_log = DriverLog(operator.log)
        self._environment: DriverEnvironment | None = None
        self._by_file = True
        self._killed = False

    def target(self) -> SparkTarget:
        """Return where the job would be submitted to.

        Raises:
            AirflowException: there is no such connection
        """
        arguments = commands.submit_arguments(self._own, self._spark, str(bundle.job_script(self._verb)))
        return SparkSubmitter(self._operator, arguments, iter).target()

    @property
    def keytab(self) -> str | None:
        """Return the keytab by which the job would log in."""
        keytab: str | None = commands.submit_arguments(self._own, self._spark)["keytab"]
        return keytab

    def report_dir(self, *, cluster: bool) -> str | None:
        """Return the directory of request and report; None if only this machine needs them.

        That of the file is for cluster mode; in client mode only an argument keeps the report.
        """
        named = given(self._operator.report_dir)  # type: ignore[attr-defined]  # all operators here have it
        return named or (self._spark.report_dir if cluster else None)

    def run(self, submission: Submission, context: Context) -> Ended:
        """Run spark-submit until the job has ended.

        Raises:
            AirflowFailException: an argument is wrong; nothing was submitted
            AirflowException: the job was killed or left no readable report
        """
        # TemporaryDirectory creates a directory that only this user can enter.
        with tempfile.TemporaryDirectory(prefix="lakekeeper-") as directory:
            with fail_on_usage_error():
                arguments = self._arguments(Path(directory))
                submitter, exchange = self._configure(submission, arguments, directory, context)
            self._write_request(exchange, request.dump(submission.request))
            try:
                error = self._submit(submitter, context)
                answer = self._report(exchange, arguments["application"], error)
            except BaseException:
                self._driver_log.without_report()
                raise
            finally:
                self._remove_request(exchange)
        failure = self._failure(submitter, error)
        return Ended(answer, exchange.lasting_report, failure, self._by_file)

    def kill(self) -> None:
        """Kill the job; ``run``, which continues after that, raises."""
        self._killed = True
        if self._submitter is not None:
            self._submitter.kill()

    def _arguments(self, directory: Path) -> dict[str, Any]:
        """Return the arguments of SparkSubmitOperator that do not depend on the connection."""
        if self._has_launcher:
            return commands.submit_arguments(self._own, self._spark)
        script, archive = bundle.job_script(self._verb), bundle.build_bundle(directory)
        return commands.submit_arguments(self._own, self._spark, str(script), str(archive))

    def _configure(
        self, submission: Submission, arguments: Mapping[str, Any], directory: str, context: Context
    ) -> tuple[SparkSubmitter, Exchange]:
        submitter = SparkSubmitter(self._operator, arguments, partial(self._watched, context))
        target = submitter.target()
        self._check(target, arguments["conn_id"])
        # Read here: an error while the job runs would break off its log.
        self._resource_manager = submitter.resource_manager()
        self._on_yarn = target.master.startswith("yarn")
        cluster = target.deploy_mode == "cluster"
        exchange = self._exchange(cluster, directory)
        conf = commands.spark_conf(self._spark, given(self._operator.conf), client=not cluster)
        application_args = self._application_args(submission, exchange)
        submitter.set_arguments({"conf": conf, "application_args": application_args})
        # In cluster mode the driver has the environment of its node.
        if not cluster:  # guard: client_mode_environment
            self._environment = DriverEnvironment.of(
                os.environ, self._spark.pass_environment, given(self._operator.env_vars)
            )
            submitter.set_environment(self._environment.variables)
            submitter.set_line_log(self._driver_log.log_line)
        self._submitter = submitter
        return submitter, exchange

    def _check(self, target: SparkTarget, conn_id: str) -> None:
        """Reject what the hook accepts and spark-submit would not, or not as meant."""
        if self._spark.master and self._spark.master != target.master:
            raise UsageError(
                f"spark_submit.master is {self._spark.master!r} in the configuration file, but the connection "
                f"{conn_id!r} says {target.master!r}: change one of them"
            )
        if not shutil.which(target.spark_binary, path=(self._operator.env_vars or {}).get("PATH")):
            raise UsageError(
                f"{target.spark_binary!r} was not found on this worker: install a Spark client, put it on PATH, or"
                " set spark_binary"
            )

    def _exchange(self, cluster: bool, directory: str) -> Exchange:
        report_dir = self.report_dir(cluster=cluster)
        if cluster and not report_dir:
            raise UsageError(
                "deploy_mode is cluster: set report_dir to a directory that this worker and the driver reach"
            )
        return Exchange(report_dir or directory, lasting=bool(report_dir))

    def _application_args(self, submission: Submission, exchange: Exchange) -> list[str]:
        arguments = commands.job_arguments(
            submission.selection,
            request=exchange.request,
            report=exchange.report,
            nonce=self._line.flags,
            options=submission.flags,
            run_id=submission.run_id,
            own_flags=submission.own_flags,
        )
        return [self._verb, *arguments] if self._has_launcher else arguments

    def _write_request(self, exchange: Exchange, content: bytes) -> None:
        try:
            exchange.write_request(content)
        except Exception as error:
            raise AirflowException(f"cannot write the request {exchange.request}: {error}") from error

    def _remove_request(self, exchange: Exchange) -> None:
        try:
            exchange.remove_request()
        except Exception as error:  # a leftover request is harmless, and must not hide how the job ended
            self._operator.log.warning("could not remove the request %s: %s", exchange.request, error)

    def _submit(self, submitter: SparkSubmitter, context: Context) -> Exception | None:
        """Run spark-submit and return its failure, because the report may give a better reason."""
        error = None
        try:
            if not self._killed:
                submitter.submit(context)
        except Exception as failure:
            error = failure
        if self._killed:
            raise AirflowException(
                f"{self._verb} was killed; its next try resumes from the journal"
            ) from error
        return error

    def _watched(self, context: Context, lines: Iterator[str]) -> Iterator[str]:
        """Store the link to the application while the job runs, and return the lines to log."""
        store = partial(YarnApplicationLink.store, context)
        if self._on_yarn:  # Elsewhere, a line like that of the address is the text of a table.
            lines = watch_application(lines, self._resource_manager, store)
        return self._line.without(lines)

    def _name_left_out(self) -> None:
        """Log the names of the variables that the driver did not get, and never their values: it may need one."""
        left_out = self._environment.left_out if self._environment is not None else ()
        # Airflow's own are for no job.
        names = [one_line(name) for name in left_out if not name.startswith("AIRFLOW_")]
        if names:
            self._operator.log.info(
                "spark-submit did not get these variables of this worker: %s; if the job needs one, name it in"
                " spark_submit.pass_environment of the configuration file, or give it by env_vars",
                ", ".join(names),
            )

    def _failure(self, submitter: SparkSubmitter, error: Exception | None) -> ProcessFailure | None:
        """Return how the process failed. In cluster mode spark-submit has an exit code of its own."""
        if error is None:
            return None
        code = None if self._environment is None else submitter.exit_code()
        return ProcessFailure(code, str(error))  # guard: failure_told

    def _report(self, exchange: Exchange, application: str, error: Exception | None) -> Report:
        """Return the report, also of a failed process: YARN does not pass on exit codes of the driver."""
        content = self._content(exchange)
        if content is None:
            if error is not None:
                self._name_left_out()
            raise error or AirflowException(self._no_report(application))
        try:
            found = report.parse(content, self._verb)
        except ReportError as unreadable:
            raise error or AirflowException(str(unreadable)) from unreadable
        if error is not None and (found.error or any(table["outcome"] == "failed" for table in found.tables)):
            self._name_left_out()
        return found

    def _content(self, exchange: Exchange) -> bytes | str | None:
        """Return the report file, or what a driver in client mode has printed of it, or None."""
        try:
            content = exchange.read_report()
            self._by_file = bool(content)
            return content or self._line.content
        except Exception as error:
            self._by_file = False
            message = f"the job has ended, and its report {exchange.report} cannot be read: {error}"
            if self._line.content is None:
                raise AirflowException(message) from error
            self._operator.log.warning("%s; its copy on standard output is used", message)
            return self._line.content

    def _no_report(self, application: str) -> str:
        """Return the message for a job that succeeded and left no report."""
        if str(application) == str(bundle.job_script(self._verb)):
            return f"{self._verb} ended without a report, so nothing is known of it"
        return (
            f"{application} ended without a report of this package's jobs: it is another program, or it does not pass"
            " --report and --report-nonce to any of them; remove script_path and application to submit the jobs"
            " themselves"
        )

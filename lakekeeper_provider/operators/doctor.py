"""Say what is wrong between a worker and the tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from lakekeeper_provider.compat import AirflowException, AirflowFailException, Context, fail_on_usage_error
from lakekeeper_provider.doctor import driver, machine
from lakekeeper_provider.doctor.checks import BAD, Check, is_bad, summary
from lakekeeper_provider.exceptions import ReportError, UsageError
from lakekeeper_provider.launch import request
from lakekeeper_provider.operators import worker_checks
from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.option import DOCTOR
from lakekeeper_provider.options.parsers import given
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.submission.submission import Ended, Submission, SubmissionRunner


class DoctorOperator(LakekeeperOperator):
    """Check what is between this worker and the tables: versions, ticket, triggerer, Spark, metastore, HDFS, rights.

    Changes nothing. Each check is a line of the log: what was tried, what was found, and what to do. A bad one fails
    the task without a retry. The XCom has the checks. Without a table it looks at no directories. It waits for no
    window. See ``LakekeeperOperator`` for the other arguments.
    """

    verb = DOCTOR
    ui_color = "#e6ecf1"

    def selection(self) -> Selection:
        """Return the selected tables, which may be none."""
        if all(given(each) is None for each in (self.table, self.tables, self.database)):
            return Selection()
        return super().selection()

    def run_job(self, context: Context) -> dict[str, Any]:
        """Make all checks, show them, and fail if any is bad."""
        with fail_on_usage_error():
            self.selection(), self.arguments()
        checks: list[Check] = []
        for check in self._checks(context):
            checks.append(check)
            for line in check.lines():
                self.log.info("%s", line)
        self.log.info("%s", summary(checks))
        result = {
            "schema_version": 1,
            "verb": DOCTOR,
            "outcome": "failed" if is_bad(checks) else "done",
            "checks": [check.to_json() for check in checks],
        }
        if is_bad(checks):
            self.push(result, context)
            raise AirflowFailException(f"doctor: {summary(checks)}")
        return result

    def _checks(self, context: Context) -> Iterator[Check]:
        desk = worker_checks.DESK
        yield worker_checks.provider()
        settings, configuration = machine.configuration(desk, given(self.config_file))
        yield configuration
        # It only says what would be submitted.
        runner = SubmissionRunner(self, DOCTOR, settings.spark_submit)
        yield machine.ticket(desk, runner.keytab, {**os.environ, **(self.env_vars or {})})
        yield worker_checks.pool(self.pool)
        yield worker_checks.triggerer()
        if configuration.outcome == BAD:
            yield driver.not_asked("the check configuration is bad")
        else:
            yield from self._of_driver(runner, settings, context)

    def _of_driver(self, runner: SubmissionRunner, settings: Config, context: Context) -> Iterator[Check]:
        try:
            target = runner.target()
        except (UsageError, AirflowException) as error:
            yield driver.failed(str(error), "Correct the Spark connection: docs/start/install.md")
            return
        cluster = target.deploy_mode == "cluster"
        path = (self.env_vars or {}).get("PATH")
        needed = (
            machine.spark_submit(worker_checks.DESK, target.spark_binary, path),
            worker_checks.report_dir(runner.report_dir(cluster=cluster), cluster=cluster),
        )
        yield from needed
        bad = next((check.check for check in needed if check.outcome == BAD), None)
        yield from [driver.not_asked(f"the check {bad} is bad")] if bad else self._ask(settings, context)

    def _ask(self, settings: Config, context: Context) -> Iterator[Check]:
        submission = Submission(self.selection(), request.build_request(settings, self.arguments()), {})
        try:
            ended = self.submit(submission, settings, context)
            checks = driver.of_report(ended.report, _failure(ended))
        except (AirflowException, ReportError) as error:
            if self._killed:
                raise
            checks, ended = [driver.failed(str(error))], None
        yield from checks
        if ended is not None and ended.uri and not ended.by_file:
            yield worker_checks.one_sided(ended.uri)


def _failure(ended: Ended) -> str | None:
    """Return how the process has failed, unless its report tells it."""
    if ended.failure is None or ended.failure.is_told_by(ended.report):
        return None
    return f"{ended.failure}: {ended.failure.text}"

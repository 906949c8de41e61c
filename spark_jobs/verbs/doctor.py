"""The verb doctor: it says what a driver finds of the cluster, and what a person does about it. It changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from spark_jobs.core.messages.errors import LakekeeperError, UsageError
from spark_jobs.core.options.arguments import Invocation
from spark_jobs.core.wire.checks import Check, Question, answered, bad, good
from spark_jobs.core.wire.report import Report
from spark_jobs.protocol.doctor.examination import Examination
from spark_jobs.protocol.measuring.clock import utc_now
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.ports import Surroundings
from spark_jobs.protocol.services import Services
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.runner import job_of, nearest_name

log = logging.getLogger("lakekeeper")

#: Of a database, so many tables are looked at.
_TABLES = 20
_EXCHANGE = (
    "Name a directory as report_dir that the worker and the driver both reach, such as one of webhdfs://"
)


def examine(
    services: Services,
    around: Surroundings,
    invocation: Invocation,
    report: Report,
    show: Callable[[str], None],
) -> Report:
    """Make all checks, and fill in the report.

    Args:
        show: shows each check to the person who has started the job.
    """
    report.checks = checks = []
    job, request = _job(services, invocation)
    for check in (*request, *_examination(services, around, job).checks()):
        checks.append(check)
        show(check.text())
        log.info("%s: %s", check.name, check.answer.outcome)
    report.ended, report.phases = utc_now(), services.phases.seconds()
    report.namenode_calls = services.calls.made
    return report


def spark_failed(error: str) -> list[Check]:
    """Return the checks of a driver in which Spark does not start."""
    action = (
        "Look at the ticket, the queue, HADOOP_CONF_DIR and the properties of Spark; the log has what Spark says"
        " (`lakekeeper doctor --verbose`)"
    )
    return list(answered([Question("spark", "start Spark", lambda: bad(error, action), action)]))


def _job(services: Services, invocation: Invocation) -> tuple[Job | None, list[Check]]:
    """Return the inputs of the job, None if they cannot be read, and the check of that, if there are any."""
    try:
        job, answer = job_of(services, invocation, print), good(f"the driver can read {invocation.request}")
    except UsageError as error:
        job, answer = None, bad(str(error), _EXCHANGE)
    if job is not None and invocation.request is None:
        return job, []
    return job, list(answered([Question("request", "read what its caller has written", lambda: answer, "")]))


def _examination(services: Services, around: Surroundings, job: Job | None) -> Examination:
    if job is None:
        return Examination(services, around, list, "")
    named = job.invocation.database or ", ".join(job.invocation.tables)
    return Examination(services, around, lambda: _tables(job), named)


def _tables(job: Job) -> Sequence[Table]:
    """Return the tables that are named; of a database, the first ones that can be compacted."""
    names = job.table_names()
    if not job.invocation.database:
        for name in names:
            if not job.services.metastore.table_exists(name):
                raise LakekeeperError(f"table {name} does not exist{nearest_name(job, name)}")
        return [job.table(name) for name in names]
    tables: list[Table] = []
    for name in names:
        try:
            tables.append(job.table(name))
        except LakekeeperError as error:
            log.debug("%s is left out: %s", name, error)
        if len(tables) == _TABLES:
            break
    return tables

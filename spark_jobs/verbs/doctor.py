"""The verb doctor: it says what a driver finds of the cluster, and what a person does about it. It changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable

from spark_jobs.core.messages.errors import LakekeeperError, Refusal, UsageError
from spark_jobs.core.options.arguments import Invocation
from spark_jobs.core.rules.eligibility import check_table
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.checks import Check, Question, answered, bad, good
from spark_jobs.core.wire.report import Report
from spark_jobs.protocol.doctor.examination import Examination, Found
from spark_jobs.protocol.measuring.clock import utc_now
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.surroundings import Surroundings
from spark_jobs.protocol.services import Services
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.runner import job_of, nearest_name

log = logging.getLogger("lakekeeper")

#: Of a database, so many tables are looked at.
_TABLES = 20
_EXCHANGE = (
    "Name a directory as report_dir that the worker and the driver both reach, such as one of webhdfs://"
)
_CORRECT = "Correct the configuration file: docs/configuration.md"


def examine(
    services: Services,
    around: Surroundings,
    invocation: Invocation,
    report: Report,
    show: Callable[[Check], None],
) -> Report:
    """Make all checks, and fill in the report as they are made: the next one may never end.

    Args:
        show: shows each check to the person who has started the job.
    """
    checks: list[Check] = []
    report.checks, report.complete = checks, False
    job, request = _job(services, invocation)
    for check in (*request, *_examination(services, around, job).checks()):
        checks.append(check)
        show(check)
        log.info("%s: %s", check.name, check.answer.outcome)
    report.complete = True
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
    given = invocation.request or invocation.config_file
    try:
        job, answer = job_of(services, invocation, print), good(f"the driver can read {given}")
    except UsageError as error:
        job, answer = None, bad(str(error), _EXCHANGE if invocation.request else _CORRECT)
    if job is not None and given is None:
        return job, []
    return job, list(answered([Question("request", "read what its caller has written", lambda: answer, "")]))


def _examination(services: Services, around: Surroundings, job: Job | None) -> Examination:
    if job is None:
        return Examination(services, around, Found, "tables", "the check request is bad")
    named = job.invocation.database or ", ".join(job.invocation.tables)
    why = "" if named else "no table is named: --table DB.TABLE"
    return Examination(services, around, lambda: _found(job), named or "tables", why)


def _found(job: Job) -> Found:
    """Return the tables that are named; of a database, the first ones that can be compacted."""
    names = job.table_names()
    if not job.invocation.database:
        return Found([_named(job, name) for name in names])
    tables: list[Table] = []
    errors: list[str] = []
    for name in names:
        try:
            tables.append(_read(job, name))
        except Refusal as refusal:
            log.debug("%s is left out: %s", name, refusal)
        except LakekeeperError as error:
            errors.append(str(error))
        if len(tables) == _TABLES:
            break
    return Found(tables, errors)


def _named(job: Job, name: TableName) -> Table:
    if not job.services.metastore.table_exists(name):
        raise LakekeeperError(f"table {name} does not exist{nearest_name(job, name)}")
    return _read(job, name)


def _read(job: Job, name: TableName) -> Table:
    """Return a table. Raise Refusal for one that no job works on."""
    table = job.table(name)
    check_table(table.facts, table.options.bucketing, table.options.enabled)
    return table

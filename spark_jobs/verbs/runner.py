"""The frame of every job: it reads the arguments, works on the tables one by one, and fills in one report."""

from __future__ import annotations

import logging
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from spark_jobs.core.messages.errors import LakekeeperError, Refusal, UsageError
from spark_jobs.core.messages.nearest import nearest
from spark_jobs.core.messages.outcomes import TableOutcome
from spark_jobs.core.messages.printable import printable, printable_lines
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.options.arguments import Invocation
from spark_jobs.core.options.choosing import SELECTIONS
from spark_jobs.core.options.configuration import Configuration, parse_config
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.options.option import CHECK
from spark_jobs.core.planning.admission import Admission
from spark_jobs.core.planning.plan_file import Planned, parse_plan
from spark_jobs.core.planning.retention import check_retention
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import Report, TableReport
from spark_jobs.core.wire.request import Request
from spark_jobs.core.wire.summary import summary
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.measuring.clock import utc_now
from spark_jobs.protocol.measuring.phases import describe
from spark_jobs.protocol.services import Services
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.native import native_session
from spark_jobs.verbs.registry import VERBS, Verb
from spark_jobs.verbs.table_errors import hint, report_of

log = logging.getLogger("lakekeeper")
_print = partial(print, flush=True)

#: The options of a job that executes a plan, unless they are given: the order is that of the plan.
_AS_PLANNED = {"order": "none"}


def run(
    services: Services, invocation: Invocation, report: Report, show: Callable[[str], None] = _print
) -> Report:
    """Run a job with services that are started already. Fill in the report, and return it."""
    keep_lines_printable(log)
    verb = VERBS[invocation.verb]
    report.by_name = not invocation.database
    report.complete = False
    try:
        job = job_of(services, invocation, show)
        report.by_name = not job.invocation.database
        report.run_id = job.run_id if invocation.verb == "compact" else invocation.run_id
        for what, act in _tasks(job, verb):
            log.info("%s %s", invocation.verb, what)
            reports = _with_ignored(job, _guarded(job, what, act, begun=bool(report.tables)))
            report.tables += reports
            _log_end(what, reports)
        if verb.finish:
            verb.finish(job, report)
        report.complete = True
    except UsageError as error:
        report.error, report.usage = str(error), True
    except LakekeeperError as error:
        report.error = str(error)
    report.ended, report.phases = utc_now(), services.phases.seconds()
    report.namenode_calls = services.calls.made
    log.info("phases: %s", describe(report.phases))
    return report


def _with_ignored(job: Job, reports: Sequence[TableReport]) -> list[TableReport]:
    """Return the reports with the warnings about properties, also of a table that has failed."""
    return [
        replace(table, warnings=[*job.ignored.get(table.table, ()), *table.warnings]) for table in reports
    ]


def _log_end(what: str, reports: Sequence[TableReport]) -> None:
    log.info("%s: %s", what, summary(reports[-1]))
    for table in reports:
        for text in table.warnings:
            log.warning("%s: %s", table.table, text)


def _tasks(job: Job, verb: Verb) -> Iterator[tuple[str, Callable[[], Sequence[TableReport]]]]:
    """Return what is worked on, by name, and how."""
    location = job.invocation.location
    if location is not None and verb.at_location is not None:
        yield location, partial(verb.at_location, job, location)
        return
    names: Sequence[TableName] = job.table_names()
    for name in verb.order(job, names) if verb.order else names:
        yield str(name), partial(_work_on_table, job, verb, name)


def job_of(services: Services, invocation: Invocation, show: Callable[[str], None]) -> Job:
    request = Request.from_json(_read(services, invocation.request)) if invocation.request else Request()
    path = invocation.config_file
    file = parse_config(_read(services, path), path) if path else Configuration()
    whole = file.named_as_a_whole(invocation)
    invocation = file.completing(invocation)
    planned = _plan_to_execute(services, invocation) if invocation.plan else None
    layers = Layers(
        command_line=invocation.options if planned is None else {**_AS_PLANNED, **invocation.options},
        arguments=request.arguments,
        planned={str(TableName.parse(name)): table.options for name, table in (planned or {}).items()},
        tables={**_with_parsed_names(file.sections), **_with_parsed_names(request.tables)},
        settings={**file.settings, **request.settings},
    )
    layers.check()
    options = layers.resolve()
    log.setLevel(options.log_level)
    services.calls.limit(options.max_calls_per_second)
    if invocation.verb == "cleanup":
        check_retention(layers, whole, invocation.tables, invocation.database)
    run_id = invocation.run_id or _new_run_id()
    admission = JobAdmission(Admission.of(layers.resolve()))
    return Job(invocation, services, layers, request, run_id, admission, show, planned)


def _plan_to_execute(services: Services, invocation: Invocation) -> Planned:
    """Return the plan, which is given as a file, or by the Python API as its text."""
    chosen = [f"--{name.replace('_', '-')}" for name in SELECTIONS if invocation.options.get(name)]
    if chosen:
        raise UsageError(f"--plan names the partitions to compact; use it without {' and '.join(chosen)}")
    given = str(invocation.plan)
    if given.startswith("{"):
        return parse_plan(given, "the plan")
    return parse_plan(_read(services, given), given)


def _new_run_id() -> str:
    return f"manual-{utc_now():%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def _with_parsed_names(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {str(TableName.parse(name)): section for name, section in tables.items()}


def _read(services: Services, uri: str) -> str:
    """Return the text of a file, which is given by a URI or by a path on this machine."""
    try:
        return (
            services.fs.read(uri) if "://" in uri or uri.startswith("file:") else Path(uri).read_bytes()
        ).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {uri}: {error}") from None


def _work_on_table(job: Job, verb: Verb, name: TableName) -> Sequence[TableReport]:
    if not job.services.metastore.table_exists(name):
        if job.invocation.database:
            return [_dropped_meanwhile(name)]
        near = nearest_name(job, name)
        raise Refusal(RefusalCode.NOT_FOUND, f"table {name} does not exist in the metastore{near}{hint(job)}")
    try:
        return [_of_table(job, verb, name)]
    except LakekeeperError:
        # A check leaves nothing behind, so that a table that was dropped under it needs nothing.
        if (
            job.invocation.verb != CHECK
            or not job.invocation.database
            or job.services.metastore.table_exists(name)
        ):
            raise
        return [_dropped_meanwhile(name)]


def _of_table(job: Job, verb: Verb, name: TableName) -> TableReport:
    native = native_session(job, name) if verb.of_native else None
    if native is not None and verb.of_native is not None:
        return verb.of_native(job, native)
    return verb.of_table(job, name)


def nearest_name(job: Job, name: TableName) -> str:
    """Return a hint at the table or the database that was meant; nothing if the metastore does not answer."""
    metastore = job.services.metastore
    try:
        if not metastore.database_exists(name.database):
            return nearest(name.database, metastore.databases())
        return nearest(name.table, metastore.tables(name.database), f"{name.database}.")
    except LakekeeperError:
        return ""


def _dropped_meanwhile(name: TableName) -> TableReport:
    return TableReport(
        str(name), TableOutcome.NOTHING, reason="the table was dropped after its database was listed"
    )


def _guarded(
    job: Job, name: str, act: Callable[[], Sequence[TableReport]], *, begun: bool
) -> Sequence[TableReport]:
    """Return the reports, or one about the error: one table must not stop the others.

    Args:
        begun: other tables were worked on before, so that an error in the call must not say that nothing was done.
    """
    try:
        return act()
    except UsageError as error:
        if not job.invocation.database and not begun:
            raise
        return [TableReport(name, TableOutcome.REFUSED, RefusalCode.USAGE.name, str(error))]
    except Exception as error:
        return [report_of(job, name, error)]  # guard: table_failure_isolated


_INDENT = "  "


class _Printable(logging.Filter):
    """Escapes a record before any handler has it: also the handlers of a program that calls the Python API."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = printable(record.getMessage()), ()  # guard: log_lines
        if record.exc_info and record.exc_info[1] is not None and not record.exc_text:
            # A message of several lines is a part of it, so no line begins where one of the log does.
            lines = "".join(traceback.format_exception(*record.exc_info)).splitlines()
            record.exc_text = printable_lines(f"{_INDENT}{line}" for line in lines)  # guard: log_tracebacks
        return True


_FILTER = _Printable()


def keep_lines_printable(logger: logging.Logger) -> None:
    """Make all records of a logger printable. A second call changes nothing."""
    logger.addFilter(_FILTER)

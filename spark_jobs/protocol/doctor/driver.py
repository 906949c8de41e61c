"""The checks of the driver itself: its programs, its executors and its ticket."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from spark_jobs import __version__
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.wire.checks import Answer, advice, bad, good
from spark_jobs.core.wire.report import utc
from spark_jobs.protocol.surroundings import Surroundings

#: Executors come within this many seconds, or the queue has no room.
_PATIENCE = 120.0
#: A ticket that ends sooner is renewed, or ends under a job.
_SHORT = timedelta(hours=1)
_GET_TICKET = (
    "Run kinit, or give spark_submit a keytab and a principal; in Airflow, `airflow kerberos` renews a ticket, and"
    " use_krb5ccache: true uses it"
)


def spark(around: Surroundings) -> Answer:
    """Name the programs of the driver."""
    found = around.versions()
    return good(
        f"Spark {found.spark} in {found.home}, Java {found.java}, Python {found.python}, jobs {__version__};"
        f" {found.master} in {found.deploy_mode} mode, the driver on {found.host}"
    )


def executors(around: Surroundings) -> Answer:
    """Run tasks on the executors. The jobs run no Python there, so that it may be missing."""
    tasks = _counted(around.executors(_PATIENCE))
    try:
        return good(f"{tasks}; {_counted(around.executors_python(_PATIENCE))}")
    except LakekeeperError as error:
        return good(f"{tasks}; no Python, which the jobs do not need there ({error})")


def _counted(tasks: Mapping[str, int]) -> str:
    return ", ".join(f"{what} ({count} tasks)" for what, count in sorted(tasks.items()))


def ticket(around: Surroundings, now: datetime) -> Answer:
    """Tell who the driver is, and for how long."""
    found = around.ticket()
    if not found.secured:
        return good(f"{found.account}, without Kerberos (hadoop.security.authentication is simple)")
    if found.by_keytab:
        return good(f"{found.account}, by a keytab: the driver logs in again by itself")
    if not found.valid:
        return _without_ticket(found.account, found.tokens)
    if found.ends is None:
        return good(f"{found.account}, with a ticket")
    left = found.ends - now
    if left <= timedelta(0):
        return bad(f"the ticket of {found.account} has ended at {utc(found.ends)}", _GET_TICKET)
    shown = f"the ticket of {found.account} ends at {utc(found.ends)}, in {_hours(left)}"
    if left < _SHORT:
        return advice(shown, "Renew it (kinit -R, or kinit), or give spark_submit a keytab and a principal")
    return good(shown)


def _without_ticket(account: str, tokens: int) -> Answer:
    if tokens:
        return good(f"{account}, by {tokens} delegation tokens of the job that was submitted")
    return bad(f"the cluster asks for Kerberos, and {account} has no ticket that is valid", _GET_TICKET)


def _hours(left: timedelta) -> str:
    minutes = int(left.total_seconds() // 60)
    return f"{minutes // 60} h {minutes % 60} min"

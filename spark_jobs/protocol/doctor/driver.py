"""The checks of the driver itself: its programs, its executors and its ticket."""

from __future__ import annotations

from datetime import datetime, timedelta

from spark_jobs import __version__
from spark_jobs.core.wire.checks import Answer, advice, bad, good
from spark_jobs.core.wire.report import utc
from spark_jobs.protocol.ports import Surroundings

#: Executors come within this many seconds, or the queue has no room.
_PATIENCE = 120.0
#: A ticket that ends sooner is renewed, or ends under a job.
_SHORT = timedelta(hours=1)


def spark(around: Surroundings) -> Answer:
    """Name the programs of the driver."""
    found = around.versions()
    return good(
        f"Spark {found.spark} in {found.home}, Java {found.java}, Python {found.python}, jobs {__version__};"
        f" {found.master} in {found.deploy_mode} mode, the driver on {found.host}"
    )


def executors(around: Surroundings) -> Answer:
    """Run tasks on the executors. The jobs run none of Python there, so that only a part of it would be missed."""
    own = around.versions().python
    tasks = around.executors(_PATIENCE)
    shown = ", ".join(
        f"Python {python} on {host} ({count} tasks)" for (host, python), count in sorted(tasks.items())
    )
    others = {python for _, python in tasks if python.split(".")[:2] != own.split(".")[:2]}
    if others:
        return advice(f"{shown}; the driver has Python {own}", "Set spark.pyspark.python to the same version")
    return good(shown)


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
    shown = f"the ticket of {found.account} ends at {utc(found.ends)}, in {_hours(left)}"
    if left < _SHORT:
        return advice(shown, "Renew it (kinit -R, or kinit), or give spark_submit a keytab and a principal")
    return good(shown)


def _without_ticket(account: str, tokens: int) -> Answer:
    if tokens:
        return good(f"{account}, by {tokens} delegation tokens of the job that was submitted")
    return bad(
        f"the cluster asks for Kerberos, and {account} has no ticket that is valid",
        "Run kinit, or give spark_submit a keytab and a principal; in Airflow, `airflow kerberos` renews a ticket, and"
        " use_krb5ccache: true uses it",
    )


def _hours(left: timedelta) -> str:
    minutes = max(0, int(left.total_seconds() // 60))
    return f"{minutes // 60} h {minutes % 60} min"

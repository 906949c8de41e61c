"""Kerberos: each kind of credentials, through the operators and YARN"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from tests.airflow.support import context
from tests.cluster.cluster import Cluster
from tests.cluster.kerberos import REALM
from tests.harness.waiting import wait_for
from tests.kerberos.worker import ROWS, Table, applications, keytab

pytestmark = pytest.mark.usefixtures("worker")
#: What Hadoop's client, and Java below it, say to who has none.
NO_TICKET = "Client cannot authenticate via|No valid credentials|Unable to obtain"
SUCCEEDED = ("etl", "SUCCEEDED")


def analyse(table: Table, **settings: Any) -> dict[str, Any]:
    return AnalyzeOperator(task_id="analyze", table=table.name, **settings).execute(context())


def compact(table: Table, **settings: Any) -> dict[str, Any]:
    """As etl; the result is looked at from outside."""
    done = CompactOperator(task_id="compact", table=table.name, **settings).execute(context())
    assert (done["outcome"], done["tables"][0]["rows"]) == ("done", ROWS)
    assert [owner for owner, _, _ in table.files().values()] == ["etl"]
    return done


def test_a_keytab_in_client_mode(cluster: Cluster, tables: dict[str, Table]) -> None:
    before = tables["client"].files()
    with applications(cluster, SUCCEEDED, SUCCEEDED):
        compaction = compact(tables["client"], **keytab(cluster))
        rollback = RollbackOperator(task_id="rollback", compaction=compaction, **keytab(cluster))
        assert rollback.execute(context())["outcome"] == "done"
    assert tables["client"].files() == before


def test_a_ticket_that_airflow_renews(
    cluster: Cluster, tables: dict[str, Table], ticket: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__KERBEROS__PRINCIPAL", f"etl@{REALM}")
    ticket("etl")
    with applications(cluster, SUCCEEDED):
        compact(tables["ticket"], use_krb5ccache=True, principal=f"etl@{REALM}")


def test_the_work_of_somebody_else_by_proxy(
    cluster: Cluster, tables: dict[str, Table], ticket: Callable[..., Path]
) -> None:
    """The scheduler's account has the ticket, and may impersonate others; the job runs as the other user."""
    ticket("airflow")
    with applications(cluster, SUCCEEDED):
        compact(tables["proxy"], proxy_user="etl")


def refused(table: Table, match: str, **settings: Any) -> None:
    before = table.files()
    with pytest.raises(Exception, match=match):
        analyse(table, **settings)
    assert table.files() == before


@pytest.fixture
def guarded(tables: dict[str, Table]) -> Table:
    """One that nobody gets to work on."""
    return tables["guarded"]


def test_without_a_ticket_nothing_is_submitted(cluster: Cluster, guarded: Table) -> None:
    with applications(cluster):
        refused(guarded, NO_TICKET)


def test_a_ticket_that_has_expired(cluster: Cluster, guarded: Table, ticket: Callable[..., Path]) -> None:
    cache = ticket("etl", "-l", "1s")
    wait_for("the end of the ticket's second", lambda: cluster.kdc.has_expired(cache), patience=60)
    with applications(cluster):
        refused(guarded, NO_TICKET)


def test_the_keytab_of_somebody_else(cluster: Cluster, guarded: Table) -> None:
    other = str(cluster.kdc.keytab("loader"))
    with applications(cluster):
        refused(
            guarded, "Login failure|LoginException|Unable to obtain", principal=f"etl@{REALM}", keytab=other
        )


def test_a_user_who_may_not_write(cluster: Cluster, guarded: Table) -> None:
    before = guarded.files()
    with pytest.raises(Exception, match=r"NOT_WRITABLE|Permission denied"):
        CompactOperator(task_id="compact", table=guarded.name, **keytab(cluster, "loader")).execute(context())
    assert guarded.files() == before

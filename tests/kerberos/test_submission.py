"""The operators on a cluster that asks for tickets: each way to say who one is, in client and in cluster mode."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from tests.airflow.support import context
from tests.cluster.cluster import Cluster
from tests.cluster.kerberos import REALM
from tests.kerberos.worker import Table, finished

pytestmark = pytest.mark.usefixtures("worker")


def keytab(cluster: Cluster, user: str = "etl") -> dict[str, str]:
    return {"principal": f"{user}@{REALM}", "keytab": str(cluster.kdc.keytab(user))}


def analyse(table: Table, **settings: Any) -> dict[str, Any]:
    return AnalyzeOperator(task_id="analyze", table=table.name, **settings).execute(context())


def work(table: Table, **settings: Any) -> None:
    """Analyse, compact and roll back, as etl on YARN; each state is looked at from outside."""
    before, earlier = table.files(), finished(table.cluster)
    analysis = analyse(table, **settings)
    compaction = CompactOperator(task_id="compact", analysis=analysis, **settings).execute(context())
    assert (compaction["outcome"], compaction["tables"][0]["rows"]) == ("done", 400)
    assert [owner for owner, _, _ in table.files().values()] == ["etl"]
    undone = RollbackOperator(task_id="rollback", compaction=compaction, **settings).execute(context())
    assert (undone["outcome"], table.files()) == ("done", before)
    ran = [found for app, found in finished(table.cluster).items() if app not in earlier]
    assert ran == [("etl", "SUCCEEDED")] * 3


def test_a_keytab_in_client_mode(cluster: Cluster, make_table: Callable[[str], Table]) -> None:
    work(make_table("client"), **keytab(cluster))


def test_a_keytab_in_cluster_mode_and_a_report_by_webhdfs(
    cluster: Cluster,
    make_table: Callable[[str], Table],
    ticket: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The driver runs on a node of the cluster; the worker reads its report with the ticket that Airflow renews."""
    monkeypatch.setenv("AIRFLOW__CORE__SECURITY", "kerberos")
    ticket("etl")
    reports = f"webhdfs://localhost:{cluster.ports.namenode_http}/user/etl/reports"
    work(make_table("cluster"), deploy_mode="cluster", report_dir=reports, **keytab(cluster))


def test_a_ticket_that_airflow_renews(
    make_table: Callable[[str], Table], ticket: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__KERBEROS__PRINCIPAL", f"etl@{REALM}")
    ticket("etl")
    work(make_table("ticket"), use_krb5ccache=True, principal=f"etl@{REALM}")


def test_another_user_s_jobs_by_proxy(
    make_table: Callable[[str], Table], ticket: Callable[..., None]
) -> None:
    """The scheduler's account has the ticket, and may act for others; the work is theirs."""
    ticket("airflow")
    work(make_table("proxy"), proxy_user="etl")


def refused(table: Table, match: str, **settings: Any) -> None:
    before = table.files()
    with pytest.raises(Exception, match=match):
        analyse(table, **settings)
    assert table.files() == before


@pytest.fixture(scope="module")
def table(make_table: Callable[[str], Table]) -> Table:
    """One that nobody gets to work on."""
    return make_table("guarded")


def test_without_a_ticket(table: Table) -> None:
    refused(table, "(?s)Kerberos|KERBEROS|authenticate")


def test_with_a_ticket_that_has_expired(table: Table, ticket: Callable[..., None]) -> None:
    ticket("etl", "-l", "1s")
    time.sleep(2)
    refused(table, "(?s)Kerberos|KERBEROS|authenticate|expired")


def test_with_the_keytab_of_somebody_else(cluster: Cluster, table: Table) -> None:
    other = str(cluster.kdc.keytab("loader"))
    refused(table, "(?s)keytab|Login failure|LoginException", principal=f"etl@{REALM}", keytab=other)


def test_a_user_who_may_not_write(cluster: Cluster, table: Table) -> None:
    before = table.files()
    analysis = analyse(table, **keytab(cluster, "loader"))
    with pytest.raises(Exception, match=r"NOT_WRITABLE|Permission denied"):
        CompactOperator(task_id="compact", analysis=analysis, **keytab(cluster, "loader")).execute(context())
    assert table.files() == before

"""What people see of a job on YARN, with its driver on the worker and on a node: log, XCom and links."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
from requests_kerberos import OPTIONAL, HTTPKerberosAuth

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.submission.links import ReportLink, YarnApplicationLink
from tests.airflow.support import TaskInstance, context
from tests.cluster.cluster import Cluster
from tests.kerberos.worker import Table, keytab, reports

pytestmark = pytest.mark.usefixtures("worker", "renewed")


@dataclass
class Watched(TaskInstance):
    """A task instance; the address of the application is opened as soon as it is stored."""

    answers: list[int] = field(default_factory=list)

    def xcom_push(self, key: str, value: Any) -> None:
        super().xcom_push(key, value)
        if key == YarnApplicationLink.key():
            with urllib.request.urlopen(value, timeout=30) as answer:
                self.answers.append(answer.status)


@pytest.fixture
def renewed(ticket: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The ticket by which a worker reads the reports."""
    monkeypatch.setenv("AIRFLOW__CORE__SECURITY", "kerberos")
    ticket("etl")


@pytest.fixture
def troubled(cluster: Cluster, tables: dict[str, Table], request: pytest.FixtureRequest) -> Table:
    """A table with a partition of another owner, which etl cannot set, and one that a writer is at work on."""
    table: Table = tables[f"seen_{request.param}"]
    folder = table.unit.rpartition("/")[0].removeprefix(cluster.default_fs)
    for row in cluster.files.list(f"{folder}/d=2"):
        cluster.files.give(f"{folder}/d=2/{row['pathSuffix']}", "loader")
    cluster.files.make(f"{folder}/d=3/_temporary/0", "755")
    return table


# The driver in client mode runs on the worker, and in cluster mode on a node, where nobody reads its log.
@pytest.mark.parametrize(
    ("troubled", "mode"),
    [pytest.param("client", "client", marks=pytest.mark.full), ("cluster", "cluster")],
    indirect=["troubled"],
)
def test_log_and_xcom_have_the_warnings_and_the_units(
    cluster: Cluster, troubled: Table, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"deploy_mode": mode, "report_dir": reports(cluster), **keytab(cluster)}

    analysis = AnalyzeOperator(task_id="analyze", table=troubled.name, **settings).execute(context())

    said = capsys.readouterr().out
    assert re.search(r"d=1 +20 +[\d.]+ KB +\d+ B +\d+ B +12\.8 MB +1", said), said
    assert "d=3: skipped ACTIVE_WRITER" in said
    instance = Watched()
    done = CompactOperator(task_id="compact", analysis=analysis, **settings).execute(context(ti=instance))

    (table,) = done["tables"]
    assert table["warning_codes"] == {"ATTRIBUTE_NOT_KEPT": 1}
    assert "is not kept" in table["warnings"][0]
    warned = [line for line in capsys.readouterr().out.splitlines() if "[warning " in line]
    assert any("ATTRIBUTE_NOT_KEPT" in line and "is not kept" in line for line in warned), warned
    assert instance.answers == [200]
    report = requests.get(instance.pushed[ReportLink.key()], auth=HTTPKerberosAuth(OPTIONAL), timeout=60)
    assert report.json()["tables"][0]["warnings"] == table["warnings"]

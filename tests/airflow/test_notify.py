"""One message a night, by Airflow's own notifier for mail, and only if a person can do something."""

from __future__ import annotations

import json
from collections.abc import Iterator
from email.header import decode_header, make_header
from email.message import Message
from typing import Any

import pytest

from tests.airflow.smtp_server import MailServer
from tests.airflow.support import dags_in
from tests.airflow.test_dags import EXAMPLES, maintenance

NOTIFIER = """
from airflow.providers.smtp.notifications.smtp import SmtpNotifier

NOTIFY = SmtpNotifier(
    from_email="airflow@example.com",
    to="data-team@example.com",
    subject="{{ lakekeeper.subject }}",
    html_content="<pre>{{ lakekeeper.text | e }}</pre>",
)
"""


@pytest.fixture
def mail(monkeypatch) -> Iterator[MailServer]:
    with MailServer() as server:
        extra = {"disable_ssl": True, "disable_tls": True, "retry_limit": 1, "timeout": 10}
        connection = {"conn_type": "smtp", "host": "127.0.0.1", "port": server.port, "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", json.dumps(connection))
        yield server


@pytest.fixture
def dagbag(airflow_db, tmp_path):
    """The DAG as somebody has it who wants to be told."""
    source = (EXAMPLES / "lakekeeper_maintenance.py").read_text()
    assert source.count("NOTIFY: Any = None\n") == 1
    (tmp_path / "maintenance.py").write_text(source.replace("NOTIFY: Any = None\n", NOTIFIER))
    found = dags_in(tmp_path)
    for task in found.dags["lakekeeper_maintenance"].tasks:
        getattr(task, "partial_kwargs", task.__dict__)["retries"] = 0
    return found


def _body(message: Message) -> str:
    parts: list[Any] = message.get_payload() if message.is_multipart() else [message]
    return "".join(part.get_payload(decode=True).decode() for part in parts)


def test_a_night_with_a_failed_table_is_told_once_with_its_reason(dagbag, spark, mail):
    broken = {"outcome": "failed", "reason": "disk full"}
    spark.plan(compact={"tables": {"sales.b": broken}, "outcome": "done"})
    state, _, _ = maintenance(dagbag)
    assert state == "failed"
    (message,) = mail.messages
    assert (
        str(make_header(decode_header(message["Subject"])))
        == "lakekeeper: 1 table needs a look, compact failed"
    )
    assert "sales.b: failed: disk full" in _body(message)


def test_a_healthy_night_is_told_to_nobody(dagbag, spark, mail):
    (spark.home / "tables.json").write_text(json.dumps({f"sales.{t}": ["r"] for t in "abc"}))
    state, _, _ = maintenance(dagbag)
    assert (state, mail.messages) == ("success", [])


def test_a_night_in_which_no_table_could_be_analysed_is_told_too(dagbag, spark, mail):
    spark.plan(analyze={"report": "none", "exit": 1})
    state, _, _ = maintenance(dagbag)
    assert state == "failed"
    (message,) = mail.messages
    assert "analyze" in str(make_header(decode_header(message["Subject"])))

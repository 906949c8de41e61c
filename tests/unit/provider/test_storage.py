"""Which file system a URI leads to, and who asks there; nothing is asked yet."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.submission import exchange
from lakekeeper_provider.submission.storage import open_storage


def test_a_folder_of_this_machine(tmp_path: Path) -> None:
    fs, path = open_storage(f"file://{tmp_path}/reports")
    fs.makedirs(path)
    assert (tmp_path / "reports").is_dir()


@pytest.mark.parametrize(
    ("uri", "url"),
    [
        ("webhdfs://nn:50070/lakekeeper/a", "http://nn:50070/webhdfs/v1"),
        ("webhdfs://nn/lakekeeper/a", "http://nn:9870/webhdfs/v1"),
        ("swebhdfs://nn/lakekeeper/a", "https://nn:9871/webhdfs/v1"),
    ],
)
def test_hdfs_over_http_as_hadoop_s_own_user(monkeypatch: pytest.MonkeyPatch, uri: str, url: str) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "etl")
    fs, path = open_storage(uri)
    assert (fs.url, fs.user, fs.kerb, path) == (url, "etl", False, "/lakekeeper/a")


def test_hdfs_over_http_by_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = {"conn_type": "generic", "login": "loader", "extra": {"session_verify": "/ca.pem"}}
    monkeypatch.setenv("AIRFLOW_CONN_HDFS", json.dumps(connection))
    fs, _ = open_storage("swebhdfs://hdfs@nn:9871/lakekeeper")
    assert (fs.user, fs.session_verify) == ("loader", "/ca.pem")


def test_a_connection_with_a_host_is_for_that_host_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may give a DAG run its parameters could else have its password sent to a machine of his own."""
    connection = {"conn_type": "generic", "host": "nn", "login": "loader", "password": "hunter2"}
    monkeypatch.setenv("AIRFLOW_CONN_HDFS", json.dumps(connection))
    assert open_storage("swebhdfs://hdfs@NN:9871/lakekeeper")[0].user == "loader"
    for host in ("evil.example", "nn.evil.example", "nn2"):
        with pytest.raises(
            UsageError, match=rf"the connection 'hdfs' is for nn, and not for {host}"
        ) as error:
            open_storage(f"swebhdfs://hdfs@{host}:9871/lakekeeper")
        assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    "name",
    ["etc/passwd", "run/secret.json", "r/lakekeeper-1-report.json", f"lakekeeper-{'0' * 32}-request.json"],
)
def test_an_analysis_leads_to_a_report_and_to_no_other_file(tmp_path: Path, name: str) -> None:
    """Its address is in an XCom, or in what a person has given to a DAG run. No error shows what is in a file."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("hunter2")
    with pytest.raises(UsageError, match="is not the address of a report") as error:
        exchange.read(f"file://{path}")
    assert "hunter2" not in str(error.value)


def test_where_airflow_has_tickets_hdfs_is_asked_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library for it is one that not everybody has."""
    monkeypatch.setenv("AIRFLOW__CORE__SECURITY", "kerberos")
    monkeypatch.setitem(sys.modules, "requests_kerberos", None)
    with pytest.raises(UsageError, match=r"cannot reach webhdfs://nn/x: .*pip install .*\[kerberos\]"):
        open_storage("webhdfs://nn/x")


def test_a_scheme_that_nobody_knows() -> None:
    with pytest.raises(UsageError, match="cannot reach nosuch://nn/x"):
        open_storage("nosuch://nn/x")

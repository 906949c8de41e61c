"""What `doctor` says of a machine: its ticket, its keytab, Hadoop's configuration, and spark-submit."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from lakekeeper_provider.doctor import core_site, machine
from lakekeeper_provider.doctor.checks import Desk
from tests.harness.process_table import processes_naming
from tests.harness.waiting import wait_for
from tests.unit.provider.doctor_runs import command

pytestmark = pytest.mark.usefixtures("empty")
DESK = Desk("shell")

KLIST = """#!/bin/sh
if [ "$1" = -s ]; then exit {code}; fi
{listed}
"""
EXPIRED = "echo '11/27/2026 21:00:00  >>>Expired<<<        krbtgt/R@R'"
HELD = "echo 'Default principal: etl@R'; echo '11/27/2026 21:00:00  11/28/2026 07:00:00  krbtgt/R@R'"


def klist(empty: Path, code: int, listed: str) -> None:
    (empty / "klist").write_text(KLIST.format(code=code, listed=listed))
    (empty / "klist").chmod(0o755)


def core_site_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authentication: str) -> None:
    setting = f"<name>hadoop.security.authentication</name><value>{authentication}</value>"
    (tmp_path / "core-site.xml").write_text(f"<configuration><property>{setting}</property></configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))


@pytest.mark.parametrize(
    ("listed", "authentication", "outcome", "words"),
    [
        (EXPIRED, "kerberos", "bad", "has expired"),
        ("exit 1", "kerberos", "bad", "there is no ticket"),
        ("exit 1", "simple", "good", "does not ask for Kerberos"),
        ("exit 1", None, "not-asked", "no core-site.xml"),
    ],
)
def test_without_a_ticket(empty, tmp_path, monkeypatch, listed, authentication, outcome, words):
    klist(empty, 1, listed)
    if authentication:
        core_site_of(tmp_path, monkeypatch, authentication)
    found = machine.ticket(Desk("shell"), None, os.environ)
    assert found.outcome == outcome
    assert words in found.found
    assert (found.action is not None and "kinit" in found.action) == (outcome == "bad")


def test_with_a_ticket(empty):
    klist(empty, 0, HELD)
    found = machine.ticket(Desk("shell"), None, os.environ)
    assert (found.outcome, found.found) == ("good", "Default principal: etl@R, until 11/28/2026 07:00:00")


def test_without_klist():
    found = machine.ticket(Desk("worker"), None, os.environ)
    assert (found.outcome, found.where) == ("not-asked", "worker")


def test_a_klist_that_does_not_answer(empty, monkeypatch):
    monkeypatch.setattr(machine, "_SECONDS", 1)
    (empty / "klist").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)")
    (empty / "klist").chmod(0o755)
    found = machine.ticket(Desk("shell"), None, os.environ)
    assert found.outcome == "not-asked"
    assert "klist does not answer within 1 s" in found.found


def test_a_keytab(tmp_path):
    path = tmp_path / "etl.keytab"
    missing = machine.ticket(Desk("shell"), str(path), os.environ)
    path.write_bytes(b"\x05\x02")
    there = machine.ticket(Desk("shell"), str(path), os.environ)
    assert (missing.outcome, there.outcome) == ("bad", "good")
    assert "no such file" in missing.found


def site(tmp_path: Path, text: str, **options: str) -> dict[str, str]:
    """Returns an environment whose core-site.xml has this text."""
    (tmp_path / "core-site.xml").write_text(text, **options)
    return {"HADOOP_CONF_DIR": str(tmp_path)}


NAME = "hadoop.security.authentication"


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        (f"<property><name>{NAME}</name><value>KERBEROS</value></property>", True),
        (f"<property><name> {NAME} </name><value>\nkerberos\n</value></property>", True),
        (f'<property name="{NAME}" value="kerberos"/>', True),
        ("", False),
        # The last one counts.
        (
            f"<property><name>{NAME}</name><value>simple</value></property>"
            f"<property><name>{NAME}</name><value>kerberos</value></property>",
            True,
        ),
    ],
)
def test_core_site_is_read_as_hadoop_does(tmp_path, body, asks):
    assert core_site.asks_for_kerberos(site(tmp_path, f"<configuration>{body}</configuration>")) is asks
    in_a_namespace = site(tmp_path, f'<configuration xmlns="urn:x">{body}</configuration>')
    assert core_site.asks_for_kerberos(in_a_namespace) is asks


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<configuration><property>",
        '<?xml version="1.0" encoding="GB2312"?><configuration/>',
        '<?xml version="1.0" encoding="none"?><configuration/>',
        f"<configuration><property><name>{NAME}</name><value>${{env.AUTH}}</value></property></configuration>",
        '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="a.xml"/></configuration>',
    ],
)
def test_a_core_site_that_cannot_be_read_says_nothing(empty, tmp_path, text):
    """Before: it "did not ask for Kerberos", or the command ended with a traceback."""
    klist(empty, 1, "exit 1")
    found = machine.ticket(DESK, None, {**os.environ, **site(tmp_path, text)})
    assert found.outcome == "not-asked"
    assert "core-site.xml" in found.found


@pytest.mark.parametrize("directory", ["a" * 300, "/dev/null/x", "/no/such"])
def test_a_configuration_directory_that_cannot_be_looked_at(empty, directory):
    klist(empty, 1, "exit 1")
    found = machine.ticket(DESK, None, {**os.environ, "HADOOP_CONF_DIR": directory})
    assert (found.outcome, "no core-site.xml" in found.found) == ("not-asked", True)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "klist: Credentials cache permissions incorrect",
            "(klist: Credentials cache permissions incorrect)",
        ),
        (
            "klist: No credentials cache found (filename: /tmp/krb5cc_0)",
            "there is no ticket, and core-site.xml",
        ),
    ],
)
def test_klist_says_itself_why_it_has_no_ticket(empty, tmp_path, monkeypatch, said, shown):
    klist(empty, 1, f"echo '{said}' >&2; exit 1")
    core_site_of(tmp_path, monkeypatch, "kerberos")
    assert shown in machine.ticket(DESK, None, os.environ).found


@pytest.mark.parametrize(
    "body",
    ["echo 'klist: invalid option' >&2; exit 2", "exit 127", "kill -9 $$"],
    ids=["usage", "library", "killed"],
)
def test_a_klist_that_does_not_work_says_nothing_of_the_ticket(empty, tmp_path, monkeypatch, body):
    """Before: "there is no ticket. Run kinit"."""
    (empty / "klist").write_text(f"#!/bin/sh\n{body}\n")
    (empty / "klist").chmod(0o755)
    core_site_of(tmp_path, monkeypatch, "kerberos")
    found = machine.ticket(DESK, None, os.environ)
    assert found.outcome == "not-asked"
    assert "klist -s ended with exit code" in found.found


def test_the_ticket_of_another_realm_is_not_shown_as_the_own_one(empty):
    listed = (
        "echo 'Ticket cache: FILE:/tmp/principal_cc'; echo 'Default principal: etl@R';"
        " echo '11/26/2026 21:00:00  11/27/2026 07:00:00  krbtgt/OTHER@R';"
        " echo '11/27/2026 21:00:00  11/28/2026 07:00:00  krbtgt/R@R'"
    )
    klist(empty, 0, listed)
    found = machine.ticket(DESK, None, os.environ).found
    assert found == "Default principal: etl@R, until 11/28/2026 07:00:00"


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "it is no file"), (b"", "the file is no keytab"), (b"text", "the file is no keytab")],
)
def test_what_is_no_keytab(tmp_path, content, said):
    path = tmp_path / "etl.keytab"
    path.mkdir() if content is None else path.write_bytes(content)
    found = machine.ticket(DESK, str(path), os.environ)
    assert (found.outcome, found.found) == ("bad", said)


@pytest.mark.parametrize("name", ["plain/etl.keytab", "a\0b", "x" * 300])
def test_a_keytab_that_cannot_be_looked_at_is_bad(tmp_path, name):
    """Before: a traceback, for a directory that the account may not enter too."""
    (tmp_path / "plain").touch()
    found = machine.ticket(DESK, str(tmp_path / name), os.environ)
    assert found.outcome == "bad"
    assert "cannot be read by this account" in found.found


def unusable(kind: str, path: Path) -> None:
    if kind == "directory":
        path.mkdir()
    elif kind == "link to nothing":
        path.symlink_to("nowhere")
    else:
        path.write_text("#!/bin/sh\n")


@pytest.mark.parametrize("kind", ["directory", "link to nothing", "not executable"])
def test_a_spark_submit_that_cannot_be_started_is_named(empty, kind):
    """Before: "it is not there. Install a Spark client"."""
    unusable(kind, empty / "spark-submit")
    found = machine.spark_submit(DESK, "spark-submit")
    assert found.outcome == "bad"
    assert str(empty / "spark-submit") in found.found
    assert kind in found.found


def test_a_signal_ends_klist_too(empty, tmp_path):
    """It is asked before the driver is. Before: it went on."""
    started = tmp_path / "started"
    (empty / "klist").write_text(
        f"#!{sys.executable}\nimport pathlib, time\npathlib.Path({str(started)!r}).touch()\ntime.sleep(600)"
    )
    (empty / "klist").chmod(0o755)
    process = command("doctor")
    wait_for("klist has started", started.exists)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert processes_naming(empty / "klist") == []

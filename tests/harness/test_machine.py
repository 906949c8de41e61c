"""What the machine must bring."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from demo.services import environments, java, locks, machine, paths
from tests.cluster import jars
from tests.harness import needs
from tests.harness.suites import SUITES


@pytest.mark.parametrize("name", environments.SPECS)
def test_every_environment_is_pinned_with_hashes_and_names_no_index(name):
    packages = locks.packages(name)

    assert packages
    assert "".join(packages) == locks.lock_file(name).read_text()
    assert all(
        "==" in package and "--hash=sha256:" in package and "://" not in package for package in packages
    )


KERBEROS = "airflow-3.3-kerberos"
(SUITE,) = (suite for suite in SUITES if suite.name == "kerberos")
HEADERS = f"python3.{sys.version_info[1]}-dev"


@pytest.fixture
def complete(monkeypatch):
    """Every program is there; the test takes away what it is about."""
    monkeypatch.setattr("shutil.which", lambda name, **_: f"/usr/bin/{name}")
    monkeypatch.setattr(machine, "_compiles", lambda _: True)


def test_without_the_headers_of_python_their_package_is_named(complete, monkeypatch, tmp_path):
    monkeypatch.setattr(machine.sysconfig, "get_path", lambda _: str(tmp_path))

    said = needs.lack(SUITE)

    assert f"this machine lacks {tmp_path}/Python.h;" in said
    assert said.endswith(f"apt-get install {HEADERS}")


def test_all_that_kerberos_lacks_is_named_at_once_with_one_command(monkeypatch, tmp_path):
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(machine.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(
        "shutil.which", lambda name, **_: None if name in ("krb5kdc", "krb5-config") else name
    )
    monkeypatch.setattr(machine, "_compiles", lambda _: True)

    said = needs.lack(SUITE)

    assert "this machine lacks krb5kdc, krb5-config;" in said
    assert said.endswith("apt-get install krb5-kdc libkrb5-dev")


def test_a_machine_that_has_everything_lacks_nothing(complete, monkeypatch, tmp_path):
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(machine.sysconfig, "get_path", lambda _: str(tmp_path))

    assert needs.lack(SUITE) is None


@pytest.fixture
def made(monkeypatch, tmp_path):
    """An environment with its extension, as a build leaves them."""
    monkeypatch.setattr(paths, "ENVS", tmp_path)
    python = paths.env_python("airflow-3.3")
    python.parent.mkdir(parents=True)
    python.touch()
    for name in ("airflow-3.3", KERBEROS):
        environments.stamp_file(name).write_text(environments.fingerprint(name))


def test_an_extension_is_part_of_its_environment(made):
    assert not paths.env_dir(KERBEROS).exists()
    assert environments.is_current("airflow-3.3")
    assert environments.is_current(KERBEROS)


def test_an_environment_that_is_made_anew_has_lost_its_extension(made, monkeypatch):
    monkeypatch.setattr(environments.uv, "run", lambda *_: None)

    environments.build("airflow-3.3")

    assert environments.is_current("airflow-3.3")
    assert not environments.is_current(KERBEROS)


def test_an_extension_that_cannot_be_compiled_leaves_its_environment_usable(made, monkeypatch):
    environments.stamp_file(KERBEROS).unlink()
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr="fatal error: gssapi.h: No such file")
    monkeypatch.setattr(environments.subprocess, "run", lambda *_, **__: failed)
    monkeypatch.setattr(environments.uv, "ensure", lambda: None)

    with pytest.raises(environments.NotCompiled, match=r"gssapi\.h: No such file"):
        environments.ensure([KERBEROS])

    assert environments.is_current("airflow-3.3")
    assert not environments.is_current(KERBEROS)


def test_an_extension_adds_nothing_that_its_environment_has():
    own, base = (_names(name) for name in (KERBEROS, environments.SPECS[KERBEROS].base))

    assert own
    assert not own & base


def _names(name):
    return {package.split("==")[0] for package in locks.packages(name)}


def test_a_compiler_without_headers_is_not_enough(monkeypatch, tmp_path):
    """gcc alone: it is there, and compiles nothing."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho stdlib.h: No such file or directory >&2\nexit 1\n")
    compiler.chmod(0o755)

    assert ("stdlib.h", "libc6-dev") in machine.missing_to_compile()


def test_what_is_left_out_is_said_at_once_with_what_changes_it(monkeypatch, tmp_path):
    monkeypatch.setattr(jars, "HOME", tmp_path)
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(environments.java, "current", lambda: 17)
    monkeypatch.setattr(environments.java, "modules", lambda: {"jdk.incubator.vector"})
    said = needs.left_out(SUITES)
    first, second = said.splitlines()
    assert first.startswith("left out here: ")
    for left in (
        "spark 3.3 smoke (Python 3.10 to 3.11)",
        "airflow 2.11 (Python 3.10 to 3.12",
        "cluster (mvn",
    ):
        assert left in first
    assert "the pages in a browser (chromium, chromedriver)" in first
    assert second.startswith("to run them too: on Debian and Ubuntu: apt-get install maven")
    assert "chromium chromium-driver; on the PATH: " in second


def test_where_nothing_is_missing_nothing_is_said(monkeypatch):
    monkeypatch.setattr(needs, "of_suite", lambda _: [])
    monkeypatch.setattr(needs, "_browser", lambda: [])
    monkeypatch.setattr(environments, "lacks", lambda _: None)
    assert needs.left_out(SUITES) == ""


def test_a_java_without_a_module_leaves_out_what_needs_it(monkeypatch):
    """As the one from the package index: Spark 4 does not start on it. Before: 659 tests failed."""
    monkeypatch.setattr(java, "modules", lambda: {"java.base"})
    monkeypatch.setattr(java, "current", lambda: 17)
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))
    lacking = {each.name for each in SUITES if needs.of_suite(each)}
    assert {"spark 4.3", "fidelity 4.3"} <= lacking
    assert "spark 3.5" not in lacking
    said = needs.left_out(SUITES)
    assert "fidelity 3.5 with spark-4.3 (a Java with jdk.incubator.vector (JAVA_HOME))" in said
    assert "openjdk-17-jre-headless" in said

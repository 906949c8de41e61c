"""What the machine must bring, and pip's settings as uv knows them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from demo.services import environments, machine, paths
from tests.harness import needs


@pytest.fixture
def pip_says(monkeypatch):
    def say(text: str) -> None:
        done = subprocess.CompletedProcess([], 0, stdout=text, stderr="")
        monkeypatch.setattr(machine.subprocess, "run", lambda *_, **__: done)

    for name in machine.UV_NAMES.values():
        monkeypatch.delenv(name, raising=False)
    return say


def test_pips_index_is_handed_on(pip_says):
    pip_says("global.index-url='https://index.example/simple'\nglobal.no-cache='true'\n")

    assert machine.uv_settings() == {"UV_DEFAULT_INDEX": "https://index.example/simple"}


def test_pips_environment_wins_over_its_files(pip_says):
    pip_says(":env:.index-url='https://two.example'\nglobal.index-url='https://one.example'\n")

    assert machine.uv_settings()["UV_DEFAULT_INDEX"] == "https://two.example"


def test_what_was_set_for_uv_stays(pip_says, monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mine.example")
    pip_says("global.index-url='https://other.example'\n")

    assert machine.uv_settings() == {}


@pytest.mark.parametrize(
    ("shown", "version"), [('openjdk version "17.0.15"', 17), ('java version "1.8.0"', 1)]
)
def test_javas_version_is_read(monkeypatch, shown, version):
    done = subprocess.CompletedProcess([], 0, stdout="", stderr=shown)
    monkeypatch.setattr(machine.subprocess, "run", lambda *_, **__: done)

    assert machine.java_version("java") == version


def test_no_java_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(machine, "java_command", lambda: None)

    with pytest.raises(machine.MachineError, match="JAVA_HOME"):
        machine.require_java()


def test_another_python_says_how_to_point_at_the_right_one(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))

    with pytest.raises(machine.MachineError, match=r"is 3\.9\.2"):
        machine.require_python()


@pytest.mark.parametrize("name", environments.SPECS)
def test_every_environment_is_pinned_and_names_no_index(name):
    lines = environments.lock_file(name).read_text().splitlines()

    assert lines
    assert all("==" in line and "://" not in line and "--hash" not in line for line in lines)


def test_pips_settings_are_found_from_an_environment_without_pip(monkeypatch):
    asked = []

    def run(command, **_):
        asked.append(command[0])
        has_pip = command[0] != sys.executable
        text = "global.index-url='https://index.example'\n" if has_pip else ""
        return subprocess.CompletedProcess(
            command, int(not has_pip), stdout=text, stderr="No module named pip"
        )

    monkeypatch.setattr(machine.subprocess, "run", run)

    assert machine.pip_settings() == {"index-url": "https://index.example"}
    assert len(asked) == 2


KERBEROS = "airflow-3.3-kerberos"


@pytest.fixture
def complete(monkeypatch):
    """Every program is there; the test takes away what it is about."""
    monkeypatch.setattr("shutil.which", lambda name, **_: f"/usr/bin/{name}")


def test_without_the_headers_of_python_their_package_is_named(complete, monkeypatch, tmp_path):
    monkeypatch.setattr(machine.sysconfig, "get_path", lambda _: str(tmp_path))

    said = needs.lack(("kerberos",))

    assert f"this machine lacks {tmp_path}/Python.h;" in said
    assert said.endswith("apt-get install python3.11-dev")


def test_all_that_kerberos_lacks_is_named_at_once_with_one_command(monkeypatch, tmp_path):
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(machine.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(
        "shutil.which", lambda name, **_: None if name in ("krb5kdc", "krb5-config") else name
    )

    said = needs.lack(("kerberos",))

    assert "this machine lacks krb5kdc, krb5-config;" in said
    assert said.endswith("apt-get install krb5-kdc libkrb5-dev")


def test_a_machine_that_has_everything_lacks_nothing(complete, monkeypatch, tmp_path):
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(machine.sysconfig, "get_path", lambda _: str(tmp_path))

    assert needs.lack(("kerberos",)) is None


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
    monkeypatch.setattr(environments, "uv", lambda *_: None)

    environments.build("airflow-3.3")

    assert environments.is_current("airflow-3.3")
    assert not environments.is_current(KERBEROS)


def test_an_extension_that_cannot_be_compiled_leaves_its_environment_usable(made, monkeypatch):
    environments.stamp_file(KERBEROS).unlink()
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr="fatal error: gssapi.h: No such file")
    monkeypatch.setattr(environments.subprocess, "run", lambda *_, **__: failed)
    monkeypatch.setattr(environments, "ensure_uv", lambda: None)

    with pytest.raises(environments.NotCompiled, match=r"gssapi\.h: No such file"):
        environments.ensure([KERBEROS])

    assert environments.is_current("airflow-3.3")
    assert not environments.is_current(KERBEROS)


def test_an_extension_adds_nothing_that_its_environment_has():
    own, base = (_names(name) for name in (KERBEROS, environments.SPECS[KERBEROS].base))

    assert own
    assert not own & base


def _names(name):
    return {line.split("==")[0] for line in environments.lock_file(name).read_text().splitlines()}


def test_a_compiler_without_headers_is_not_enough(monkeypatch, tmp_path):
    """gcc alone: it is there, and compiles nothing."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho stdlib.h: No such file or directory >&2\nexit 1\n")
    compiler.chmod(0o755)

    assert ("stdlib.h", "libc6-dev") in machine.missing_to_compile()

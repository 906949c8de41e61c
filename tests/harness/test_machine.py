"""What the machine must bring, and pip's settings as uv knows them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.harness import envs, machine


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


@pytest.mark.parametrize("name", envs.SPECS)
def test_every_environment_is_pinned_and_names_no_index(name):
    lines = envs.lock_file(name).read_text().splitlines()

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

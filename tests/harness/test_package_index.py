"""pip's settings as uv knows them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from demo.services import package_index


@pytest.fixture
def pip_says(monkeypatch):
    def say(text: str) -> None:
        done = subprocess.CompletedProcess([], 0, stdout=text, stderr="")
        monkeypatch.setattr(package_index.subprocess, "run", lambda *_, **__: done)

    for name in package_index.UV_NAMES.values():
        monkeypatch.delenv(name, raising=False)
    return say


def test_pips_index_is_handed_on(pip_says):
    pip_says("global.index-url='https://index.example/simple'\nglobal.no-cache='true'\n")

    assert package_index.uv_settings() == {"UV_DEFAULT_INDEX": "https://index.example/simple"}


def test_pips_environment_wins_over_its_files(pip_says):
    pip_says(":env:.index-url='https://two.example'\nglobal.index-url='https://one.example'\n")

    assert package_index.uv_settings()["UV_DEFAULT_INDEX"] == "https://two.example"


def test_what_was_set_for_uv_stays(pip_says, monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mine.example")
    pip_says("global.index-url='https://other.example'\n")

    assert package_index.uv_settings() == {}


def test_pips_settings_are_found_from_an_environment_without_pip(monkeypatch):
    asked = []

    def run(command, **_):
        asked.append(command[0])
        has_pip = command[0] != sys.executable
        text = "global.index-url='https://index.example'\n" if has_pip else ""
        return subprocess.CompletedProcess(
            command, int(not has_pip), stdout=text, stderr="No module named pip"
        )

    monkeypatch.setattr(package_index.subprocess, "run", run)

    assert package_index.pip_settings() == {"index-url": "https://index.example"}
    assert len(asked) == 2

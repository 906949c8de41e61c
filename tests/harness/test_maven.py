"""The jars of a pom are fetched once, and anew when the pom changes. Maven itself is played by a small program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.harness.maven import Jars, NoJars

_MAVEN = """#!/bin/sh
for word; do case "$word" in -Dsome.jars=*) home=${word#-Dsome.jars=};; esac; done
mkdir -p "$home" && echo "$@" >> "$home/one.jar"
"""
_FAILING = "#!/bin/sh\necho no such artifact\nexit 1\n"


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jars:
    """Those of a pom, with a Maven that makes one jar; each call of it is a line."""
    (tmp_path / "pom").mkdir()
    (tmp_path / "pom/pom.xml").write_text("first")
    _install(tmp_path, monkeypatch, _MAVEN)
    return Jars("some jars (1 MB)", tmp_path / "pom", tmp_path / "envs/some", "some.jars")


def _install(folder: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    maven = folder / "bin/mvn"
    maven.parent.mkdir(exist_ok=True)
    maven.write_text(program)
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", str(maven.parent), prepend=os.pathsep)


def _calls(jars: Jars) -> int:
    return len((jars.home / "one.jar").read_text().splitlines())


def test_they_are_fetched_once(jars: Jars, capsys: pytest.CaptureFixture[str]) -> None:
    assert not jars.is_current()
    assert [jars.ensure(), jars.ensure()] == [jars.home] * 2
    assert jars.is_current()
    assert _calls(jars) == 1
    assert capsys.readouterr().out == "fetching some jars (1 MB)\n"


def test_another_pom_replaces_them(jars: Jars) -> None:
    (jars.ensure() / "old.jar").touch()
    (jars.pom / "module").mkdir()
    (jars.pom / "module/pom.xml").write_text("second")
    assert not jars.is_current()
    jars.ensure()
    assert not (jars.home / "old.jar").exists()


def test_a_failure_says_what_maven_says_and_is_repeated(
    jars: Jars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, monkeypatch, _FAILING)
    with pytest.raises(NoJars, match=r"could not fetch some jars \(1 MB\):\nno such artifact"):
        jars.ensure()
    assert not jars.is_current()
    _install(tmp_path, monkeypatch, _MAVEN)
    jars.ensure()


def test_without_maven_the_message_says_how_to_get_it(jars: Jars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert "apt-get install maven" in jars.lack()
    with pytest.raises(NoJars, match="apt-get install maven"):
        jars.ensure()

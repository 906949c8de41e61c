"""Which Python an environment is made with."""

from __future__ import annotations

import sys

import pytest

from demo.services import environments, paths, pythons
from demo.services.commands import command
from demo.services.machine import MachineError


@pytest.fixture
def offered(monkeypatch, tmp_path):
    """Put commands of these names on the PATH; each says that it is the given version, or fails."""

    def offer(**versions: str | None) -> None:
        for name, version in versions.items():
            command = tmp_path / name.replace("_", ".")
            command.write_text(f"#!/bin/sh\necho {version}\n" if version else "#!/bin/sh\nexit 127\n")
            command.chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path))
    return offer


@pytest.mark.parametrize("version", [(3, 9, 2), (3, 14, 0)])
def test_another_python_says_how_to_point_at_a_right_one(monkeypatch, offered, version):
    offered(**{"python3_12": "3 12"})
    monkeypatch.setattr(sys, "version_info", version)

    with pytest.raises(MachineError, match=r"is 3\.(9\.2|14\.0)\.\nPoint .*make PYTHON=python3\.12"):
        pythons.require_python()


def test_an_environment_is_made_with_the_python_that_runs_the_program(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))

    assert pythons.choice((3, 10), (3, 11)) == ((3, 11), sys.executable)


def test_what_supports_no_such_version_gets_the_newest_older_one_that_works(monkeypatch, offered, tmp_path):
    offered(**{"python3_13": "3 13", "python3_12": None, "python3_11": "3 11", "python3_10": "3 10"})
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))

    assert pythons.choice((3, 10), (3, 12)) == ((3, 11), str(tmp_path / "python3.11"))
    assert environments.lacks("writers-python") is None


def test_what_no_python_here_fits_is_left_out(monkeypatch, offered, tmp_path):
    monkeypatch.setattr(paths, "ENVS", tmp_path)
    offered(**{"python3_13": "3 13"})
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))

    assert environments.lacks("airflow-2.11") == "Python 3.10 to 3.12"
    with pytest.raises(MachineError, match=r"airflow-2\.11 needs Python 3\.10 to 3\.12"):
        environments.build("airflow-2.11")


@pytest.mark.parametrize(("there", "made"), [("python3.11", True), ("python3.12", False)])
def test_an_environment_of_another_python_is_made_anew(monkeypatch, tmp_path, there, made):
    monkeypatch.setattr(paths, "ENVS", tmp_path)
    monkeypatch.setattr(sys, "version_info", (3, 12, 1))
    (paths.env_dir("bench") / "lib" / there).mkdir(parents=True)
    asked = []
    monkeypatch.setattr(environments.uv, "run", lambda *words: asked.append(words[0]))
    environments.build("bench")
    assert ("venv" in asked) == made


def test_without_make_a_command_is_named_that_is_there(monkeypatch, tmp_path):
    assert command("up") == "make up"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3.12")
    assert command("up") == "python3.12 -m demo.ui up"

"""The script that runs a job by its verb."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spark_jobs import run_lakekeeper
from spark_jobs.core.options.option import DOCTOR, VERBS

SCRIPT = Path(run_lakekeeper.__file__)


def test_it_has_all_verbs() -> None:
    assert set(run_lakekeeper.VERBS) == {*VERBS, DOCTOR}


def _fails(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        run_lakekeeper.main(words)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_what_is_no_verb_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'compct' is no verb; the first word is one of: analyze" in _fails(["compct"], capsys)
    with pytest.raises(SystemExit) as ended:
        run_lakekeeper.main(["--help"])
    assert ended.value.code == 0
    assert "verbs: analyze, plan, compact" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "ordered"),
    [
        (["-c", "f.yaml", "compact", "-t", "a.b"], ["compact", "-t", "a.b", "-c", "f.yaml"]),
        (["--config-file", "f.yaml", "compact"], ["compact", "--config-file", "f.yaml"]),
        (["--config-file=f.yaml", "compact"], ["compact", "--config-file=f.yaml"]),
        (["compact", "-c", "f.yaml"], ["compact", "-c", "f.yaml"]),
        (["-c", "f.yaml"], ["-c", "f.yaml"]),
    ],
)
def test_the_configuration_file_may_stand_before_the_verb(words: list[str], ordered: list[str]) -> None:
    assert run_lakekeeper.file_last(words) == ordered


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Path]:
    """The script by itself, and a Spark that is there."""
    (tmp_path / SCRIPT.name).write_bytes(SCRIPT.read_bytes())
    (tmp_path / "pyspark.py").write_text("__version__ = '3.5.1'")
    return tmp_path


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[Any]:
    command = [sys.executable, str(folder / SCRIPT.name), *words]
    return subprocess.run(
        command, cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=60
    )


def test_without_the_jobs_it_says_where_they_come_from(alone: Path) -> None:
    done = _run(alone, "compact", "--table", "a.b")
    assert done.returncode == 2
    assert "pass --py-files lakekeeper-jobs-<hash>.zip" in done.stderr


def test_the_newest_zip_beside_it_runs_the_verb_with_its_words(alone: Path) -> None:
    for name in ("lakekeeper-jobs-0.zip", "lakekeeper-jobs-1.zip"):
        with zipfile.ZipFile(alone / name, "w") as jobs:
            jobs.writestr("spark_jobs/__init__.py", "")
            jobs.writestr(
                "spark_jobs/compact.py",
                f"import sys\nif __name__ == '__main__':\n    print({name!r}, sys.argv[1:])\n    sys.exit(3)",
            )
    os.utime(alone / "lakekeeper-jobs-0.zip", (0, 2_000_000_000))
    done = _run(alone, "compact", "--table", "a.b")
    assert (done.stdout.strip(), done.returncode) == ("lakekeeper-jobs-0.zip ['--table', 'a.b']", 3), (
        done.stderr
    )

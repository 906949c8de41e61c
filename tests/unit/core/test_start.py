"""Any Python can read the scripts of the verbs, and each says in one sentence what it lacks."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from spark_jobs import start
from spark_jobs.core.options.option import VERBS

JOBS = Path(start.__file__).parent
SCRIPTS = ("__init__", "start", "run_lakekeeper", *VERBS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_has_nothing_that_old_pythons_cannot_parse(script: str) -> None:
    """Python 2 has neither annotations nor f-strings, and no names of arguments after a star."""
    text = (JOBS / f"{script}.py").read_text()
    for node in ast.walk(ast.parse(text, feature_version=(3, 7))):
        assert not isinstance(
            node, (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Nonlocal)
        )
        if isinstance(node, ast.ImportFrom):
            assert node.module != "__future__"
        if isinstance(node, ast.arguments):
            assert not node.kwonlyargs
            assert not node.posonlyargs
        if isinstance(node, (ast.FunctionDef, ast.arg)):
            assert getattr(node, "returns", None) is getattr(node, "annotation", None) is None
    assert all(ord(character) < 128 for character in text)


def _fails(capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        start.start("compact", [], None)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_an_old_python_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__="3.3.2"))
    monkeypatch.setattr(sys, "version_info", (3, 8, 18, "final", 0))
    said = _fails(capsys)
    assert said.startswith("compact.py: error: it needs Python 3.9 or later, and")
    assert "is Python 3.8.18. Set spark.pyspark.python" in said


def test_an_old_spark_is_told_what_to_start_also_by_its_old_python(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (2, 7, 18, "final", 0))
    monkeypatch.setenv("SPARK_HOME", "/opt/cloudera/parcels/CDH/lib/spark")
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__="2.4.8"))
    said = _fails(capsys)
    assert (
        "it needs Spark 3.3 or later, and this is Spark 2.4.8 in /opt/cloudera/parcels/CDH/lib/spark" in said
    )
    assert "set spark_binary: spark3-submit" in said


def test_without_spark_it_says_how_it_is_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert "there is no Spark here: start it with spark-submit" in _fails(capsys)


OLD = [found for name in ("python2.7", "python3.6", "python3.8") if (found := shutil.which(name))]


@pytest.mark.parametrize("script", VERBS)
def test_each_script_checks_before_it_reads_the_jobs(script: str, tmp_path: Path) -> None:
    """As Spark 2 starts it: with a package of its own, and whatever Python there is."""
    (tmp_path / "pyspark.py").write_text("__version__ = '2.4.8'")
    environ = {"PATH": os.defpath, "PYTHONPATH": str(tmp_path), "SPARK_HOME": "/opt/spark2"}
    for python in (sys.executable, *OLD):
        command = [python, str(JOBS / f"{script}.py"), "--table", "a.b"]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, cwd=tmp_path)
        if python in OLD and "command not found" in done.stderr:
            continue  # a version manager's, without that version
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"{script}.py: error: it needs Spark 3.3 or later"), done.stderr

"""What tests of the command line start instead of Spark."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lakekeeper_provider.options.option import VERBS
from lakekeeper_provider.shell import program


@pytest.fixture
def spark_submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spark-submit that writes down its arguments and the request, and ends with a code of our choice.

    The flag of the report's line is not in what it writes down: its value is another one each time.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "spark-submit"
    script.write_text(
        f"#!{sys.executable}\n"
        "import json, os, pathlib, sys\n"
        "*argv, flag, nonce = sys.argv[1:]\n"
        "assert flag == '--report-nonce'\n"
        "where = argv[argv.index('--request') + 1] if '--request' in argv else None\n"
        "if where and not where.startswith('file://'):\n"
        "    where = argv[argv.index('--files') + 1].split(',')[-1]\n"
        "request = where and json.loads(pathlib.Path(where.removeprefix('file://')).read_text())\n"
        "pathlib.Path(os.environ['RECORD']).write_text(json.dumps({'argv': argv, 'request': request}))\n"
        "code = int(os.environ.get('CODE', '0'))\n"
        "names = [pathlib.Path(word).stem for word in argv]\n"
        f"verb = next(name for name in names if name in {VERBS})\n"
        "outcome = ('done', 'failed', 'usage', 'unsafe')[code]\n"
        "report = {'schema_version': 1, 'verb': verb, 'outcome': outcome, 'tables': []}\n"
        "print('LAKEKEEPER_REPORT', nonce, json.dumps(report), flush=True)\n"
        "sys.exit(code)\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("RECORD", str(tmp_path / "record.json"))
    return tmp_path / "record.json"


@pytest.fixture(autouse=True)
def no_python(monkeypatch):
    """No Python of the driver is set on this machine."""
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing but what a test puts on it, and no configuration of Hadoop."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(program, "other_version", lambda: None)
    return folder


@pytest.fixture
def install(empty: Path) -> Callable[..., None]:
    def put(name: str, body: str, interpreter: str = sys.executable) -> None:
        script = empty / name
        script.write_text(f"#!{interpreter}\n{body}")
        script.chmod(0o755)

    return put

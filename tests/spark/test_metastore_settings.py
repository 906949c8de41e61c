"""Drivers that find no metastore: it does not run, or nothing says where it is."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What Hive waits before it tries again, so that no test waits for it.
_AT_ONCE = {
    "spark.hadoop.hive.metastore.connect.retries": "1",
    "spark.hadoop.hive.metastore.client.connect.retry.delay": "1s",
    "spark.hadoop.hive.metastore.failure.retries": "0",
}


def _submit(
    environ: dict[str, str], folder: Path, settings: dict[str, str], *words: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run an analysis in a directory of its own. Return it, and the report that it has written."""
    target = folder / "report.json"
    conf = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    script = str(ROOT / "spark_jobs" / "analyze.py")
    done = subprocess.run(
        ["spark-submit", *conf, script, *words, "--report", target.as_uri()],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert target.exists(), done.stderr[-3000:]
    return done, json.loads(target.read_text())


@pytest.fixture
def nobody() -> str:
    """The URI of a metastore that does not run."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"thrift://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.one_version
@pytest.mark.parametrize(
    "words", [("--table", "a.b"), pytest.param(("--database", "a"), marks=pytest.mark.full)]
)
def test_a_metastore_that_is_down_at_the_start_is_one_line_and_a_report(
    spark_environ: dict[str, str], tmp_path: Path, nobody: str, words: tuple[str, str]
) -> None:
    done, report = _submit(
        spark_environ, tmp_path, {**_AT_ONCE, "spark.hadoop.hive.metastore.uris": nobody}, *words
    )
    assert (report["outcome"], done.returncode) == ("failed", 1)
    text = report["error"] or report["tables"][0]["reason"]
    assert f"(the Hive Metastore at {nobody})" in text
    assert "Connection refused" in text
    assert "\n" not in text
    assert "Traceback" not in done.stderr
    assert "Py4J" not in done.stderr


@pytest.mark.one_version
def test_without_a_setting_that_names_the_metastore_none_is_created(
    spark_environ: dict[str, str], tmp_path: Path
) -> None:
    done, report = _submit(
        spark_environ, tmp_path, {"spark.hadoop.hive.metastore.uris": " "}, "--table", "a.b"
    )
    assert (report["outcome"], done.returncode) == ("usage", 2)
    assert "hive.metastore.uris is not set" in report["error"]
    assert "hive-site.xml" in report["error"]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "metastore_db").exists()

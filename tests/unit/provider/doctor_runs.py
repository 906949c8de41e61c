"""Runs of `doctor` whose spark-submit is a script of a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from lakekeeper_provider.shell import cli

GOOD = {
    "check": "hdfs",
    "where": "driver",
    "outcome": "good",
    "tried": "read /",
    "found": "ok",
    "action": None,
}
BAD = {**GOOD, "check": "trash", "outcome": "bad", "found": "off", "action": "Set fs.trash.interval"}
REPORTS = """
import pathlib, sys
argv = sys.argv[1:]
print("a line of Spark", flush=True)
pathlib.Path(argv[argv.index("--report") + 1]).write_text({report!r})
print("LAKEKEEPER_REPORT", argv[argv.index("--report-nonce") + 1], "torn", flush=True)
sys.exit({code})
"""


def job(*found: dict, code: int = 0, ended: str | None = "2026-02-24T01:03:10Z") -> str:
    data = {"schema_version": 1, "verb": "doctor", "outcome": "failed" if code else "done", "checks": found}
    data["ended"] = ended
    return REPORTS.format(report=json.dumps(data), code=code)


def ran(capfd, *words: str) -> tuple[int, dict[str, dict], str]:
    """Returns the exit code, the checks by place and name, and standard error."""
    code = cli.main(["doctor", "--json", *words])
    out, err = capfd.readouterr()
    return code, {f"{each['where']} {each['check']}": each for each in json.loads(out)["checks"]}, err


def command(*words: str) -> subprocess.Popen[str]:
    """Starts `lakekeeper` as a process of its own."""
    environ = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    return subprocess.Popen(
        [sys.executable, "-m", "lakekeeper_provider.shell.cli", *words],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

"""Kerberos: the command without Airflow on an edge node, by a configuration file of Lakekeeper 0.0.6, on YARN"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from demo.services import paths, uv
from lakekeeper_provider.shell import cli
from tests.cluster.cluster import Cluster
from tests.kerberos.worker import PATIENCE, Table, applications, keytab

#: As its README has it, but for the sizes, the archive with a Python, and the places of this machine.
CONFIGURATION = """\
block_size_mb: 128
compaction_ratio_threshold: 10.0
dry_run: false
log_level: INFO

spark_submit:
  enabled: true
  master: yarn
  deploy_mode: {mode}
  principal: {principal}
  keytab: {keytab}
  queue: default
  executor_memory: 512m
  num_executors: 1
  executor_cores: 1
  driver_memory: 512m
  script_path: {script}
  extra_conf:
    spark.yarn.kerberos.relogin.period: 1h
    spark.dynamicAllocation.enabled: "false"
"""


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment into which the wheel was installed, and what it requires."""
    folder = tmp_path_factory.mktemp("edge")
    uv.ensure()
    uv.run("build", "--wheel", "--out-dir", folder, paths.JOBS_PACKAGE)
    uv.run("venv", "--python", sys.executable, folder / "env")
    (wheel,) = folder.glob("*.whl")
    uv.run("pip", "install", "--python", folder / "env/bin/python", wheel)
    return folder / "env/bin"


@pytest.mark.full
@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_table_is_compacted_and_rolled_back(
    cluster: Cluster,
    tables: dict[str, Table],
    node: dict[str, str],
    commands: Path,
    tmp_path: Path,
    mode: str,
) -> None:
    found = subprocess.run([commands / "python", "-c", "import airflow"], capture_output=True, text=True)
    assert "No module named 'airflow'" in found.stderr
    assert cli.main(["generate-bundle", "-o", str(tmp_path)]) == 0
    file = tmp_path / "config.yaml"
    script = tmp_path / "run_lakekeeper.py"
    file.write_text(CONFIGURATION.format(mode=mode, script=script, **keytab(cluster)))
    table = tables[f"on_{mode}"]
    before = table.files()
    environ = {**node, "PATH": os.pathsep.join([str(commands), node["PATH"]])}

    def lakekeeper(*words: str) -> str:
        command = ["lakekeeper", *words, "--table", table.name, "--config-file", str(file)]
        with applications(cluster, ("etl", "SUCCEEDED")):
            done = subprocess.run(
                command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
            )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    lakekeeper("compact")
    assert len(before) == 20
    assert len(table.files()) == 1
    lakekeeper("rollback")
    assert table.files() == before

"""Kerberos: spark-submit by hand with the two files of `lakekeeper generate-bundle`, on YARN"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lakekeeper_provider.shell import cli
from tests.cluster.cluster import Cluster
from tests.kerberos.worker import PATIENCE, Table, applications, keytab


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    assert cli.main(["generate-bundle", "-o", str(folder)]) == 0
    return folder


@pytest.mark.full
@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_database_is_compacted_by_two_files_and_nothing_else(
    cluster: Cluster, tables: dict[str, Table], node: dict[str, str], bundle: Path, tmp_path: Path, mode: str
) -> None:
    """In client mode the zip is found beside the script; in cluster mode, YARN has to bring it."""
    (jobs,) = bundle.glob("lakekeeper-jobs-*.zip")
    assert {file.name for file in bundle.iterdir()} == {jobs.name, "run_lakekeeper.py"}
    table = tables[f"by_{mode}"]
    before, own = table.files(), keytab(cluster)
    command = [
        *("spark-submit", "--master", "yarn", "--deploy-mode", mode),
        *("--principal", own["principal"], "--keytab", own["keytab"]),
        *("--conf", "spark.yarn.queue=default"),
        *(("--py-files", str(jobs)) if mode == "cluster" else ()),
        *(str(bundle / "run_lakekeeper.py"), "compact", "--database", f"hand_{mode}", "--block-size", "128"),
    ]
    with applications(cluster, ("etl", "SUCCEEDED")):
        done = subprocess.run(
            command, env=node, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
        )
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(before) == 20
    assert len(table.files()) == 1

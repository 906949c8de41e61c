"""The commands of docs/start/install.md, run in their order by a shell, in an environment without the provider."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from demo.services import paths
from tests.airflow.conftest import connection
from tests.airflow.support import run_on_spark
from tests.airflow.test_documented_examples import MAKE_TABLES
from tests.contract.doc_blocks import blocks

pytestmark = [pytest.mark.live, pytest.mark.full]

BLOCKS = [block for block in blocks("sh") if block.page == "docs/start/install.md" and not block.left_out]
OURS = "lakekeeper"


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    """The `bin` of an environment that has Airflow as this one has it, and pip, and nothing of ours."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if OURS not in entry.name:
            (packages / entry.name).symlink_to(entry)
    venv.create(tmp_path / "env", with_pip=True)
    (site,) = (tmp_path / "env").glob("lib/*/site-packages")
    (site / "airflow.pth").write_text(str(packages))
    airflow = tmp_path / "env/bin/airflow"
    airflow.write_text(f"#!{tmp_path}/env/bin/python\nfrom airflow.__main__ import main\nmain()\n")
    airflow.chmod(0o755)
    return airflow.parent


def test_the_steps_of_the_page_lead_to_a_first_analysis(
    spark_environ: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    run_on_spark(spark_environ, tmp_path / "make_tables.py", MAKE_TABLES, tmp_path)
    environ = {
        key: value for key, value in spark_environ.items() if not key.startswith(("AIRFLOW", "PYTHONPATH"))
    }
    environ |= {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PATH": os.pathsep.join([str(worker), environ["PATH"]]),
        "PYTHON": str(Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")),
    }
    # No `yarn` is here, so the page's connection is that of a local master.
    last = """
        airflow db migrate
        export AIRFLOW_CONN_SPARK_DEFAULT="$LOCAL"
        airflow dags test lakekeeper_on_demand -c '{"table": "sales.events", "action": "analyze"}'
    """
    script = "\n".join(["set -ex", f"cd {paths.ROOT}", *(block.text for block in BLOCKS), last])
    done = subprocess.run(
        ["bash", "-c", script], env={**environ, "LOCAL": connection()}, capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert "airflow-provider-lakekeeper" in done.stdout
    assert "sales" in done.stdout
    assert "sales.events" in said
    assert "2 flagged" in said or "d=0" in said

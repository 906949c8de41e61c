"""The first tasks of a new Airflow that end at once: Airflow fails one whose events it cannot record."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from demo.services import paths
from demo.services.postgres import Postgres, binaries
from tests.airflow.conftest import FakeSpark, connection, migrate

pytestmark = pytest.mark.live


def test_two_mapped_tasks_that_end_at_once_in_a_new_airflow_are_both_recorded(tmp_path):
    spark, home, dags = FakeSpark(tmp_path / "fake"), tmp_path / "home", tmp_path / "dags"
    home.mkdir(), dags.mkdir()
    with Postgres(tmp_path / "postgres", binaries("airflow-3.3")) as database:
        environ = {
            **os.environ,
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database.sqlalchemy_url,
            "AIRFLOW_CONN_SPARK_DEFAULT": connection(),
            "FAKE_SPARK": str(spark.home),
            "PATH": f"{spark.home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        migrate(home, environ)
        command = [sys.executable, "-m", "tests.airflow.first_events", dags]
        done = subprocess.run(command, env=environ, cwd=paths.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["errors"] == []
    assert found["seen"] == [[0, "sales.a"], [1, "sales.b"]]

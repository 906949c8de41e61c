"""Kerberos: faults of a worker, planted one by one, and named by `lakekeeper doctor` with what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import jars
from tests.cluster.cluster import Cluster
from tests.kerberos.worker import PATIENCE, Table

COMMAND = [sys.executable, "-m", "lakekeeper_provider.shell.cli"]
ALL_OF_DRIVER = {
    *("spark", "executors", "ticket", "metastore", "metastore-client", "tables"),
    *("hdfs", "rights", "trash", "quota", "lakekeeper-0.0.6"),
}
Ticket = Callable[..., Path]


@pytest.fixture
def environ(node: dict[str, str], cluster: Cluster, tmp_path: Path) -> dict[str, str]:
    """The environment of a person on the worker, with a configuration of Hadoop that a test may break."""
    shutil.copytree(cluster.conf, tmp_path / "conf")
    return {**node, "HADOOP_CONF_DIR": str(tmp_path / "conf"), "PYTHONPATH": str(Path.cwd())}


def doctor(environ: dict[str, str], *words: str) -> dict[str, dict[str, Any]]:
    """The checks that are bad or worth an advice, by place and name; and all the driver's under an empty name."""
    command = [*COMMAND, "doctor", "--json", "--table", "doctor.asked", *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=PATIENCE)
    answer = json.loads(done.stdout)
    assert done.returncode == (1 if answer["outcome"] == "failed" else 0), done.stderr[-2000:]
    checks = answer["checks"]
    noticed = {f"{c['where']} {c['check']}": c for c in checks if c["outcome"] in ("bad", "advice")}
    return {"": {c["check"]: c for c in checks if c["where"] == "driver"}, **noticed}


def bad(found: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name, check in found.items() if check.get("outcome") == "bad"]


def replace_in(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.fixture
def small_quota(cluster: Cluster, tables: dict[str, Table]) -> Iterator[None]:
    place = tables["asked"].unit.rpartition("/")[0]
    cluster.administer("-setQuota", "60", place)
    yield
    cluster.administer("-clrQuota", place)


def test_all_is_well(environ: dict[str, str], tables: dict[str, Table], ticket: Ticket) -> None:
    found = doctor({**environ, "KRB5CCNAME": f"FILE:{ticket('etl')}"})
    assert bad(found) == []
    assert found[""].keys() >= ALL_OF_DRIVER
    assert "etl@LAKEKEEPER.TEST" in found[""]["ticket"]["found"]
    assert "no Python, which the jobs do not need there" in found[""]["executors"]["found"]


@pytest.mark.full
def test_no_rights_no_trash_and_a_full_quota(
    environ: dict[str, str], tables: dict[str, Table], ticket: Ticket, small_quota: None, tmp_path: Path
) -> None:
    off = "<property><name>fs.trash.interval</name><value>0</value></property></configuration>"
    replace_in(tmp_path / "conf" / "core-site.xml", "</configuration>", off)
    found = doctor({**environ, "KRB5CCNAME": f"FILE:{ticket('loader')}"})
    assert bad(found) == ["driver rights", "driver trash", "driver quota"]
    assert "user=loader" in found["driver rights"]["found"]
    assert "fs.trash.interval" in found["driver trash"]["action"]
    assert "is 60 files and directories" in found["driver quota"]["found"]


@pytest.mark.full
def test_no_ticket(environ: dict[str, str], tables: dict[str, Table]) -> None:
    found = doctor(environ)
    assert bad(found) == ["shell ticket", "driver ticket"]
    assert "there is no ticket" in found["shell ticket"]["found"]
    assert "kinit" in found["driver ticket"]["action"]


@pytest.mark.full
def test_an_expired_ticket(
    environ: dict[str, str], cluster: Cluster, tables: dict[str, Table], ticket: Ticket
) -> None:
    cache = ticket("loader", "-l", "3s")
    while not cluster.kdc.has_expired(cache):
        time.sleep(0.5)
    found = doctor({**environ, "KRB5CCNAME": f"FILE:{cache}"})
    assert bad(found) == ["shell ticket", "driver ticket"]
    assert "has expired" in found["shell ticket"]["found"]
    assert "has ended at" in found["driver ticket"]["found"]


@pytest.mark.full
def test_no_hive_site(
    environ: dict[str, str], tables: dict[str, Table], ticket: Ticket, tmp_path: Path
) -> None:
    (tmp_path / "conf" / "hive-site.xml").unlink()
    found = doctor({**environ, "KRB5CCNAME": f"FILE:{ticket('etl')}"})
    assert bad(found) == ["driver metastore"]
    assert "no hive-site.xml" in found["driver metastore"]["found"]


@pytest.mark.full
def test_a_metastore_that_is_down(
    environ: dict[str, str], cluster: Cluster, tables: dict[str, Table], ticket: Ticket, tmp_path: Path
) -> None:
    replace_in(tmp_path / "conf" / "hive-site.xml", cluster.metastore.uri, "thrift://localhost:1")
    found = doctor({**environ, "KRB5CCNAME": f"FILE:{ticket('etl')}"})
    assert bad(found) == ["driver metastore"]
    assert "thrift://localhost:1" in found["driver metastore"]["found"]


@pytest.mark.full
def test_the_jobs_work_with_a_client_of_hive_3(
    environ: dict[str, str], tables: dict[str, Table], ticket: Ticket, tmp_path: Path
) -> None:
    """Before: each verb failed where `spark.sql.hive.metastore.jars` was set, as a metastore of Hive 4 needs it."""
    paths = ",".join(f"file://{folder}/*.jar" for folder in (jars.HIVE, jars.HADOOP))
    file = tmp_path / "lakekeeper.yaml"
    client = {"version": "3.1.3", "jars": "path", "jars.path": paths}
    conf = {f"spark.sql.hive.metastore.{key}": value for key, value in client.items()}
    file.write_text(json.dumps({"spark_submit": {"extra_conf": conf}}))
    environ = {**environ, "KRB5CCNAME": f"FILE:{ticket('etl')}"}
    found = doctor(environ, "--config-file", str(file))
    assert bad(found) == []
    assert "client is of Hive 3.1.3" in found[""]["metastore-client"]["found"]
    table, before = tables["asked"], tables["asked"].files()
    for verb, files in (("compact", 1), ("rollback", len(before))):
        words = [*COMMAND, verb, "--table", table.name, "--config-file", str(file)]
        done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        assert len(table.files()) == files
    assert table.files() == before

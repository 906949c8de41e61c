"""The maintenance DAG with Kerberos, the driver on a node of the cluster"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from lakekeeper_provider.operators.compact import CompactOperator
from tests.airflow.support import context, dags_in
from tests.airflow.test_dags import EXAMPLES, maintenance, only
from tests.cluster.cluster import Cluster
from tests.harness.waiting import wait_for
from tests.kerberos.worker import (
    PARTITIONS,
    PATIENCE,
    ROWS,
    Table,
    applications,
    executors,
    finished,
    keytab,
    reports,
)

pytestmark = pytest.mark.usefixtures("worker", "renewed")


@pytest.fixture
def renewed(ticket: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What `airflow kerberos` leaves on a worker: the ticket by which it reads the reports."""
    monkeypatch.setenv("AIRFLOW__CORE__SECURITY", "kerberos")
    ticket("etl")


def test_a_keytab_in_cluster_mode_and_the_reports_by_webhdfs(
    airflow_db: Path, cluster: Cluster, tables: dict[str, Table], tmp_path: Path
) -> None:
    """The configuration file alone takes the DAG there. Spark lists the tables: the metastore asks for tickets too."""
    table, config = tables["in_cluster"], tmp_path / "lakekeeper.yaml"
    submit = {"deploy_mode": "cluster", "report_dir": reports(cluster), **keytab(cluster)}
    config.write_text(yaml.safe_dump({"spark_submit": submit}))
    listed = {"database": table.name.split(".")[0], "listing": "spark"}
    with applications(cluster, ("etl", "SUCCEEDED"), ("etl", "SUCCEEDED")):
        state, states, _ = maintenance(dags_in(EXAMPLES), tables=None, config_file=str(config), **listed)
    assert (state, only(states, "compact"), only(states, "rollback")) == ("success", "success", "skipped")
    assert [owner for owner, _, _ in table.files().values()] == ["etl"]


def test_airflows_own_listing_says_how_to_do_without_it(
    airflow_db: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIRFLOW__CORE__SECURITY")
    metastore = {"conn_type": "hive_metastore", "host": "localhost", "port": cluster.metastore.port}
    monkeypatch.setenv("AIRFLOW_CONN_METASTORE_DEFAULT", json.dumps(metastore))
    task = dags_in(EXAMPLES).dags["lakekeeper_maintenance"].get_task("list_tables")
    asked = {"database": "nightly", "tables": None, "listing": "metastore"}
    with pytest.raises(RuntimeError, match="set the parameter 'listing' to 'spark'"):
        task.python_callable(params=asked)


def test_a_driver_that_yarn_kills_is_followed_by_one_that_finishes_the_work(
    cluster: Cluster, tables: dict[str, Table]
) -> None:
    """`yarn application -kill` during the run; then Airflow's next attempt of the same task."""
    table = tables["killed"]
    # With hashes each partition has a job of its own, and four are a wave: one is left when the executor stands still.
    settings = {"deploy_mode": "cluster", "report_dir": reports(cluster), "parallelism": 1, "verify": "hash"}
    settings.update(keytab(cluster))
    known = finished(cluster)
    with applications(cluster, ("etl", "KILLED"), ("etl", "SUCCEEDED")):
        with ThreadPoolExecutor() as beside:
            killing = beside.submit(_kill_in_the_midst, cluster, table, known)
            with pytest.raises(Exception, match=r"KILLED|killed"):
                CompactOperator(task_id="compact", table=table.name, **settings).execute(context())
            killing.result()
        assert 0 < table.compacted() < PARTITIONS
        done = CompactOperator(task_id="compact", table=table.name, **settings).execute(context())
    assert (done["outcome"], done["tables"][0]["rows"], len(table.files())) == ("done", ROWS * PARTITIONS, 1)


def _kill_in_the_midst(cluster: Cluster, table: Table, known: Collection[str]) -> None:
    """The executor stands still from the first compacted partition on: the driver waits for it until it is killed."""
    wait_for("a partition that is compacted", table.compacted, patience=PATIENCE)
    (application,) = set(finished(cluster)) - set(known)
    for process in executors(application):
        os.kill(process, signal.SIGSTOP)
    cluster.kill_application(application, "etl")

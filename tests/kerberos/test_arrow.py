"""The engine Arrow on YARN with Kerberos: with pyarrow on the nodes, and where executors have no Python at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.services import paths
from lakekeeper_provider.operators.compact import CompactOperator
from tests.airflow.support import context
from tests.cluster.cluster import Cluster
from tests.kerberos.worker import ROWS, Table, applications, keytab, reports

pytestmark = [pytest.mark.usefixtures("worker"), pytest.mark.full]


#: The writer in the footers.
_ARROW = b"parquet-cpp-arrow"


def _compact(table: Table, config: Path, conf: dict[str, str], **submit: str) -> dict[str, Any]:
    """The table of the result of a compaction by Arrow."""
    config.write_text(yaml.safe_dump({"spark_submit": {"extra_conf": conf, **submit}, "engine": "arrow"}))
    operator = CompactOperator(task_id="compact", table=table.name, config_file=str(config))
    done = operator.execute(context())
    assert (done["outcome"], done["tables"][0]["rows"]) == ("done", ROWS)
    assert [owner for owner, _, _ in table.files().values()] == ["etl"]
    return dict(done["tables"][0])


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_pyarrow_on_the_nodes(
    cluster: Cluster,
    tables: dict[str, Table],
    tmp_path: Path,
    ticket: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
) -> None:
    """In cluster mode the worker reads the reports by the ticket that `airflow kerberos` renews."""
    table, python = tables[f"arrow_{mode}"], str(paths.env_python(paths.DEFAULT_SPARK))
    conf = {"spark.pyspark.python": python, "spark.yarn.appMasterEnv.PYSPARK_PYTHON": python}
    submit = {"deploy_mode": mode, **keytab(cluster)}
    if mode == "cluster":
        submit["report_dir"] = reports(cluster)
        monkeypatch.setenv("AIRFLOW__CORE__SECURITY", "kerberos")
        ticket("etl")
    with applications(cluster, ("etl", "SUCCEEDED")):
        done = _compact(table, tmp_path / "lakekeeper.yaml", conf, **submit)
    assert done["warnings"] == []
    assert [_ARROW in content for content in table.contents()] == [True]


def test_without_a_python_on_the_nodes_spark_writes(
    cluster: Cluster, tables: dict[str, Table], tmp_path: Path
) -> None:
    table = tables["arrow_without"]
    with applications(cluster, ("etl", "SUCCEEDED")):
        done = _compact(table, tmp_path / "lakekeeper.yaml", {}, **keytab(cluster))
    (warning,) = done["warnings"]
    assert warning.startswith("ARROW_NOT_USED: the executors cannot run pyarrow: ")
    assert [_ARROW in content for content in table.contents()] == [False]

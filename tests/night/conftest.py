"""An Airflow with the shipped DAG, over a database that has tables of all formats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.ports import HOST
from demo.services.spark_config import spark_environ as make_spark_environ
from tests.airflow.conftest import ROOT
from tests.airflow.live_server import LiveAirflow
from tests.native.session_settings import settings
from tests.night.lake import Lake

DAG = "lakekeeper_maintenance"
FORMATS = {"native_formats": ["iceberg", "paimon"]}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("night")


@pytest.fixture(scope="session")
def formats(metastore: Metastore, folder: Path) -> dict[str, str]:
    """The settings of a session that has all formats."""
    return settings(metastore.uri, folder / "warehouse")


@pytest.fixture(scope="session")
def lake(metastore: Metastore, folder: Path, formats: dict[str, str]) -> Lake:
    environ = make_spark_environ(
        paths.DEFAULT_SPARK, metastore.uri, folder / "spark", conf=formats, shared_classes=False
    )
    return Lake(environ, folder).make()


@pytest.fixture(scope="session")
def config(folder: Path, formats: dict[str, str]) -> str:
    """The YAML file of both guides."""
    return _yaml(folder / "lakekeeper.yaml", {**FORMATS, "spark_submit": {"extra_conf": formats}})


@pytest.fixture(scope="session")
def config_without_jars(folder: Path) -> str:
    """One that switches the formats on, and gives the session nothing of them."""
    return _yaml(folder / "without_jars.yaml", FORMATS)


def _yaml(file: Path, content: dict[str, object]) -> str:
    file.write_text(yaml.safe_dump(content))
    return str(file)


@pytest.fixture(scope="session")
def airflow(
    spark_environ: dict[str, str], metastore: Metastore, folder: Path, lake: Lake
) -> Iterator[LiveAirflow]:
    real = {name: value for name, value in spark_environ.items() if not name.startswith("AIRFLOW")}
    connection = {"conn_type": "hive_metastore", "host": HOST, "port": metastore.port}
    real["AIRFLOW_CONN_METASTORE_DEFAULT"] = json.dumps(connection)
    with LiveAirflow(folder / "home", ROOT / "example_dags", {DAG}, real) as running:
        running.unpause(DAG)
        yield running

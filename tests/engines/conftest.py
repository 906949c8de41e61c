"""Fixtures of the tests that need a metastore of Hive 4. Nothing is started before a test asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ
from tests.engines.metastore4 import Metastore4, spark_settings


# Its discovery asks every second, so it does not run beside the tests of other modules.
@pytest.fixture(scope="module")
def metastore4(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    with Metastore4(tmp_path_factory.mktemp("metastore4")) as running:
        yield running


@pytest.fixture(scope="module")
def hive4_environ(metastore4: Metastore, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a `spark-submit` of Spark 3.5 with the documented settings for Hive 4."""
    folder = tmp_path_factory.mktemp("spark4")
    return spark_environ(paths.DEFAULT_SPARK, metastore4.uri, folder, conf=spark_settings())

"""The same scripts on the model and on a real HDFS: the results of the crash tests are valid for HDFS too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.cluster.hdfs_scripts import ON_HDFS
from tests.cluster.permission_scripts import PERMISSIONS
from tests.cluster.superuser import Superuser, acting_as
from tests.crash.replay_calls import Differences, differences, new_folder, on_model, on_real
from tests.crash.replay_scripts import CALLS, VERBS
from tests.crash.replay_verbs import assert_same
from tests.harness.sampling import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.harness.fixtures import Database

SCRIPTS = {**CALLS, **ON_HDFS}
DIFFERENCES: Differences = {}


@pytest.fixture(params=["hdfs", "etl"])
def user(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    """The superuser, whom nobody refuses anything, and one who has but his own."""
    with acting_as(spark, request.param):
        yield request.param


@pytest.fixture
def root(spark: SparkSession, folder: str) -> str:
    """One's own; what others have in it by the end does not let it go."""
    with acting_as(spark, "etl"):
        return new_folder(spark, folder)


@pytest.mark.parametrize("name", SCRIPTS)
def test_calls(spark: SparkSession, user: str, root: str, name: str) -> None:
    steps = SCRIPTS[name]
    said, done = on_model(steps, trash=True), on_real(spark, root, steps)
    assert differences(steps, name, said, done, DIFFERENCES) == []


@pytest.mark.parametrize("name", PERMISSIONS)
def test_permissions(spark: SparkSession, superuser: Superuser, root: str, name: str) -> None:
    steps = PERMISSIONS[name]
    with acting_as(spark, "etl"):
        said, done = on_model(steps, trash=True), on_real(spark, root, steps, superuser)
    assert differences(steps, name, said, done, DIFFERENCES) == []


# The crash model replays the others too; the whole of them runs here with `make test-all`.
@pytest.mark.parametrize(
    "name",
    sampled(VERBS, "there and back", "killed after R1, then compact", "a rollback is killed in its gap"),
)
def test_verbs(spark: SparkSession, database: Database, root: str, name: str) -> None:
    """Outcomes, rows, and every call in its order are the same."""
    with acting_as(spark, "etl"):
        assert_same(spark, f"{database}", root, VERBS[name])

"""The same scripts on the model and on a local disk, through the real seam: the model cannot drift away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crash.replay_calls import Differences, differences, new_folder, on_model, on_real
from tests.crash.replay_scripts import CALLS, TRASH_OFF, VERBS
from tests.crash.replay_verbs import assert_same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.harness.fixtures import Database

SCRIPTS = {**CALLS, **TRASH_OFF}

DIFFERENCES: Differences = {
    ("deleting", 5): ("FileSystemError", "a local disk's error for a full folder has no name of its own"),
    ("an open file follows its directory", 3): ([], "a local disk cannot tell who writes"),
    ("an open file follows its directory", 7): ([], "a local disk cannot tell who writes"),
}


@pytest.fixture
def root(spark: SparkSession, tmp_path: Path) -> str:
    """On a machine without a trash, whatever its own configuration says."""
    spark._jsc.hadoopConfiguration().set("fs.trash.interval", "0")
    return new_folder(spark, f"file:{tmp_path}")


@pytest.mark.parametrize("name", SCRIPTS)
def test_calls(spark: SparkSession, root: str, name: str) -> None:
    steps = SCRIPTS[name]
    said, done = on_model(steps, trash=False), on_real(spark, root, steps)
    assert differences(steps, name, said, done, DIFFERENCES) == []


@pytest.mark.parametrize("name", VERBS)
def test_verbs(spark: SparkSession, database: Database, root: str, name: str) -> None:
    """Outcomes, rows, and every call in its order are the same."""
    assert_same(spark, f"{database}", root, VERBS[name])

"""The tasks of a long write, as the log shows them."""

from __future__ import annotations

import logging
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.spark.application import application_page
from spark_jobs.adapters.spark.task_progress import TaskProgress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def work(spark: SparkSession) -> None:
    """Four tasks, each of which takes a quarter of a second."""
    slow = spark.range(0, 4, 1, 4).selectExpr("reflect('java.lang.Thread', 'sleep', id * 0 + 250L)")
    slow.write.format("noop").mode("overwrite").save()


def test_the_tasks_that_are_done_are_shown_while_a_write_is_at_work(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "lakekeeper")
    with TaskProgress(spark.sparkContext, interval=0.05).shown():
        work(spark)
    assert re.search(r"progress: \d of 4 Spark tasks done, \d at work", caplog.text), caplog.text


def test_a_quick_write_shows_nothing_and_leaves_no_thread(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "lakekeeper")
    before = threading.active_count()
    progress = TaskProgress(spark.sparkContext, interval=0.05)
    with progress.shown(), progress.shown():
        pass
    for thread in threading.enumerate():
        if getattr(thread, "_target", None) == progress._watch:
            thread.join(10)
    assert threading.active_count() <= before
    assert "progress" not in caplog.text


def test_a_write_goes_on_where_its_tasks_cannot_be_counted(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    with TaskProgress(spark.sparkContext).shown():
        pass


def test_an_application_that_does_not_run_on_yarn_has_no_page(spark: SparkSession) -> None:
    assert application_page(spark) is None
